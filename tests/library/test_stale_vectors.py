"""Vectors of texts that have changed: they serve until the next build replaces them."""

from typing import Any

import pytest

from bowerbird.library.access import turns
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bookmarks.writing.reindexing import Reindexing
from bowerbird.library.vectors import embedding_text
from bowerbird.library.vectors.sweeps import VectorSweeps
from bowerbird.storage.vectors import VectorStore
from tests.support import make, writing
from tests.support.models import MODELS, ignore
from tests.support.service import Member, Service
from tests.support.word_counts import age
from tests.support.writing import DAY

pytestmark = [pytest.mark.anyio, pytest.mark.both]


def _with_text(post: dict[str, Any], text: str) -> dict[str, Any]:
    return {**post, "tweet_details": {"text": text}}


async def _embedded(member: Member) -> int:
    (store,) = await VectorStore(member.database).stores(member.account_id)
    return store.embedded


async def _pending(member: Member) -> int:
    meta = (await member.listed(vector_search_term="x"))["meta"]
    return int(meta.get("vector_pending", 0))


async def test_a_changed_post_is_found_by_its_old_text_until_the_next_build(alice: Member) -> None:
    post = make.post(text="Our kitten sleeps on the sofa.")
    await alice.save_all([post, make.post(text="Interest rates rise.")])
    await alice.embed()

    # The second change finds a vector that is stale already.
    await alice.save_all([_with_text(post, "Our kitten sleeps on the carpet.")])
    await alice.save_all([_with_text(post, "A diesel engine for ships.")])

    assert await alice.ids(vector_search_term="a cat") == [post["post_id"]]
    assert (await _embedded(alice), await _pending(alice)) == (1, 1)
    assert await writing.recount(alice) == []

    assert await alice.embed() == 1

    assert await alice.ids(vector_search_term="a cat") == []
    assert await alice.ids(vector_search_term="motors of boats") == [post["post_id"]]
    assert (await _embedded(alice), await _pending(alice)) == (2, 0)
    assert await writing.recount(alice) == []


async def test_a_post_that_lost_its_text_is_no_longer_found(alice: Member) -> None:
    post = make.post(text="Our kitten sleeps.", author="", name="")
    await alice.save_all([post, make.post(text="Interest rates rise.")])
    await alice.embed()
    await alice.save_all([_with_text(post, "")])
    assert await alice.ids(vector_search_term="a cat") == [post["post_id"]]

    await alice.embed()

    assert await alice.ids(vector_search_term="a cat") == []


async def test_deleting_a_post_with_a_stale_vector_keeps_the_counts_exact(alice: Member) -> None:
    posts = [make.post(text=f"note {n}") for n in range(3)]
    await alice.save_all(posts)
    await alice.embed()
    await alice.save_all([_with_text(posts[0], "now about cats")])

    account, trash = await alice.account(), Trash(alice.database, alice.clock)
    await turns.run(alice.database, lambda t: trash.delete(t, account, posts[0]["post_id"]))

    assert (await _embedded(alice), await _pending(alice)) == (2, 0)
    assert await writing.recount(alice) == []


async def test_stale_vectors_are_removed_with_the_others_of_a_store(cast: Service) -> None:
    alice = cast.alice
    posts = [make.post(text=f"note {n}") for n in range(101)]
    await alice.save_all(posts)
    await alice.embed()
    await alice.save_all([_with_text(post, "now about cats") for post in posts[:50]])
    sweeps = VectorSweeps(cast.database, MODELS, cast.clock, pause_s=0)
    await alice.set_plan("free")
    await sweeps.remove_expired()

    cast.clock.now += 31 * DAY
    await sweeps.remove_expired()

    assert await VectorStore(alice.database).stores(alice.account_id) == []


async def test_a_library_of_an_earlier_release_gets_vectors_of_the_present_text(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = {"type": "link", "title": "How a diesel engine works"}
    post = await alice.save(text="Worth reading.", attachments=[card])
    other = await alice.save(text="Our kitten sleeps.")
    with monkeypatch.context() as earlier:
        # An earlier release embedded no attachments, and indexed no forms of words.
        earlier.setattr(embedding_text, "attached_texts", lambda _: [])
        await alice.embed()
    await age(alice.database, await alice.account())
    assert await alice.ids(vector_search_term="motors of ships") == []

    await Reindexing(alice.database, alice.clock, pause_s=0).run(alice.account_id, ignore)

    # Only the post with another text is embedded again, and found by its old text until then.
    assert (await _pending(alice), await _embedded(alice)) == (1, 1)
    assert (await alice.ids(vector_search_term="worth reading"))[0] == post["post_id"]
    assert await alice.embed() == 1
    assert await alice.ids(vector_search_term="motors of ships") == [post["post_id"]]
    assert await alice.ids(vector_search_term="a cat") == [other["post_id"]]
    assert await writing.recount(alice) == []
