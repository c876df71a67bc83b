"""Building vectors: which posts are embedded, also when the library changes during the build."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.library.vectors import builds
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.words.vectors import VectorStore
from tests.support import make, writing
from tests.support.engines.word_counts import age
from tests.support.hosts.embedding_service import EmbeddingService, embedding_service
from tests.support.models import MODEL_DIR, MODELS, ignore
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def _state(member: Member) -> Any:
    (store,) = await VectorStore(member.database).stores(member.account_id)
    return store


@pytest.fixture
async def remote() -> AsyncIterator[tuple[EmbeddingService, Models]]:
    """A remote embedding service, and the models that use it."""
    with embedding_service() as running:
        settings = Settings(
            model_dir=MODEL_DIR,
            embedding_url=running.url,
            embedding_key=running.key,
            embedding_model="tiny",
        )
        models = Models(settings)
        yield running, models
        await models.close()


async def test_a_build_embeds_only_posts_without_a_vector(alice: Member) -> None:
    await alice.save_all([make.post() for _ in range(40)])
    reported: list[tuple[int, int]] = []

    async def progress(done: int, total: int) -> None:
        reported.append((done, total))

    builds = VectorBuilds(alice.database, MODELS, alice.clock)
    assert await builds.build(alice.account_id, progress) == 40
    assert reported == [(32, 40), (40, 40)]
    assert await alice.embed() == 0
    await alice.save()
    assert await alice.embed() == 1

    store = await _state(alice)
    assert (store.embedded, store.is_built, store.dimensions) == (41, True, 384)
    assert store.complete_below == 42
    assert await writing.recount(alice) == []


async def test_an_interrupted_build_continues_where_it_stopped(alice: Member) -> None:
    await alice.save_all([make.post() for _ in range(40)])

    async def stop(_done: int, _total: int) -> None:
        raise asyncio.CancelledError

    builds = VectorBuilds(alice.database, MODELS, alice.clock)
    with pytest.raises(asyncio.CancelledError):
        await builds.build(alice.account_id, stop)

    assert not (await _state(alice)).is_built
    response = await alice.get("/v1/bookmarks", vector_search_term="x")
    assert "32 of 40" in response.json()["error"]
    assert await alice.embed() == 8
    assert (await _state(alice)).is_built


async def test_posts_that_change_during_a_build_are_embedded_again(alice: Member) -> None:
    posts = [make.post(text=f"note {n}") for n in range(34)]
    await alice.save_all(posts)
    changes = iter(
        [
            # The first is already embedded, the second is not.
            [{**posts[0], "tweet_details": {"text": "now about cats"}}],
            [{**posts[33], "tweet_details": {"text": "now about dogs"}}],
        ]
    )

    async def save_change(_done: int, _total: int) -> None:
        if change := next(changes, None):
            await alice.save_all(change)

    builds = VectorBuilds(alice.database, MODELS, alice.clock)
    await builds.build(alice.account_id, save_change)

    store = await _state(alice)
    assert (store.embedded, store.is_built) == (34, True)
    assert await writing.recount(alice) == []
    near = await alice.ids(vector_search_term="cats")
    assert near[0] == posts[0]["post_id"]
    assert (await alice.ids(vector_search_term="dogs"))[0] == posts[33]["post_id"]


async def test_a_post_deleted_while_it_is_embedded_gets_no_vector(alice: Member) -> None:
    posts = [make.post() for _ in range(3)]
    await alice.save_all(posts)
    account, trash = await alice.account(), Trash(alice.database, alice.clock)
    models = _Interfering(
        lambda: turns.run(alice.database, lambda t: trash.delete(t, account, posts[1]["post_id"]))
    )

    builds = VectorBuilds(alice.database, models, alice.clock)  # type: ignore[arg-type] # duck typed
    await builds.build(alice.account_id, ignore)

    store = await _state(alice)
    assert (store.embedded, store.is_built) == (2, True)
    assert await writing.recount(alice) == []


async def test_a_post_changed_while_it_is_embedded_is_found_by_its_new_text(alice: Member) -> None:
    post = make.post(text="about cats")
    await alice.save_all([post, make.post(text="about money")])
    changed = {**post, "tweet_details": {"text": "The engine of a ship."}}
    models = _Interfering(lambda: alice.save_all([changed]))

    builds = VectorBuilds(alice.database, models, alice.clock)  # type: ignore[arg-type] # duck typed
    await builds.build(alice.account_id, ignore)

    assert (await _state(alice)).is_built
    assert (await alice.ids(vector_search_term="diesel motors"))[0] == post["post_id"]


class _Interfering:
    """Models that run an action while they embed the first batch."""

    def __init__(self, action: Any) -> None:
        self._action: Any = action
        assert MODELS.current is not None
        self._inner = MODELS.current
        self.current = self
        self.second = None
        self.name, self.identity, self.problem = self._inner.name, self._inner.identity, None

    async def embed_posts(self, texts: Any) -> Any:
        rows = await self._inner.embed_posts(texts)
        if self._action is not None:
            action, self._action = self._action, None
            await action()
        return rows


@pytest.mark.both
async def test_concurrent_builds_write_each_vector_once(alice: Member) -> None:
    await alice.save_all([make.post() for _ in range(70)])

    await asyncio.gather(alice.embed(), alice.embed())

    store = await _state(alice)
    assert (store.embedded, store.is_built) == (70, True)
    assert await writing.recount(alice) == []


async def test_posts_without_text_count_as_embedded_and_are_never_found(alice: Member) -> None:
    blank = {"text": "", "author": "", "name": ""}
    await alice.save_all([make.post(**blank) for _ in range(3)])
    await alice.save(text="birds")

    await alice.embed()

    found = await alice.listed(vector_search_term="birds")
    assert found["meta"]["total_count"] == 1
    assert "vector_pending" not in found["meta"]


async def test_free_and_deleted_accounts_are_not_embedded(free: Member) -> None:
    await free.save()

    assert await free.embed() == 0
    assert await VectorStore(free.database).stores(free.account_id) == []
    assert await VectorBuilds(free.database, MODELS, free.clock).build(12345, ignore) == 0


async def test_a_build_fails_while_the_embedding_service_is_down(
    cast: Service, remote: tuple[EmbeddingService, Models]
) -> None:
    running, models = remote
    await cast.alice.save_all([make.post(text=f"red bird {n}") for n in range(40)])
    builds = VectorBuilds(cast.database, models, cast.clock)
    running.key = "changed"
    with pytest.raises(Refusal, match="embedding service is not usable"):
        await builds.build(cast.alice.account_id, ignore)
    assert "not usable" in str(models.problem)

    running.key = "sesame"
    assert await builds.build(cast.alice.account_id, ignore) == 40

    assert not models.problem
    store = await _state(cast.alice)
    assert (store.name, store.dimensions, store.is_built) == ("tiny", 24, True)


async def test_a_post_that_the_service_rejects_does_not_stop_the_build(
    cast: Service, remote: tuple[EmbeddingService, Models]
) -> None:
    running, models = remote
    running.refused = "poison"
    texts = ["red bird", "poison", *(f"fine {n}" for n in range(40))]
    await cast.alice.save_all([make.post(text=text) for text in texts])

    builds = VectorBuilds(cast.database, models, cast.clock)
    assert await builds.build(cast.alice.account_id, ignore) == 42

    store = await _state(cast.alice)
    assert (store.embedded, store.is_built) == (42, True)
    assert models.problem is None


async def test_the_old_model_serves_until_the_new_one_is_built(
    cast: Service, remote: tuple[EmbeddingService, Models]
) -> None:
    _, models = remote
    alice = cast.alice
    await alice.save_all([make.post(text="A kitten."), make.post(text="Interest rates.")])
    await alice.embed()
    meaning = SemanticSearch(cast.database, models)

    before = await meaning.serving(await alice.account())
    assert before is not None
    # The local model is still usable, though the endpoint is the current model.
    assert before.name == "all-MiniLM-L6-v2-int8"
    builds = VectorBuilds(cast.database, models, cast.clock)
    assert await builds.build(alice.account_id, ignore) == 2

    after = await meaning.serving(await alice.account())
    assert after is not None
    assert after.name == "tiny"


def _with_text(post: dict[str, Any], text: str) -> dict[str, Any]:
    return {**post, "tweet_details": {"text": text}}


async def _pending(member: Member) -> int:
    meta = (await member.listed(vector_search_term="x"))["meta"]
    return int(meta.get("vector_pending", 0))


@pytest.mark.both
async def test_a_changed_post_is_found_by_its_old_text_until_the_next_build(alice: Member) -> None:
    post = make.post(text="Our kitten sleeps on the sofa.")
    await alice.save_all([post, make.post(text="Interest rates rise.")])
    await alice.embed()

    # The second change finds a vector that is stale already.
    await alice.save_all([_with_text(post, "Our kitten sleeps on the carpet.")])
    await alice.save_all([_with_text(post, "A diesel engine for ships.")])

    assert await alice.ids(vector_search_term="a cat") == [post["post_id"]]
    assert ((await _state(alice)).embedded, await _pending(alice)) == (1, 1)
    assert await writing.recount(alice) == []

    assert await alice.embed() == 1

    assert await alice.ids(vector_search_term="a cat") == []
    assert await alice.ids(vector_search_term="motors of boats") == [post["post_id"]]
    assert ((await _state(alice)).embedded, await _pending(alice)) == (2, 0)
    assert await writing.recount(alice) == []


async def test_a_post_that_lost_its_text_is_no_longer_found(alice: Member) -> None:
    post = make.post(text="Our kitten sleeps.", author="", name="")
    await alice.save_all([post, make.post(text="Interest rates rise.")])
    await alice.embed()
    photo = {"type": "photo", "url": "https://example.com/a.jpg"}
    await alice.save_all(
        [make.post(post_id=post["post_id"], author="", name="", attachments=[photo])]
    )
    assert await alice.ids(vector_search_term="a cat") == [post["post_id"]]

    await alice.embed()

    assert await alice.ids(vector_search_term="a cat") == []


@pytest.mark.both
async def test_deleting_a_post_with_a_stale_vector_keeps_the_counts_exact(alice: Member) -> None:
    posts = [make.post(text=f"note {n}") for n in range(3)]
    await alice.save_all(posts)
    await alice.embed()
    await alice.save_all([_with_text(posts[0], "now about cats")])

    account, trash = await alice.account(), Trash(alice.database, alice.clock)
    await turns.run(alice.database, lambda t: trash.delete(t, account, posts[0]["post_id"]))

    assert ((await _state(alice)).embedded, await _pending(alice)) == (2, 0)
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_library_of_an_earlier_release_gets_vectors_of_the_present_text(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = {"type": "link", "title": "How a diesel engine works"}
    post = await alice.save(text="Worth reading.", attachments=[card])
    other = await alice.save(text="Our kitten sleeps.")
    with monkeypatch.context() as earlier:
        # An earlier release embedded no attachments, and indexed no forms of words.
        earlier.setattr(builds, "attached_texts", lambda _: [])
        await alice.embed()
    await age(alice.database, await alice.account())
    assert await alice.ids(vector_search_term="motors of ships") == []

    await Reindexing(alice.database, alice.clock, pause_s=0).run(alice.account_id, ignore)

    # Only the post with another text is embedded again, and found by its old text until then.
    assert (await _pending(alice), (await _state(alice)).embedded) == (1, 1)
    assert (await alice.ids(vector_search_term="worth reading"))[0] == post["post_id"]
    assert await alice.embed() == 1
    assert await alice.ids(vector_search_term="motors of ships") == [post["post_id"]]
    assert await alice.ids(vector_search_term="a cat") == [other["post_id"]]
    assert await writing.recount(alice) == []
