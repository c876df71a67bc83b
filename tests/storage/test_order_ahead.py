"""The order of a large library is read in the background, once per account."""

import asyncio

import msgspec
import pytest

from bowerbird import errors
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.words import Match
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, WordSearch
from bowerbird.storage.sqlite.database import SqliteDatabase
from bowerbird.storage.sqlite.words import order_ahead, word_hits
from bowerbird.storage.sqlite.words.order_ahead import OrderAhead
from tests.support import make, service

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
SEARCH = WordSearch(Match('"a"', None), BookmarkFilter(), "TRUE", {}, "TRUE")


def account(number: int, total: int = 6_000) -> Account:
    return Account(number, number, "pro", 1, 1, total, total, 0, total, 0)


class Reads:
    """Records the accounts whose order is read, and waits until it is released."""

    def __init__(self) -> None:
        self.accounts: list[int] = []
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.ended = asyncio.Event()

    async def read(self, account: Account, _: WordSearch) -> None:
        self.accounts.append(account.account_id)
        self.started.set()
        try:
            await self.release.wait()
        finally:
            self.ended.set()


@pytest.fixture(autouse=True)
def without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_ahead, "_DELAY_S", 0.0)


async def test_an_account_is_read_once_whatever_its_version() -> None:
    reads = Reads()
    reads.release.set()
    ahead = OrderAhead(reads.read)

    for version in range(3):
        ahead.after(msgspec.structs.replace(account(1), version=version), SEARCH)
        await reads.ended.wait()
        await asyncio.sleep(0)
    await ahead.close()

    assert reads.accounts == [1]


async def test_only_one_order_is_read_at_a_time() -> None:
    reads = Reads()
    ahead = OrderAhead(reads.read)

    ahead.after(account(1), SEARCH)
    await reads.started.wait()
    ahead.after(account(2), SEARCH)
    await ahead.close()

    assert reads.accounts == [1]


async def test_an_account_whose_read_was_left_out_is_read_after_a_later_search() -> None:
    reads = Reads()
    ahead = OrderAhead(reads.read)
    ahead.after(account(1), SEARCH)
    await reads.started.wait()
    ahead.after(account(2), SEARCH)
    reads.release.set()
    await reads.ended.wait()
    await asyncio.sleep(0)
    reads.started.clear()

    ahead.after(account(2), SEARCH)

    await reads.started.wait()
    assert reads.accounts == [1, 2]
    await ahead.close()


async def test_a_small_library_is_not_read() -> None:
    reads = Reads()
    ahead = OrderAhead(reads.read)

    ahead.after(account(1, total=5_000), SEARCH)
    await ahead.close()

    assert not reads.accounts


async def test_closing_ends_a_read() -> None:
    reads = Reads()
    ahead = OrderAhead(reads.read)
    ahead.after(account(1), SEARCH)
    await reads.started.wait()

    await ahead.close()

    assert reads.ended.is_set()


async def test_a_read_that_is_refused_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    asked = asyncio.Event()

    async def refuse(_: Account, __: WordSearch) -> None:
        asked.set()
        raise errors.stopping()

    ahead = OrderAhead(refuse)
    ahead.after(account(1), SEARCH)
    await asked.wait()
    await asyncio.sleep(0)
    await ahead.close()

    assert not caplog.records


async def test_a_search_that_needs_the_order_waits_for_the_current_read(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_FIRST", "_FEW_JOINED", "_JOINED"):
        monkeypatch.setattr(word_hits, name, 2)
    monkeypatch.setattr(order_ahead, "_FEWEST_POSTS", 3)
    alice = (await service.build(sqlite)).alice
    texts = ["apple", *["banana"] * 9]
    await alice.save_all([make.post(text=text, sort_index=n) for n, text in enumerate(texts)])
    store, account = BookmarkStore(sqlite), await alice.account()
    rare, common = (BookmarkFilter(words=query_language.parse(q)) for q in ("apple", "banana"))
    ahead = sqlite.word_order._ahead  # noqa: SLF001 - to know when it reads
    # Until the search below has started, the background read waits for a reader.
    readers = [sqlite.slow_rows(ENDLESS, {"account_id": account.account_id}) for _ in range(2)]

    assert await store.count(account, rare) == 1
    busy = [asyncio.create_task(reader) for reader in readers]
    while not ahead._key:  # noqa: SLF001, ASYNC110 - the same
        await asyncio.sleep(0)
    counting = asyncio.create_task(store.count(account, common))
    await asyncio.sleep(0)
    for task in busy:
        task.cancel()

    async with asyncio.timeout(30):
        assert await counting == 9
    assert not ahead.reads(account, SEARCH)


async def test_the_library_closes_while_an_order_is_read(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_ahead, "_FEWEST_POSTS", 3)
    alice = (await service.build(sqlite)).alice
    await alice.save_all([make.post(text="apple", sort_index=n) for n in range(10)])
    words = query_language.parse("apple")
    count = await BookmarkStore(sqlite).count(await alice.account(), BookmarkFilter(words=words))

    # The fixture closes the library, and fails if that hangs.
    assert count == 10
