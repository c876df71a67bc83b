"""Caches the posts of each common word of a large library.

FTS5 returns one hit after another: counting a word of 330,000 posts takes 30 ms, and looking at
their flags 25 more. As a set with one bit per post, it takes less than 1 ms. The sets are read in
the background after the first search, the most common word first, and are valid until words of any
post change. Flags and labels do not change them.
"""

import asyncio
import math
import sys
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import apsw

from bowerbird.errors import Refusal
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.storage.keyword_queries import FTS5
from bowerbird.storage.places import place_values
from bowerbird.storage.queries import Queries

T = TypeVar("T")

# In a smaller library, FTS5 returns every word within 10 ms.
_FEWEST_POSTS: Final = 50_000
# A word in at least this part of the posts is common.
_PART_OF_POSTS: Final = 1 / 16
_MOST_WORDS: Final = 64
# Of one account, and of all of them.
_ACCOUNT_BYTES: Final = 16 * 1024 * 1024
_ENTRY_BYTES: Final = 1_000
_KEPT_BYTES: Final = 32 * 1024 * 1024
# The search that comes first has answered by then.
_DELAY_S: Final = 0.1
# Times the duration of a read, before the next one.
_REST: Final = 1.0
# Times the duration of all reads, before they are repeated: because words have changed, or because
# the sets of other accounts took their place.
_PAUSE: Final = 50.0
_PAUSED_ACCOUNTS: Final = 4_096
_WAITING_ACCOUNTS: Final = 64
_ALL: Final = -1


class Reading(Protocol):
    """Runs an account's work on a reader thread with its own connection."""

    def __call__(self, owner: int, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]: ...


@dataclass(slots=True)
class CommonWords:
    """For one state of the index. Words are added on the event loop and read on other threads."""

    epoch: int
    state: bytes
    sets: dict[str, int] = field(default_factory=dict, repr=False)
    # The posts with any word that begins so, of recent searches.
    prefixes: OrderedDict[str, int] = field(default_factory=OrderedDict, repr=False)
    is_stale: bool = False
    size: int = _ENTRY_BYTES

    def add(self, word: str, numbers: int) -> bool:
        """False if the account has no room for it."""
        size = self.size + _size(numbers)
        if size > _ACCOUNT_BYTES:
            return False
        self.sets[word] = numbers
        self.size = size
        return True

    def add_prefixes(self, used: Mapping[str, int]) -> None:
        for prefix, numbers in used.items():
            if prefix not in self.prefixes:
                self.size += _size(numbers)
            self.prefixes[prefix] = numbers
            self.prefixes.move_to_end(prefix)
        while self.prefixes and self.size > _ACCOUNT_BYTES:
            self.size -= _size(self.prefixes.popitem(last=False)[1])

    def is_valid(self, connection: apsw.Connection, sql: Queries) -> bool:
        self.is_stale = self.is_stale or state_of(connection, sql) != self.state
        return not self.is_stale


def _size(numbers: int) -> int:
    return sys.getsizeof(numbers) + _ENTRY_BYTES


def state_of(connection: apsw.Connection, sql: Queries) -> bytes:
    rows: list[Any] = connection.execute(sql["index_state"]).fetchall()
    return bytes(rows[0][0])


class CommonWordsAhead:
    """Reads the sets of one account at a time, with rests, and keeps those used last."""

    def __init__(
        self, reading: Reading, sql: Queries, order_is_read: Callable[[], Awaitable[None]]
    ) -> None:
        """`order_is_read` waits while an order is read, which searches need sooner."""
        self._reading = reading
        self._sql = sql
        self._order_is_read = order_is_read
        self._kept: OrderedDict[int, CommonWords] = OrderedDict()
        # When the sets of an account may be read again.
        self._due = LruCache(_PAUSED_ACCOUNTS)
        self._waiting: dict[int, Account] = {}
        self._task: asyncio.Task[None] | None = None

    def of(self, account: Account) -> CommonWords | None:
        kept = self._kept.get(account.account_id)
        if kept is None or kept.epoch != account.epoch or kept.is_stale:
            return None
        self._kept.move_to_end(account.account_id)
        return kept

    def may_have_sets(self, account: Account) -> bool:
        return account.total >= _FEWEST_POSTS

    def after(self, account: Account) -> None:
        """Called after a search."""
        if not self.may_have_sets(account) or self.of(account) is not None:
            return
        kept = self._kept.get(account.account_id)
        if kept is not None and kept.is_stale:
            # Searches that run on other threads have it themselves.
            del self._kept[account.account_id]
        if time.monotonic() < (self._due.get(account.account_id) or 0.0):
            return
        if len(self._waiting) < _WAITING_ACCOUNTS:
            self._waiting[account.account_id] = account
        if self._task is None:
            # Without the context of the request, which has its own limits.
            self._task = asyncio.create_task(self._run(), context=Context())

    def add_prefixes(self, common: CommonWords, used: Mapping[str, int]) -> None:
        """Keeps the sets that a search has read or used."""
        common.add_prefixes(used)
        self._drop_oldest()

    async def ended(self) -> None:
        """Waits for the current reads."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(_DELAY_S)
                await self._order_is_read()
                account = self._waiting.pop(next(iter(self._waiting)))
                try:
                    await self._read(account)
                except (Refusal, apsw.Error, MemoryError):
                    # The readers are busy, or the server stops. Searches do without the sets, and
                    # a later one starts this again.
                    continue
        finally:
            self._task = None

    async def _read(self, account: Account) -> None:
        begun = time.monotonic()
        # Searches meanwhile must not ask for the same.
        self._due.put(account.account_id, math.inf)
        try:
            await self._read_sets(account)
        finally:
            ended = time.monotonic()
            self._due.put(account.account_id, ended + _PAUSE * (ended - begun))

    async def _read_sets(self, account: Account) -> None:
        state, words = await self._reading(account.account_id, self._words_of(account))
        common = CommonWords(account.epoch, state)
        self._keep(account, common)
        for word in words:
            begun = time.monotonic()
            numbers = await self._reading(account.account_id, self._set_of(account, word, state))
            if numbers is None:
                common.is_stale = True
                return
            if not common.add(word, numbers):
                return
            self._drop_oldest()
            await asyncio.sleep(_REST * (time.monotonic() - begun))

    def _keep(self, account: Account, common: CommonWords) -> None:
        self._kept[account.account_id] = common
        self._kept.move_to_end(account.account_id)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        while len(self._kept) > 1 and sum(each.size for each in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)

    def _words_of(self, account: Account) -> Callable[[apsw.Connection], tuple[bytes, list[str]]]:
        values: dict[str, Any] = {
            "account_id": account.account_id,
            "fewest": _PART_OF_POSTS * account.total,
            "limit": _MOST_WORDS,
        }

        def work(connection: apsw.Connection) -> tuple[bytes, list[str]]:
            with connection:
                rows: list[Any] = connection.execute(self._sql["common_words"], values).fetchall()
                state = state_of(connection, self._sql)
            return state, [row[0] for row in rows]

        return work

    def _set_of(
        self, account: Account, word: str, state: bytes
    ) -> Callable[[apsw.Connection], int | None]:
        values = {"wanted": FTS5.quoted(word), **place_values(account), "limit": _ALL}

        def work(connection: apsw.Connection) -> int | None:
            from bowerbird.storage.sqlite.words import number_sets  # noqa: PLC0415 - imports numpy

            with connection:
                if state_of(connection, self._sql) != state:
                    return None
                rows: list[Any] = connection.execute(self._sql["first_hits"], values).fetchall()
            return number_sets.set_in([rows[0][0]] if rows[0][0] else ())

        return work
