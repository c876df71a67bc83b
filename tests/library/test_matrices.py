"""Cached matrices and scans follow changes of the stored vectors."""

from typing import Final

import pytest

from bowerbird.library.vectors import builds
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.words import NewVector, VectorStoreState
from bowerbird.search.meaning.vectors import pack
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.words.vectors import BuildProgress, VectorStore
from tests.support import make
from tests.support.models import MODELS
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _serving(meaning: SemanticSearch, member: Member) -> VectorStoreState:
    store = await meaning.serving(await member.account())
    assert store is not None
    return store


async def _embed_last(member: Member, store: VectorStoreState) -> None:
    """Writes the last missing vector, like a build that read its posts before others changed."""
    vectors = VectorStore(member.database)
    account = await member.account()
    last = (await vectors.missing(account, store.model, 0, 100))[-1]
    assert MODELS.current is not None
    (rows,) = await MODELS.current.embed_posts(["anything"])
    vector = NewVector(last.number, last.content_hash, bytes(16), *pack(rows))

    async def work(transaction: Transaction) -> None:
        await LibraryStore(member.database).lock(transaction, account.account_id)
        await vectors.put(transaction, account.account_id, store, [vector], BuildProgress(0, 0))

    await member.database.write(work)


async def test_a_vector_that_became_stale_while_rows_were_read_is_replaced(alice: Member) -> None:
    post = make.post(text="Our kitten sleeps.")
    await alice.save_all([post, make.post(text="Interest rates")])
    await alice.embed()
    meaning = SemanticSearch(alice.database, MODELS)
    number = await VectorStore(alice.database).number_of(alice.account_id, post["post_id"])
    assert number is not None
    # A request has read the state of the vectors. Before it reads the vectors, one text changes
    # and another post gets its vector.
    before = await _serving(meaning, alice)
    old = await meaning.rows_of(await alice.account(), before, number)
    assert old is not None
    await alice.save_all([make.post(text="later")])
    await alice.embed()
    between = await _serving(meaning, alice)
    await alice.save_all([{**post, "tweet_details": {"text": "Tax law"}}, make.post(text="last")])
    await _embed_last(alice, between)
    await meaning.rows_of(await alice.account(), between, number)

    after = await _serving(meaning, alice)

    stale = await meaning.rows_of(await alice.account(), after, number)
    assert stale is not None
    assert (stale == old).all()
    await alice.embed()
    last = await _serving(meaning, alice)
    new = await meaning.rows_of(await alice.account(), last, number)
    assert new is not None
    assert (new != old).any()


QUERY = "cats and other pets"


async def _near(meaning: SemanticSearch, member: Member) -> list[int]:
    account = await member.account()
    store = await meaning.serving(account)
    assert store is not None
    found = await meaning.nearness(account, store, QUERY)
    numbers: list[int] = found.numbers[found.scores >= found.floor].tolist()
    return numbers


async def _number(member: Member, post_id: str) -> int:
    number = await VectorStore(member.database).number_of(member.account_id, post_id)
    assert number is not None
    return number


@pytest.mark.both
@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_post_embedded_later_is_found_by_the_query(alice: Member, language: str) -> None:
    """In German, by both models."""
    other = {"en": "Interest rates rise again.", "de": "Die Zinsen steigen wieder und wieder."}
    kitten = {"en": "Our kitten sleeps.", "de": "Unsere kleine Katze schläft auf dem Sofa."}
    meaning = SemanticSearch(alice.database, MODELS)
    await alice.save_all([make.post(text=other[language])])
    await alice.embed()
    assert await _near(meaning, alice) == []
    post = make.post(text=kitten[language])
    await alice.save_all([post])
    await alice.embed()

    assert await _near(meaning, alice) == [await _number(alice, post["post_id"])]


async def _scores(member: Member) -> dict[int, float]:
    """By a process that has just started."""
    meaning = SemanticSearch(member.database, MODELS)
    account = await member.account()
    store = await _serving(meaning, member)
    found = await meaning.nearness(account, store, QUERY)
    return dict(zip(found.numbers.tolist(), found.scores.tolist(), strict=True))


# A post with it is more than a link, also without a text.
PHOTO: Final = {"type": "photo", "url": "https://example.com/a.jpg"}


@pytest.mark.both
async def test_vectors_that_are_stored_together_are_those_of_the_rows(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "PART_POSTS", 2)
    posts = [make.post(text=f"Our kitten sleeps, part {n}. Die Katze schläft.") for n in range(7)]
    vectors = VectorStore(alice.database)
    await alice.save_all(posts)
    await alice.embed()
    store = await _serving(SemanticSearch(alice.database, MODELS), alice)
    assert len(await vectors.part_ends(alice.account_id, store.model)) == 3
    # One post is embedded again, one has no text any more, and one is deleted.
    await alice.change(posts[0], tweet_details={"text": "Tax law"})
    await alice.change(posts[2], tweet_details={"text": "", "attachments": [PHOTO]}, author={})
    await alice.save(text="later")
    await alice.remove(posts[4]["post_id"])
    await alice.embed()

    ends = await vectors.part_ends(alice.account_id, store.model)
    together = await _scores(alice)
    monkeypatch.setattr(VectorStore, "parts", _no_parts)

    assert together == await _scores(alice)
    assert sorted(posts for _, _, posts in ends) == [1, 1, 1, 2, 2]


async def _no_parts(*_: object) -> list[object]:
    return []
