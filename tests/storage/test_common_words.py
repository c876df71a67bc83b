"""The sets of common words find the same posts as the general statement, and follow changes."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.model.accounts import Account
from bowerbird.model.filters import After, BookmarkFilter, Sort
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite.database import SqliteDatabase
from bowerbird.storage.sqlite.words import common_words, word_sets
from bowerbird.storage.sqlite.words.common_words import CommonWords, CommonWordsAhead
from bowerbird.storage.sqlite.words.word_sets import parse
from tests.storage.test_word_order import Fruits, ends, filters, fruits, labelled, texts
from tests.support import make, service, waiting
from tests.support.service import Member

pytestmark = pytest.mark.anyio

__all__ = ["fruits"]

# Beside the library's own default: every word has a set, and pages are read from sets only.
BOUNDS = [(64, 5_000, 40), (64, 0, 10_000), (2, 0, 10_000), (2, 0, 1)]
versions = itertools.count(1_000_000)


def ahead_of(database: Database) -> CommonWordsAhead:
    assert isinstance(database, SqliteDatabase)
    return database.word_order._common  # noqa: SLF001 - to know what is in memory


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads the sets of small libraries, at once and as often as they change."""
    for name, value in {"_FEWEST_POSTS": 1, "_DELAY_S": 0, "_REST": 0, "_PAUSE": 0}.items():
        monkeypatch.setattr(common_words, name, value)


async def read_sets(database: Database, account: Account) -> CommonWords:
    ahead = ahead_of(database)
    ahead.after(account)
    await ahead.ended()
    common = ahead.of(account)
    assert common is not None
    return common


@pytest.fixture(params=BOUNDS, ids=str)
async def common(
    request: pytest.FixtureRequest, fruits: Fruits, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Fruits]:
    most, few, walked = request.param
    monkeypatch.setattr(common_words, "_MOST_WORDS", most)
    monkeypatch.setattr(word_sets, "_FEW", few)
    monkeypatch.setattr("bowerbird.storage.sqlite.words.word_hits._WALKED", walked)
    found = await read_sets(fruits.database, fruits.account)
    assert found.sets
    # Another version, so that nothing else is in memory.
    account = msgspec.structs.replace(fruits.account, version=next(versions))
    yield fruits._replace(account=account)
    ahead_of(fruits.database)._kept.clear()  # noqa: SLF001 - other parameters have other sets


more_texts = st.sampled_from(
    [
        *("ap* -apple", "ap* OR ban*", "apple OR banana OR none", "ban* cherry", "-none ap*"),
        *("(apple banana) OR (cherry -damson)", "apple -(banana OR cherry)", "da* -ap*"),
        *("(apple OR none) (banana OR che*)", '"apple banana" OR cherry', "apple -ap*"),
    ]
)
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}


async def check(library: Fruits, searched: BookmarkFilter, after: After | None, limit: int) -> None:
    account = library.account
    fast = await library.fast.page(account, searched, Sort(), after, limit)
    general = await library.general.page(account, searched, Sort(), after, limit)

    assert fast == general
    assert await library.fast.count(account, searched) == await library.general.count(
        account, searched
    )


@settings(max_examples=60, **SETTINGS)
@given(filter=filters, text=texts | more_texts, after=ends, limit=st.integers(1, 40))
async def test_sets_find_the_same_as_the_general_statement(
    common: Fruits, filter: BookmarkFilter, text: str, after: After | None, limit: int
) -> None:
    searched = msgspec.structs.replace(filter, words=query_language.parse(text))

    await check(common, searched, after, limit)


@settings(max_examples=60, **SETTINGS)
@given(filter=filters, text=labelled, after=ends, limit=st.integers(1, 40))
async def test_words_that_are_labels_find_the_same(
    common: Fruits, filter: BookmarkFilter, text: str, after: After | None, limit: int
) -> None:
    parsed = msgspec.structs.replace(filter, words=query_language.parse(text))
    searched = await LabelWords(common.database).resolved(common.account, parsed)

    await check(common, searched, after, limit)


phrases = st.sampled_from(
    ['"apple"', '"cherry"', '"damson"', '"ban" *', '"none"', '"apple" + "cherry"']
)
expressions = st.recursive(
    # Without parentheses, operators bind differently.
    phrases | st.builds("({} AND {} OR {} NOT {})".format, phrases, phrases, phrases, phrases),
    lambda inner: st.builds(
        lambda operator, parts: f"({operator.join(parts)})",
        st.sampled_from([" AND ", " OR ", " NOT "]),
        st.lists(inner, min_size=2, max_size=3),
    ),
    max_leaves=6,
)


@settings(max_examples=100, **SETTINGS)
@given(expression=expressions)
async def test_expressions_mean_the_same_as_in_fts5(common: Fruits, expression: str) -> None:
    database, account = common.database, common.account
    assert isinstance(database, SqliteDatabase)
    found = ahead_of(database).of(account)
    assert found is not None
    place = account.local_number << 40
    sql = "SELECT rowid - ? FROM keyword WHERE keyword MATCH ? AND rowid BETWEEN ? AND ?"

    def work(connection: Any) -> tuple[int | None, list[int]]:
        reader = word_sets.SetReader(connection, database.word_order._sql, account, found)  # noqa: SLF001
        values = (place, expression, place, place + (1 << 40) - 1)
        rows = connection.execute(sql, values).fetchall()
        return reader._set(parse(expression), needs_common=False), [row[0] for row in rows]  # noqa: SLF001

    numbers, expected = await database._slow_readers.run(account.account_id, work)  # noqa: SLF001

    assert numbers is None or numbers == sum(1 << number for number in expected)


