"""The keys that are kept of a list are those that the database would return."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After, BookmarkFilter, Sort
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks import key_windows
from bowerbird.storage.bookmarks.key_windows import Key, KeyWindows, ListOrder

pytestmark = pytest.mark.anyio

ACCOUNT = Account(1, 1, "pro", 5, 7, 0, 0, 0, 0, 0)
TITLES = ListOrder(BookmarkFilter(), Sort("title", descending=False))
MOST_REPLIES = ListOrder(BookmarkFilter(), Sort("reply_count"))


class Keys:
    """Stands for a database: sorts all keys for each read, and counts the reads."""

    def __init__(self, keys: Sequence[Key], order: ListOrder) -> None:
        self.keys = sorted(keys, reverse=order.sort.descending)
        self.order = order
        self.read_counts: list[int] = []

    def after(self, after: After | None, limit: int) -> Sequence[Key]:
        follows = self.order.follows(after) if after else lambda _: True
        return [key for key in self.keys if follows(key)][:limit]

    def before(self, after: After, limit: int) -> Key | None:
        precedes = self.order.backwards.follows(after)
        earlier = [key for key in self.keys if precedes(key)][-limit:]
        return earlier[0] if len(earlier) == limit else None

    async def read(
        self, windows: KeyWindows, after: After | None, limit: int, account: Account = ACCOUNT
    ) -> Sequence[Any]:
        async def read(count: int) -> Sequence[Key]:
            self.read_counts.append(count)
            return self.after(after, count)

        return await windows.keys(account, self.order, after, limit, read)

    async def crawl(self, windows: KeyWindows, limit: int) -> None:
        after, expected = None, list(self.keys)
        while expected:
            page = await self.read(windows, after, limit)
            assert list(page) == expected[:limit]
            del expected[:limit]
            after = After(*page[-1])


keys = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=60, unique=True)
ends = st.one_of(
    st.none(),
    st.builds(After, st.integers(-1, 5), st.one_of(st.none(), st.integers(-1, 31))),
)
reads = st.lists(st.tuples(ends, st.integers(1, 9), st.booleans()), max_size=25)


@given(keys=keys, order=st.sampled_from([TITLES, MOST_REPLIES]), reads=reads)
def test_any_reads_of_a_list_return_what_is_stored(
    keys: list[Key], order: ListOrder, reads: list[tuple[After | None, int, bool]]
) -> None:
    stored, windows = Keys(keys, order), KeyWindows()
    for after, limit, is_followed in reads:
        page = asyncio.run(stored.read(windows, after, limit))
        assert list(page) == stored.after(after, limit)
        if page and is_followed:
            end = After(*page[-1])
            assert asyncio.run(stored.read(windows, end, limit)) == stored.after(end, limit)
        if after is not None:
            is_known, key = windows.before(ACCOUNT, order, after, limit)
            assert not is_known or key == stored.before(after, limit)


async def test_a_crawl_reads_further_ahead_each_time() -> None:
    stored = Keys([(number % 7, number) for number in range(60_000)], MOST_REPLIES)
    windows = KeyWindows()

    await stored.crawl(windows, 100)

    assert stored.read_counts[:4] == [100, 400, 1_600, 6_400]
    assert max(stored.read_counts) == 10_000
    assert len(stored.read_counts) == 10


async def test_a_page_far_away_reads_only_itself() -> None:
    stored, windows = Keys([(number, number) for number in range(900)], TITLES), KeyWindows()
    await stored.read(windows, None, 100)

    await stored.read(windows, After(700, 700), 100)
    await stored.read(windows, After(700, 700), 100)

    assert stored.read_counts == [100, 100]


@pytest.mark.parametrize("change", [{"version": 8}, {"epoch": 6}, {"account_id": 2}])
async def test_a_changed_or_another_library_is_read_again(change: dict[str, int]) -> None:
    stored, windows = Keys([(1, 1), (2, 2)], TITLES), KeyWindows()
    await stored.read(windows, None, 5)
    stored.keys = [(1, 1)]

    found = await stored.read(windows, None, 5, msgspec.structs.replace(ACCOUNT, **change))

    assert found == [(1, 1)]


async def test_posts_of_a_run_named_posts_and_words_are_always_read() -> None:
    words = BookmarkFilter(words=query_language.parse("bower"))
    for filter in (BookmarkFilter(import_run="r"), BookmarkFilter(post_ids=("1",)), words):
        stored = Keys([(1, 1), (2, 2)], ListOrder(filter, Sort("title")))
        windows = KeyWindows()

        await stored.read(windows, None, 1)
        await stored.read(windows, None, 1)

        assert stored.read_counts == [1, 1]


_LONG: Final = "x" * 128


async def test_kept_keys_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_windows, "_KEPT_BYTES", 200_000)
    windows = KeyWindows()
    lists = [
        Keys(
            [(f"{_LONG}{number}", number) for number in range(200)],
            ListOrder(BookmarkFilter(tag=str(place)), Sort("title")),
        )
        for place in range(20)
    ]

    for stored in lists:
        await stored.crawl(windows, 50)
        assert windows.size <= 200_000
    await lists[0].read(windows, None, 50)
    await lists[0].read(windows, None, 50)

    assert windows.size > 50_000
    assert lists[0].read_counts[-1] == 50, "it was forgotten"
    assert lists[0].read_counts.count(50) == 2, "and kept again"


async def test_a_window_too_large_to_keep_is_not_read_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_windows, "_MOST_BYTES_PER_WINDOW", 10_000)
    stored = Keys([(f"{_LONG}{number:03}", number) for number in range(200)], TITLES)
    windows = KeyWindows()

    await stored.crawl(windows, 50)

    assert set(stored.read_counts) == {50}
    assert windows.size == 0
