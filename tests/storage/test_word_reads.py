"""Every way in which SQLite searches words returns the same as the general statement."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import After, BookmarkFilter, Sort
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Row, Transaction, WordRead
from bowerbird.storage.queries import Queries
from bowerbird.storage.sqlite import word_reads
from tests.support import databases, make, service
from tests.support.service import Member

pytestmark = pytest.mark.anyio

POSTS = 2_600
WORDS = ("apple", "apricot", "banana", "cherry", "damson")
TAGS = {"common": 2, "scarce": 40, "single": POSTS}
# Up to how many hits are looked up. Each makes a search go other ways.
BOUNDS = [5_000, 30, 0]


class GeneralStatements:
    """A SQLite library that is read by the statements of every database."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner

    def queries(self, resource: str) -> Queries:
        return {} if resource == "list_reads" else self._inner.queries(resource)

    def lists(self, _: Account) -> Self:
        return self

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        return await self._inner.slow_rows(read.sql, read.values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Fruits(NamedTuple):
    """A library with one word in every post, others in some, and deleted posts."""

    database: Database
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
        general = BookmarkStore(cast("Database", GeneralStatements(database)))
        account = await built.alice.account()
        yield Fruits(database, BookmarkStore(database), general, account)


def fruit(number: int) -> dict[str, Any]:
    words = [word for place, word in enumerate(WORDS) if number % (2 * place + 1) == 0]
    return make.post(
        text=" ".join(words),
        # Several posts have the same sort_index, so that their numbers decide the order.
        sort_index=(number * 7919) % (POSTS // 4),
        is_read=number % 5 == 0,
        is_archived=number % 7 == 0,
        tags=[tag for tag, step in TAGS.items() if number % step == 1],
        author=f"grower{number % 4}",
    )


async def remove_some(database: Database, account_id: int) -> None:
    await remove(database, account_id, range(0, POSTS, 11))


async def remove(database: Database, account_id: int, numbers: Sequence[int]) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run_many(
            "DELETE FROM bookmark WHERE account_id = :account_id AND number = :number",
            [{"account_id": account_id, "number": number} for number in numbers],
        )

    await database.write(work)


filters = st.builds(
    BookmarkFilter,
    unread_only=st.booleans(),
    hide_archived=st.booleans(),
    tag=st.sampled_from([None, None, *TAGS, "unknown"]),
    author=st.sampled_from([None, None, "grower1"]),
    unlabelled=st.sampled_from([None, None, None, True, False]),
)
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


@pytest.fixture(params=BOUNDS, ids=str)
def bounded(
    request: pytest.FixtureRequest, fruits: Fruits, monkeypatch: pytest.MonkeyPatch
) -> Fruits:
    monkeypatch.setattr(word_reads, "_FEW", request.param)
    return fruits


async def require_the_same(
    fruits: Fruits, searched: BookmarkFilter, after: After | None, limit: int
) -> None:
    account = fruits.account
    total = await fruits.fast.count(account, searched)
    fast = await fruits.fast.page(account, searched, Sort(), after, limit, total=total)

    assert fast == await fruits.general.page(account, searched, Sort(), after, limit)
    assert total == await fruits.general.count(account, searched)


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(filter=filters, text=texts, after=ends, limit=st.integers(1, 40))
async def test_every_way_to_read_returns_the_same_as_the_general_statement(
    bounded: Fruits, filter: BookmarkFilter, text: str, after: After | None, limit: int
) -> None:
    searched = msgspec.structs.replace(filter, words=query_language.parse(text))

    await require_the_same(bounded, searched, after, limit)


labelled = st.sampled_from(
    [
        *("apple common", "apple -common", "banana -scarce -none", "ap* -com*", "cherry -(single)"),
        *("apple (scarce OR damson)", "apple common is:unread", "apple -common -is:archived"),
        *("apple -scarce author:grower1", "common apple -cherry -single*"),
    ]
)


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(filter=filters, text=labelled, after=ends, limit=st.integers(1, 40))
async def test_words_that_are_labels_find_the_same_as_the_general_statement(
    bounded: Fruits, filter: BookmarkFilter, text: str, after: After | None, limit: int
) -> None:
    searched = await LabelWords(bounded.database).resolved(
        bounded.account, msgspec.structs.replace(filter, words=query_language.parse(text))
    )

    await require_the_same(bounded, searched, after, limit)


async def test_a_label_that_is_added_is_respected_immediately(eve: Member) -> None:
    first = await eve.save(text="apple", tags=["pear"])
    second = await eve.save(text="apple one")
    assert await eve.ids(q="apple -pear") == [second["post_id"]]

    await eve.save_all([{**second, "tags": ["pear"]}])

    assert await eve.ids(q="apple -pear") == []
    assert await eve.ids(q="apple pear") == [second["post_id"], first["post_id"]]


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


async def test_a_changed_flag_is_respected_immediately(eve: Member) -> None:
    first = await eve.save(text="apple one")
    assert await eve.ids(q="apple") == [first["post_id"]]

    await eve.save_all([{**first, "is_read": True}])

    assert await eve.ids(q="apple") == []
    assert await eve.ids(q="apple", is_unread_only="false") == [first["post_id"]]