@pytest.fixture
async def eve(sqlite: Database) -> Member:
    return (await service.build(sqlite)).alice


async def test_flags_and_labels_do_not_change_the_sets(eve: Member) -> None:
    await eve.save_all([make.post(text="apple", sort_index=n) for n in range(4)])
    before = await read_sets(eve.database, await eve.account())
    first = (await eve.listed())["data"][0]

    await eve.save_all([{**first, "is_read": True, "tags": ["pear"]}])

    account = await eve.account()
    searched = BookmarkFilter(words=query_language.parse("apple"))
    assert await BookmarkStore(eve.database).count(account, searched) == 3
    assert ahead_of(eve.database).of(account) is before


async def test_a_new_post_is_found_although_the_sets_are_older(eve: Member) -> None:
    await eve.save_all([make.post(text="apple", sort_index=n) for n in range(4)])
    before = await read_sets(eve.database, await eve.account())

    await eve.save(text="apple five")

    account = await eve.account()
    searched = BookmarkFilter(words=query_language.parse("apple"))
    assert await BookmarkStore(eve.database).count(account, searched) == 5
    assert before.is_stale
    assert await read_sets(eve.database, account) is not before


async def test_a_post_is_not_found_by_a_common_word_it_no_longer_has(eve: Member) -> None:
    await eve.save_all([make.post(text="apple", sort_index=n) for n in range(4)])
    await read_sets(eve.database, await eve.account())
    first = (await eve.listed())["data"][0]
    details = {**first["tweet_details"], "text": "banana"}

    await eve.save_all([{**first, "tweet_details": details}])

    assert (await eve.listed(q="apple"))["meta"]["total_count"] == 3
    assert (await eve.listed(q="ap*"))["meta"]["total_count"] == 3


async def test_sets_of_another_epoch_are_not_used(eve: Member) -> None:
    await eve.save(text="apple")
    account = await eve.account()
    await read_sets(eve.database, account)

    other = msgspec.structs.replace(account, epoch=account.epoch + 1)

    assert ahead_of(eve.database).of(other) is None


async def test_sets_of_prefixes_are_kept_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    common = CommonWords(1, b"")
    common.add("apple", 1 << 800)
    monkeypatch.setattr(common_words, "_ACCOUNT_BYTES", common.size + 5_000)

    for number in range(20):
        common.add_prefixes({f"a{number}": 1 << 800})

    assert 0 < len(common.prefixes) < 5
    assert "a19" in common.prefixes
    assert common.size <= common_words._ACCOUNT_BYTES  # noqa: SLF001 - the bound


async def test_a_set_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_words, "_ACCOUNT_BYTES", 5_000)
    common = CommonWords(1, b"")

    assert common.add("apple", 1 << 800)
    assert not common.add("banana", 1 << 80_000)

    assert list(common.sets) == ["apple"]
    assert common.size <= 5_000


async def test_words_that_change_during_a_read_do_not_start_another(
    eve: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common_words, "_REST", 1e9)
    await eve.save_all([make.post(text="apple banana", sort_index=n) for n in range(4)])
    account = await eve.account()
    ahead = ahead_of(eve.database)
    ahead.after(account)

    async def read() -> CommonWords | None:
        common = ahead.of(account)
        return common if common is not None and common.sets else None

    common = await waiting.until(read)
    assert common is not None

    await eve.save(text="apple cherry")
    assert (await eve.listed(q="apple"))["meta"]["total_count"] == 5

    assert common.is_stale
    assert ahead._waiting == {}  # noqa: SLF001 - nothing is asked for
    await ahead.close()


async def test_an_account_that_makes_room_for_another_is_not_read_again_at_once(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common_words, "_KEPT_BYTES", 1)
    monkeypatch.setattr(common_words, "_PAUSE", 1e9)
    cast = await service.build(sqlite)
    for member in (cast.alice, cast.bob):
        await member.save(text="apple")
        await read_sets(sqlite, await member.account())
    ahead = ahead_of(sqlite)
    account = await cast.alice.account()
    assert ahead.of(account) is None

    ahead.after(account)

    assert ahead._task is None  # noqa: SLF001 - nothing was started


async def test_a_prefix_of_few_posts_is_left_to_fts5(common: Fruits) -> None:
    database, account = common.database, common.account
    assert isinstance(database, SqliteDatabase)
    found = ahead_of(database).of(account)
    assert found is not None

    def work(connection: Any) -> tuple[int | None, dict[str, int]]:
        reader = word_sets.SetReader(connection, database.word_order._sql, account, found)  # noqa: SLF001
        return reader.matching('"none" *'), reader.used_prefixes

    assert await database._slow_readers.run(account.account_id, work) == (None, {})  # noqa: SLF001


async def test_a_small_library_has_no_sets(eve: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_words, "_FEWEST_POSTS", 3)
    await eve.save(text="apple")
    ahead = ahead_of(eve.database)

    ahead.after(await eve.account())

    assert ahead._task is None  # noqa: SLF001 - nothing was started


async def test_closing_ends_the_reads(eve: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_words, "_DELAY_S", 3_600)
    await eve.save(text="apple")
    ahead = ahead_of(eve.database)
    ahead.after(await eve.account())
    await asyncio.sleep(0)

    async with asyncio.timeout(30):
        await ahead.close()

    assert ahead._task is None  # noqa: SLF001 - it has ended
