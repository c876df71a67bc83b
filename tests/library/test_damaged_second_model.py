"""What still works while the multilingual model is damaged or missing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bowerbird import app
from bowerbird.errors import Refusal
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.sweeps import JOB, VectorSweeps
from bowerbird.search.meaning.embedding import CURRENT, MULTILINGUAL
from bowerbird.search.meaning.models import Models, model_folder
from bowerbird.settings import Settings
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.vectors import VectorStore
from tests.support import make
from tests.support.models import MODEL_DIR, ignore
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

ENGLISH = "The library lends drills and a telescope now."
GERMAN = "Die Katze schläft auf dem Sofa, und draußen fällt der Regen."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with both models, in which the network of the second is damaged."""
    built, copy = model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model"
    copy.mkdir()
    for pointer in (CURRENT, MULTILINGUAL):
        identity = (built / pointer).read_text(encoding="ascii").strip()
        (copy / pointer).write_text(identity, encoding="ascii")
        (copy / identity).mkdir()
        for file in (built / identity).iterdir():
            (copy / identity / file.name).symlink_to(file)
    network = copy / identity / "model.onnx"
    network.unlink()
    network.write_bytes(b"damaged")
    return copy


@pytest.fixture
async def models(folder: Path) -> AsyncIterator[Models]:
    models = Models(Settings(model_dir=str(folder)), is_low_priority=False)
    yield models
    await models.close()


async def _save(member: Member, *texts: str) -> list[str]:
    posts = [make.post(text=text) for text in texts]
    await member.save_all(posts)
    return [post["post_id"] for post in posts]


async def _embedded(member: Member) -> dict[int, int]:
    """How many posts have a vector, by the dimensions of the model."""
    stores = await VectorStore(member.database).stores(member.account_id)
    return {store.dimensions: store.embedded for store in stores}


async def _has_job(cast: Service, sweeps: VectorSweeps) -> bool:
    await sweeps.start_builds()
    return any(job.kind == JOB for job in await JobStore(cast.database).latest(100))


async def test_the_first_model_answers_alone(cast: Service, folder: Path, tmp_path: Path) -> None:
    telescope, _ = await _save(cast.alice, ENGLISH, GERMAN)
    await cast.alice.embed()
    settings = Settings(data_dir=tmp_path, model_dir=str(folder))
    built = app.build(settings, cast.database, cast.clock)
    alice = cast.alice.on(built)

    # The second search knows of the damage.
    for query in ("borrow a telescope", "tools to borrow"):
        assert (await alice.ids(vector_search_term=query))[0] == telescope
    tag = (await alice.get("/v1/bookmarks", vector_search_term="tools to borrow")).headers["ETag"]
    await alice.client.aclose()
    await built.models.close()

    # Answers change when the model is repaired.
    repaired = await cast.alice.get("/v1/bookmarks", vector_search_term="tools to borrow")
    assert repaired.headers["ETag"] != tag


async def test_builds_of_the_first_model_go_on(cast: Service, models: Models) -> None:
    await _save(cast.alice, GERMAN)
    await cast.alice.embed()
    await _save(cast.alice, ENGLISH)
    builds = VectorBuilds(cast.database, models, cast.clock)
    sweeps = VectorSweeps(cast.database, models, cast.clock, pause_s=0)

    with pytest.raises(Refusal, match="cannot be loaded"):
        await builds.build(cast.alice.account_id, ignore)
    assert await _embedded(cast.alice) == {384: 2, 512: 1}
    # Only the second model has something to do, so there is no job that would fail again.
    assert not await _has_job(cast, sweeps)

    await _save(cast.alice, "Interest rates rise.")
    assert await builds.build(cast.alice.account_id, ignore) == 1
    assert await _has_job(cast, sweeps) is False
    await _save(cast.alice, "Ships have diesel engines.")
    assert await _has_job(cast, sweeps)


async def test_vectors_of_a_second_model_that_is_missing_are_kept(
    cast: Service, folder: Path, models: Models
) -> None:
    await _save(cast.alice, ENGLISH, GERMAN)
    await cast.alice.embed()
    (folder / MULTILINGUAL).unlink()

    await VectorSweeps(cast.database, models, cast.clock, pause_s=0).remove_expired()

    assert await _embedded(cast.alice) == {384: 2, 512: 2}
