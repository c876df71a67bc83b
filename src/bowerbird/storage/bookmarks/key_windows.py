"""Remembers parts of long lists whose order no index has, until the library changes.

Such a list is sorted as a whole for every page: a million titles take 160 ms, for 100 of them as
for 10,000. So the keys that were read are kept, and a list that goes on reads further ahead
each time. The first page of a list costs what it costs without this.
"""

import operator
import sys
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After, BookmarkFilter, Sort
from bowerbird.storage.database import Row

# The sort value and the number of a bookmark.
Key = tuple[Any, int]

_GROWTH: Final = 4
_MOST_KEYS: Final = 10_000
_WINDOWS_PER_LIST: Final = 4
_KEPT_BYTES: Final = 32 * 1024 * 1024
# One list must not displace all others.
_MOST_BYTES_PER_WINDOW: Final = _KEPT_BYTES // 8
# The tuple, its place in the list, and the number.
_BYTES_PER_KEY: Final = 96
# The filter, and the objects around the keys.
_BYTES_PER_WINDOW: Final = 4_096


class ListOrder(Struct, frozen=True):
    """The bookmarks of a filter in an order."""

    filter: BookmarkFilter
    sort: Sort

    @property
    def is_kept(self) -> bool:
        # A list of posts and a query of words may be long themselves. The posts of a run are
        # forgotten without a new version of the library.
        filter = self.filter
        return filter.post_ids is None and filter.import_run is None and filter.words is None

    def follows(self, after: After) -> Callable[[Key], bool]:
        """Whether a key comes after the end of a page: the condition of the statement."""
        is_after = operator.lt if self.sort.descending else operator.gt
        if after.number is None:
            return lambda key: is_after(key[0], after.value)
        end = (after.value, after.number)
        return lambda key: is_after(key, end)

    @property
    def backwards(self) -> "ListOrder":
        return ListOrder(self.filter, Sort(self.sort.field, not self.sort.descending))


class _Window(Struct, frozen=True):
    """Consecutive keys of a list, after `start`."""

    start: After | None
    keys: Sequence[Key]
    # Whether no key follows.
    is_last: bool
    size: int

    def first_after(self, order: ListOrder, after: After | None) -> int | None:
        """The place of the first key after the end of a page; None if that is elsewhere."""
        if after == self.start:
            return 0
        if after is None:
            return None
        place = _first(self.keys, order.follows(after))
        starts_before = place > 0 or self.start is None
        ends_after = place < len(self.keys) or self.is_last or self.keys[-1] == _key(after)
        return place if starts_before and ends_after else None


class _Windows(Struct):
    """Those of a list, while the library has this version."""

    epoch: int
    version: int
    windows: list[_Window]

    @property
    def size(self) -> int:
        return sum(window.size for window in self.windows)


class KeyWindows:
    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[int, ListOrder], _Windows] = OrderedDict()
        self._bytes = 0

    @property
    def size(self) -> int:
        """The bytes of everything that is kept."""
        return self._bytes

    async def keys(
        self,
        account: Account,
        order: ListOrder,
        after: After | None,
        limit: int,
        read: Callable[[int], Awaitable[Sequence[Row]]],
    ) -> Sequence[Row]:
        """Up to `limit` keys of a list after the end of a page. `read` reads as many as asked."""
        if not order.is_kept:
            return await read(limit)
        count = limit
        for window in self._windows(account, order):
            first = window.first_after(order, after)
            if first is None:
                continue
            if window.is_last or len(window.keys) - first >= limit:
                return window.keys[first : first + limit]
            # The end of the page is one of these keys, so the list goes on.
            if first:
                count = max(count, min(len(window.keys) * _GROWTH, _MOST_KEYS))
        keys = [(row[0], row[1]) for row in await read(count)]
        self._keep(account, order, _window(after, keys, is_last=len(keys) < count))
        return keys[:limit]

    def before(
        self, account: Account, order: ListOrder, after: After, limit: int
    ) -> tuple[bool, Key | None]:
        """Whether the start of the page before `after` is known, and the key before that page.

        No key: the page starts the list.
        """
        precedes = order.backwards.follows(after)
        for window in self._windows(account, order):
            place = _first(window.keys, lambda key: not precedes(key))
            if place == len(window.keys) and not window.is_last:
                continue
            if place >= limit:
                return True, window.keys[place - limit]
            if window.start is None:
                return True, None
        return False, None

    def _windows(self, account: Account, order: ListOrder) -> Sequence[_Window]:
        key = (account.account_id, order)
        kept = self._lists.get(key)
        if kept is None:
            return ()
        if (kept.epoch, kept.version) != (account.epoch, account.version):
            self._forget(key)
            return ()
        self._lists.move_to_end(key)
        return kept.windows

    def _keep(self, account: Account, order: ListOrder, window: _Window) -> None:
        if window.size > _MOST_BYTES_PER_WINDOW:
            return
        key = (account.account_id, order)
        known = self._windows(account, order)
        # The part that was too short for the page is no longer needed.
        kept = [each for each in known if each.start != window.start][1 - _WINDOWS_PER_LIST :]
        self._forget(key)
        self._lists[key] = _Windows(account.epoch, account.version, [*kept, window])
        self._bytes += self._lists[key].size
        while self._bytes > _KEPT_BYTES:
            self._forget(next(iter(self._lists)))

    def _forget(self, key: tuple[int, ListOrder]) -> None:
        if kept := self._lists.pop(key, None):
            self._bytes -= kept.size


def _first(keys: Sequence[Key], condition: Callable[[Key], bool]) -> int:
    """The place of the first key that meets a condition, as all keys after it do."""
    return bisect_left(keys, 1, key=condition)


def _key(after: After) -> tuple[Any, int | None]:
    return after.value, after.number


def _window(start: After | None, keys: Sequence[Key], *, is_last: bool) -> _Window:
    size = _BYTES_PER_WINDOW + _BYTES_PER_KEY * len(keys)
    return _Window(start, keys, is_last, size + sum([sys.getsizeof(value) for value, _ in keys]))
