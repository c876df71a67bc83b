"""SQLite's fast path for a keyword search in the default order.

It remembers what it found in a library until the library changes: the order, and the hits.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final, Protocol, TypeVar

import apsw

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After
from bowerbird.storage.database import WordSearch
from bowerbird.storage.observing import observed
from bowerbird.storage.queries import Queries
from bowerbird.storage.sqlite.words.hit_tables import (
    FewHits,
    Hits,
    Key,
    ManyHits,
    Order,
    StaleError,
)
from bowerbird.storage.sqlite.words.word_hits import HitReader, expression_of
from bowerbird.storage.sqlite.words.word_prefixes import Expressions, has_prefix

T = TypeVar("T")

_KEPT_COUNTS: Final = 1_024
_KEPT_BYTES: Final = 64 * 1024 * 1024
# Of an entry with a short query, besides its tables.
_ENTRY_BYTES: Final = 1_000
# Longer lists of matches are not kept.
_MATCHES_CHARACTERS: Final = 20_000


class Reading(Protocol):
    """Runs an account's work on a reader thread with its own connection."""

    def __call__(self, owner: int, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]: ...


class WordOrder:
    def __init__(self, reading: Reading, sql: Queries) -> None:
        self._reading = reading
        self._sql = sql
        self._kept = _Kept()

    @observed("word_order.page")
    async def page(
        self, account: Account, search: WordSearch, after: After | None, limit: int
    ) -> Sequence[Key]:
        """Up to `limit` hits as (sort index, number), newest first."""
        hits = await self._found(account, search)
        if isinstance(hits, FewHits):
            return hits.page(after, limit)
        many, order = hits, self._known_order(account, search)
        written = self._written(account, search)

        def work(connection: apsw.Connection) -> tuple[Order | None, Hits, Sequence[Key]]:
            reader = HitReader(connection, self._sql, account, search, order)
            reader.written = written
            try:
                keys, found = reader.page(many, after, limit)
            except StaleError:
                # In a transaction all reads are of the same state.
                with connection:
                    return _read_again(reader, after, limit)
            return reader.order, found, keys

        read, found, keys = await self._reading(account.account_id, work)
        self._keep(account, search, read, found)
        return keys

    @observed("word_order.count")
    async def count(self, account: Account, search: WordSearch) -> int:
        return (await self._found(account, search)).count

    def matches(self, account: Account, expression: str) -> str | None:
        numbers: str | None = self._kept.get(_matches_key(account, expression), account)
        return numbers

    def keep_matches(self, account: Account, expression: str, numbers: str) -> None:
        if len(numbers) <= _MATCHES_CHARACTERS:
            size = len(numbers) + _ENTRY_BYTES + 4 * len(expression)
            self._kept.put(_matches_key(account, expression), account, numbers, size)

    async def _found(self, account: Account, search: WordSearch) -> Hits:
        kept: Hits | None = self._kept.get(_hits_key(account, search), account)
        if kept is not None:
            return kept
        reader, hits = await self._read_hits(account, search)
        self._keep(account, search, reader.order, hits)
        if reader.matches is not None:
            self.keep_matches(account, expression_of(search), reader.matches)
        if isinstance(hits, ManyHits) and (written := reader.written) is not None:
            # A page needs it again.
            size = _ENTRY_BYTES + 4 * sum(map(len, written.texts))
            self._kept.put(_written_key(account, search), account, written, size)
        return hits

    def _written(self, account: Account, search: WordSearch) -> Expressions | None:
        written: Expressions | None = self._kept.get(_written_key(account, search), account)
        return written

    async def _read_hits(self, account: Account, search: WordSearch) -> tuple[HitReader, Hits]:
        order = self._known_order(account, search)
        matches = self.matches(account, expression_of(search))
        # The words of a prefix and their hits are read by several statements.
        has_parts = has_prefix(expression_of(search))

        def work(connection: apsw.Connection) -> tuple[HitReader, Hits]:
            reader = HitReader(connection, self._sql, account, search, order)
            reader.matches = matches
            try:
                with connection if has_parts else nullcontext():
                    hits = reader.hits()
            except StaleError:
                with connection:
                    reader.order = reader.matches = reader.written = None
                    hits = reader.hits()
            return reader, hits

        return await self._reading(account.account_id, work)

    def _known_order(self, account: Account, search: WordSearch) -> Order | None:
        order: Order | None = self._kept.get(_order_key(account, search), account)
        return order

    def _keep(self, account: Account, search: WordSearch, order: Order | None, hits: Hits) -> None:
        if order is not None:
            self._kept.put(_order_key(account, search), account, order, order.size)
        size = hits.size + _ENTRY_BYTES + 4 * len(expression_of(search))
        if search.labelled:
            # A label takes ten times as much in the key as in the list of their numbers.
            texts = (value for value in search.values.values() if isinstance(value, str))
            size += 10 * sum(map(len, texts))
        self._kept.put(_hits_key(account, search), account, hits, size)


class _Kept:
    """The most recently used values of libraries, each for one version, up to a size in bytes."""

    def __init__(self) -> None:
        self._values: OrderedDict[Any, tuple[tuple[int, int], Any, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Any, account: Account) -> Any:
        kept = self._values.get(key)
        if kept is None or kept[0] != (account.epoch, account.version):
            return None
        self._values.move_to_end(key)
        return kept[1]

    def put(self, key: Any, account: Account, value: Any, size: int) -> None:
        replaced = self._values.pop(key, None)
        self._values[key] = ((account.epoch, account.version), value, size)
        self._bytes += size - (replaced[2] if replaced else 0)
        while len(self._values) > 1 and (
            self._bytes > _KEPT_BYTES or len(self._values) > _KEPT_COUNTS
        ):
            self._bytes -= self._values.popitem(last=False)[1][2]


def _read_again(
    reader: HitReader, after: After | None, limit: int
) -> tuple[Order | None, Hits, Sequence[Key]]:
    reader.order = reader.written = None
    hits = reader.hits()
    if isinstance(hits, ManyHits):
        keys, hits = reader.page(hits, after, limit)
        return reader.order, hits, keys
    return reader.order, hits, hits.page(after, limit)


def _order_key(account: Account, search: WordSearch) -> Any:
    return account.account_id, search.flags


def _written_key(account: Account, search: WordSearch) -> Any:
    return "written", *_hits_key(account, search)


def _matches_key(account: Account, expression: str) -> Any:
    return "matches", account.account_id, expression


def _hits_key(account: Account, search: WordSearch) -> Any:
    match = search.match
    return account.account_id, search.filter, search.labelled, match.wanted, match.unwanted
