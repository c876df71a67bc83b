"""The word order, SQLite's fast path for keyword hits, returns the same as the general query."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After, BookmarkFilter, Sort
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Transaction
from tests.support import databases, make, service
from tests.support.service import Member

pytestmark = pytest.mark.anyio

POSTS = 2_600
WORDS = ("apple", "apricot", "banana", "cherry", "damson")
EVERYTHING = BookmarkFilter(unread_only=False, hide_archived=False)


class WithoutWordOrder:
    """The same database without the word order."""

    word_order = None

    def __init__(self, inner: Database) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Fruits(NamedTuple):
    """A library with one word in every post, others in some, and deleted posts."""

    fast: BookmarkStore
    general: BookmarkStore
    account: Account


@pytest.fixture(scope="module")
async def fruits(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Fruits]:
    folder = tmp_path_factory.mktemp("fruits")
    async with databases.fresh_sqlite(sqlite_template, folder) as database:
        built = await service.build(database)
        await built.alice.save_all([fruit(number) for number in range(POSTS)])
        await built.bob.save_all([fruit(number) for number in range(0, 50, 2)])
        await remove_some(database, built.alice.account_id)
        general = BookmarkStore(cast("Database", WithoutWordOrder(database)))
        yield Fruits(BookmarkStore(database), general, await built.alice.account())


def fruit(number: int) -> dict[str, Any]:
    words = [word for place, word in enumerate(WORDS) if number % (2 * place + 1) == 0]
    return make.post(
        text=" ".join(words),
        # Several posts have the same sort_index, so that their numbers decide the order.
        sort_index=(number * 7919) % (POSTS // 4),
        is_read=number % 5 == 0,
        is_archived=number % 7 == 0,
    )


async def remove_some(database: Database, account_id: int) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run(
            "DELETE FROM bookmark WHERE account_id = :account_id AND number % 11 = 0",
            {"account_id": account_id},
        )

    await database.write(work)


flags = st.builds(BookmarkFilter, unread_only=st.booleans(), hide_archived=st.booleans())
words = st.sampled_from(
    [
        *(*WORDS, "ap*", '"apple banana"', "none", "apple banana", "Äpple", "cherry damson"),
        *("damson OR none", "(cherry -damson) OR banana", "apple is:unread", "apple is:read"),
        *("cherry is:archived", "banana -is:archived", "damson -is:read is:archived"),
    ]
)
unwanted = st.sampled_from(["", *(f" -{word}" for word in WORDS), ' -"banana cherry"', " -none"])
texts = st.builds("{}{}".format, words, unwanted)
# Cursors of existing bookmarks, of deleted ones, and without a number.
ends = st.none() | st.builds(
    After,
    value=st.integers(-1, POSTS // 4 + 1),
    number=st.none() | st.integers(0, POSTS + 1),
)


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(filter=flags, text=texts, after=ends, limit=st.integers(1, 40))
async def test_the_word_order_returns_the_same_as_the_general_statement(
    fruits: Fruits, filter: BookmarkFilter, text: str, after: After | None, limit: int
) -> None:
    searched = BookmarkFilter(
        unread_only=filter.unread_only,
        hide_archived=filter.hide_archived,
        words=query_language.parse(text),
    )

    fast = await fruits.fast.page(fruits.account, searched, Sort(), after, limit)
    general = await fruits.general.page(fruits.account, searched, Sort(), after, limit)

    assert fast == general
    assert await fruits.fast.count(fruits.account, searched) == await fruits.general.count(
        fruits.account, searched
    )


async def test_paging_returns_every_hit_once(fruits: Fruits) -> None:
    searched = BookmarkFilter(words=query_language.parse("apple -damson"))

    seen, after = 0, None
    for _ in range(POSTS):
        page = await fruits.fast.page(fruits.account, searched, Sort(), after, 97)
        seen += page.count
        after = page.end
        if after is None:
            break

    assert seen == await fruits.general.count(fruits.account, searched)
    assert seen > 1_000


@pytest.fixture
async def eve(sqlite: Database) -> Member:
    return (await service.build(sqlite)).alice


async def test_a_new_post_is_found_immediately(eve: Member) -> None:
    first = await eve.save(text="apple one")
    assert await eve.ids(q="apple") == [first["post_id"]]

    second = await eve.save(text="apple two")

    assert await eve.ids(q="apple") == [second["post_id"], first["post_id"]]
    assert (await eve.listed(q="apple"))["meta"]["total_count"] == 2


async def test_a_changed_flag_is_respected_immediately(eve: Member) -> None:
    first = await eve.save(text="apple one")
    assert await eve.ids(q="apple") == [first["post_id"]]

    await eve.save_all([{**first, "is_read": True}])

    assert await eve.ids(q="apple") == []
    assert await eve.ids(q="apple", is_unread_only="false") == [first["post_id"]]


async def test_a_post_is_not_found_by_words_it_no_longer_has(eve: Member) -> None:
    first = await eve.save(text="apple one")
    assert await eve.ids(q="apple") == [first["post_id"]]
    details = {**first["tweet_details"], "text": "banana one"}

    await eve.save_all([{**first, "tweet_details": details}])

    assert await eve.ids(q="apple") == []
    assert await eve.ids(q="banana") == [first["post_id"]]


async def test_an_empty_library_has_no_hits(eve: Member) -> None:
    assert await eve.ids(q="apple") == []


async def test_results_stay_correct_when_cached_values_are_dropped(
    eve: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.storage.sqlite.word_order._KEPT_COUNTS", 1)
    monkeypatch.setattr("bowerbird.storage.sqlite.word_order._KEPT_BYTES", 1)
    read = await eve.save(text="apple one", is_read=True)
    unread = await eve.save(text="apple banana")

    for _ in range(2):
        assert await eve.ids(q="apple") == [unread["post_id"]]
        everything = [unread["post_id"], read["post_id"]]
        assert await eve.ids(q="apple", is_unread_only="false") == everything
        assert (await eve.listed(q="banana"))["meta"]["total_count"] == 1
