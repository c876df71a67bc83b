"""The multilingual model: who gets its vectors, what they find, and what works without it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bowerbird import app
from bowerbird.errors import Refusal
from bowerbird.library.vectors.builds import JOB, VectorBuilds, VectorSweeps
from bowerbird.search.meaning.embedding import CURRENT, MULTILINGUAL
from bowerbird.search.meaning.models import Models, model_folder
from bowerbird.settings import Settings
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.vectors import VectorStore
from tests.support import make, writing
from tests.support.models import MODEL_DIR, MODELS, ignore
from tests.support.service import Member, Service
from tests.support.writing import DAY

pytestmark = pytest.mark.anyio

ENGLISH = (
    "The library lends drills and a telescope now.",
    "My landlord wants twice the rent from May on.",
    "The train was late, and the conductor bought ice cream for all of us.",
)
GERMAN = "Die Katze schläft auf dem Sofa, und draußen fällt der Regen."


class _FirstOnly(Models):
    """The models of a release before the second model."""

    @property
    def second(self) -> None:
        return None


async def _stores(member: Member) -> dict[int, Any]:
    """The vector stores by their dimensions."""
    stores = await VectorStore(member.database).stores(member.account_id)
    return {store.dimensions: store for store in stores}


async def _embedded(member: Member) -> dict[int, int]:
    """How many posts have a vector, by the dimensions of the model."""
    return {size: store.embedded for size, store in (await _stores(member)).items()}


async def _stop(_done: int, _total: int) -> None:
    raise asyncio.CancelledError


async def _has_job(cast: Service, models: Models = MODELS) -> bool:
    await VectorSweeps(cast.database, models, cast.clock, pause_s=0).start_builds()
    return any(job.kind == JOB for job in await JobStore(cast.database).latest(100))


async def test_an_english_library_has_no_vectors_of_the_second_model(cast: Service) -> None:
    await cast.alice.save_texts(*ENGLISH)

    await cast.alice.embed()

    assert (await _stores(cast.alice)).keys() == {384}
    assert not await _has_job(cast)


async def test_one_post_in_another_language_has_all_posts_embedded_by_both(cast: Service) -> None:
    await cast.alice.save_texts(*ENGLISH)
    await cast.alice.embed()
    await cast.alice.save_texts(GERMAN)
    assert await _has_job(cast)

    assert await cast.alice.embed() == 4

    assert await _embedded(cast.alice) == {384: 4, 512: 4}
    assert all(store.is_built for store in (await _stores(cast.alice)).values())
    assert await cast.alice.embed() == 0
    assert await writing.recount(cast.alice) == []


async def test_queries_find_posts_in_other_languages(alice: Member) -> None:
    ids = await alice.save_texts(*ENGLISH, GERMAN)
    await alice.embed()

    for query, place in {
        "the cat is asleep": 3,
        "el gato duerme": 3,
        "кошка спит": 3,
        "rent": 1,
        "ライブラリー 望遠鏡": 0,
    }.items():
        assert (await alice.ids(vector_search_term=query))[0] == ids[place], query


async def test_a_library_embedded_by_an_older_release_is_examined(cast: Service) -> None:
    ids = await cast.alice.save_texts(*ENGLISH, GERMAN)
    models = _FirstOnly(Settings(model_dir=MODEL_DIR), is_low_priority=False)
    await VectorBuilds(cast.database, models, cast.clock).build(cast.alice.account_id, ignore)
    await models.close()
    assert (await _stores(cast.alice)).keys() == {384}
    # The vectors of the first model serve until those of the second are built.
    assert (await cast.alice.ids(vector_search_term="borrow a telescope"))[0] == ids[0]
    assert await _has_job(cast)

    await cast.alice.embed()

    assert (await cast.alice.ids(vector_search_term="el gato duerme"))[0] == ids[3]
    assert not (await cast.alice.listed(vector_search_term="x"))["meta"].get("vector_pending")


async def test_a_post_whose_text_changes_to_another_language_is_noticed(alice: Member) -> None:
    post = make.post(text=ENGLISH[0])
    await alice.save_all([post, make.post(text=ENGLISH[1])])
    await alice.embed()

    await alice.save_all([{**post, "tweet_details": {"text": GERMAN}}])
    await alice.embed()

    assert (await _stores(alice)).keys() == {384, 512}


async def test_posts_without_a_vector_of_the_second_model_are_pending(alice: Member) -> None:
    await alice.save_texts(*(f"{GERMAN} {n}" for n in range(40)))
    turns = iter(range(10))

    async def stop_in_the_second_model(_done: int, _total: int) -> None:
        # 40 posts are two batches of the first model.
        if next(turns) == 2:
            raise asyncio.CancelledError

    builds = VectorBuilds(alice.database, MODELS, alice.clock)
    with pytest.raises(asyncio.CancelledError):
        await builds.build(alice.account_id, stop_in_the_second_model)

    response = await alice.get("/v1/bookmarks", vector_search_term="cats")
    assert response.json()["meta"]["vector_pending"] == 8
    account = (await alice.get("/v1/account")).json()["data"]
    assert (account["vector_store"]["state"], account["vector_store"]["embedded"]) == ("ready", 32)

    # Interrupted after the last batch, before the vectors serve: the answer has another count.
    with pytest.raises(asyncio.CancelledError):
        await builds.build(alice.account_id, _stop)
    later = await alice.get("/v1/bookmarks", vector_search_term="cats")
    assert not later.json()["meta"].get("vector_pending")
    assert later.headers["ETag"] != response.headers["ETag"]


async def test_a_new_post_is_found_before_the_second_model_has_embedded_it(cast: Service) -> None:
    await cast.alice.save_texts(*ENGLISH, GERMAN)
    await cast.alice.embed()
    [new] = await cast.alice.save_texts("The city swimming pool opens its slides in June.")
    models = _FirstOnly(Settings(model_dir=MODEL_DIR), is_low_priority=False)
    await VectorBuilds(cast.database, models, cast.clock).build(cast.alice.account_id, ignore)
    await models.close()

    # Half of its score by the first model would be below the floor.
    assert await cast.alice.ids(vector_search_term="leisure facilities") == [new]


async def test_a_query_in_another_script_has_nothing_embedded_again(cast: Service) -> None:
    await cast.alice.save_texts(*ENGLISH)
    await cast.alice.embed()

    response = await cast.alice.get("/v1/bookmarks", vector_search_term="телескоп")

    assert response.status_code == 200, response.text
    assert not await _has_job(cast)
    assert await cast.alice.embed() == 0
    assert (await _stores(cast.alice)).keys() == {384}


async def test_similar_posts_are_found_across_languages(alice: Member) -> None:
    cat, *_, german = await alice.save_texts("Our cat sleeps on the sofa.", *ENGLISH, GERMAN)
    await alice.embed()

    response = await alice.get(f"/v1/bookmarks/{german}/similar", limit="1")

    assert [post["post_id"] for post in response.json()["data"]] == [cat]


async def test_vectors_of_the_second_model_go_with_those_of_the_first(cast: Service) -> None:
    await cast.alice.save_texts(*ENGLISH, GERMAN)
    await cast.alice.embed()
    sweeps = VectorSweeps(cast.database, MODELS, cast.clock, pause_s=0)

    await sweeps.remove_expired()
    assert (await _stores(cast.alice)).keys() == {384, 512}

    await cast.alice.set_plan("free")
    await sweeps.remove_expired()
    cast.clock.now += 31 * DAY
    await sweeps.remove_expired()
    assert await _stores(cast.alice) == {}


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


async def test_the_first_model_answers_alone(cast: Service, folder: Path, tmp_path: Path) -> None:
    telescope, _ = await cast.alice.save_texts(ENGLISH[0], GERMAN)
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
    await cast.alice.save_texts(GERMAN)
    await cast.alice.embed()
    await cast.alice.save_texts(ENGLISH[0])
    builds = VectorBuilds(cast.database, models, cast.clock)

    with pytest.raises(Refusal, match="cannot be loaded"):
        await builds.build(cast.alice.account_id, ignore)
    assert await _embedded(cast.alice) == {384: 2, 512: 1}
    # Only the second model has something to do, so there is no job that would fail again.
    assert not await _has_job(cast, models)

    await cast.alice.save_texts("Interest rates rise.")
    assert await builds.build(cast.alice.account_id, ignore) == 1
    assert await _has_job(cast, models) is False
    await cast.alice.save_texts("Ships have diesel engines.")
    assert await _has_job(cast, models)


async def test_vectors_of_a_second_model_that_is_missing_are_kept(
    cast: Service, folder: Path, models: Models
) -> None:
    await cast.alice.save_texts(ENGLISH[0], GERMAN)
    await cast.alice.embed()
    (folder / MULTILINGUAL).unlink()

    await VectorSweeps(cast.database, models, cast.clock, pause_s=0).remove_expired()

    assert await _embedded(cast.alice) == {384: 2, 512: 2}
