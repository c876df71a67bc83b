"""Reads the hits of a keyword search and the default order of a library, on a reader thread.

FTS5 finds a word in a third of 100,000 posts in 4 ms, but joining the flags of each hit takes 40
ms. So a library has a table of its visible bookmarks in memory, one byte per number, and FTS5 looks
at that alone. Few hits are joined, and need no table.
"""

import bisect
from array import array
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final

import apsw

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After
from bowerbird.storage.database import WordSearch
from bowerbird.storage.places import place_values
from bowerbird.storage.queries import Queries
from bowerbird.storage.sqlite.words.hit_tables import (
    FewHits,
    Hits,
    Key,
    ManyHits,
    Order,
    StaleError,
    place_of,
    walk,
)
from bowerbird.storage.sqlite.words.number_texts import json_list, parsed, table_of
from bowerbird.storage.sqlite.words.word_prefixes import Expressions, with_words

# This many hits are read to find out how many there may be.
_FIRST: Final = 2_000
# Few hits are joined with their flags and sort indexes, so that a page needs no other read.
_FEW_JOINED: Final = 200
# If the order is not known, more are joined: up to this many, or as many as can be joined while the
# order is read.
_JOINED: Final = 5_000
_READ_PER_JOINED: Final = 20
# Up to this many hits are kept in order. Of more, FTS5 counts all and returns a page.
_SORTED: Final = 25_000
_ALL: Final = -1
_LARGEST: Final = 2**32


class HitReader:
    """The reads of one search. `order` is read if it is needed and not given."""

    def __init__(
        self,
        connection: apsw.Connection,
        sql: Queries,
        account: Account,
        search: WordSearch,
        order: Order | None,
    ) -> None:
        self._connection = connection
        self._sql = sql
        self._account = account
        self._search = search
        self.order = order
        # The words as FTS5 gets them, and the numbers of all posts that match them, if known.
        self.written: Expressions | None = None
        self.matches: str | None = None

    def hits(self) -> Hits:
        if self.matches is not None:
            return self._hits_of(parsed(self.matches))
        may_repeat = self._expressions().may_repeat
        text = self._text("first_hits", limit=_FIRST + 1 if may_repeat else _ALL)
        found = parsed(text)
        if not may_repeat or len(found) <= _FIRST:
            self.matches = text
            return self._hits_of(found)
        # The first ones tell how dense the hits are.
        expected = len(found) * self._account.total / found[-1]
        if self._search.is_flags_only and expected > _SORTED:
            allowed = self.known_order().is_visible
            return ManyHits(self._value("count_among", allowed=allowed))
        if expected <= self._most_joined():
            return self._joined(self._numbers("first_hits", limit=_ALL))
        return self._visible_hits(self._all_among(self._allowed()))

    def page(self, hits: ManyHits, after: After | None, limit: int) -> tuple[list[Key], ManyHits]:
        """Up to `limit` hits, newest first, and the hits with a table if it was needed."""
        if hits.ordered is not None:
            first = self._first_after(hits.ordered, after)
            return self._keys(hits.ordered[first : first + limit]), hits
        order = self.known_order()
        first = self._first_after(order.numbers, after)
        found: list[int] = []
        if hits.is_hit is None:
            window = 2 * (limit + 10) * len(order.numbers) // max(hits.count, 1)
            found = self._among(order.numbers[first : first + window], order)
            if len(found) < limit and first + window < len(order.numbers):
                hits = ManyHits(hits.count, is_hit=table_of(self._all_among(order.is_visible)))
        if hits.is_hit is not None:
            # No bookmark with a higher number is a hit.
            is_hit = hits.is_hit.ljust(len(order.is_visible), b"\0")
            found = walk(order.numbers, is_hit, first, limit)
        return self._keys(found[:limit]), hits

    def _hits_of(self, numbers: "array[int]") -> Hits:
        """The hits among these matches of the words."""
        if self._search.is_flags_only:
            if len(numbers) <= self._most_joined():
                return self._joined(numbers)
            return self._visible_hits(_known(numbers, self.known_order().is_visible))
        if len(numbers) <= _JOINED:
            return self._joined(numbers)
        return self._visible_hits(_known(numbers, self._allowed()))

    def _visible_hits(self, numbers: Sequence[int]) -> Hits:
        """The hits in the numbers of bookmarks that the filter selects."""
        if len(numbers) <= self._most_joined():
            return self._joined(numbers)
        if len(numbers) <= _SORTED:
            return ManyHits(len(numbers), ordered=self.known_order().sorted(numbers))
        return ManyHits(len(numbers), is_hit=table_of(numbers))

    def _most_joined(self) -> int:
        """With their flags, instead of looking at the order."""
        if self.order is not None:
            return _FEW_JOINED
        return min(_JOINED, max(_FEW_JOINED, self._account.total // _READ_PER_JOINED))

    def _joined(self, numbers: Sequence[int]) -> FewHits:
        if not numbers:
            return FewHits(array("q"), array("q"))
        sql = self._sql["keys_of_filter"].format(filters=self._search.conditions)
        values = {**self._filter_values(), "numbers": json_list(numbers)}
        rows = _rows(self._connection, sql, values)
        return FewHits(array("q", [row[0] for row in rows]), array("q", [row[1] for row in rows]))

    def _allowed(self) -> bytes:
        """A table of the bookmarks that the filter selects."""
        if self._search.is_flags_only:
            return self.known_order().is_visible
        sql = self._sql["numbers_of_filter"].format(filters=self._search.conditions)
        return table_of(_numbers(self._connection, sql, self._filter_values()))

    def known_order(self) -> Order:
        if self.order is None:
            self.order = self._read_order()
        return self.order

    def _read_order(self) -> Order:
        sql = self._sql["order_of_all"].format(filters=self._search.flags)
        numbers = _numbers(self._connection, sql, {"account_id": self._account.account_id})
        table = table_of(numbers)
        return Order(array("I" if len(table) <= _LARGEST else "q", numbers), table)

    def _first_after(self, ordered: "array[int]", after: After | None) -> int:
        """Where the first bookmark after a page's end is, even if the end was deleted since."""
        if after is None:
            return 0
        return bisect.bisect_right(ordered, place_of(after), key=self._place_of)

    def _place_of(self, number: int) -> Key:
        values = {"account_id": self._account.account_id, "number": number}
        rows = _rows(self._connection, self._sql["sort_index"], values)
        if not rows:
            raise StaleError
        return -rows[0][0], -number

    def _keys(self, numbers: Sequence[int]) -> list[Key]:
        sql = self._sql["keys_of_filter"].format(filters="TRUE")
        values = {"account_id": self._account.account_id, "numbers": json_list(numbers)}
        rows = _rows(self._connection, sql, values)
        keys = [(row[0], row[1]) for row in rows]
        if [number for _, number in keys] != list(numbers):
            raise StaleError
        return keys

    def _among(self, near: Sequence[int], order: Order) -> list[int]:
        """The hits among neighbours in the order."""
        # They were mostly saved together, so their numbers are near too, and FTS5 skips the hits
        # outside of them.
        place = place_values(self._account)["place"]
        found = self._numbers(
            "hits_among",
            allowed=order.is_visible,
            first_place=place + min(near, default=0),
            last_place=place + max(near, default=0),
        )
        hits = frozenset(found)
        return [number for number in near if number in hits]

    def _all_among(self, allowed: bytes) -> "array[int]":
        places = place_values(self._account)
        return self._numbers(
            "hits_among",
            allowed=allowed,
            first_place=places["place"],
            last_place=places["place_end"],
        )

    def _numbers(self, name: str, **values: Any) -> "array[int]":
        return parsed(self._text(name, **values))

    def _text(self, name: str, **values: Any) -> str:
        return _text(self._connection, self._sql[name], self._values(values))

    def _value(self, name: str, **values: Any) -> int:
        rows = _rows(self._connection, self._sql[name], self._values(values))
        return int(rows[0][0])

    def _values(self, more: Mapping[str, Any]) -> dict[str, Any]:
        return {"wanted": self._expressions().texts[0], **place_values(self._account), **more}

    def _filter_values(self) -> dict[str, Any]:
        names = self._search.expressions
        if not names:
            return dict(self._search.values)
        return {
            **self._search.values,
            **dict(zip(names, self._expressions().texts[1:], strict=True)),
        }

    def _expressions(self) -> Expressions:
        """The words, and the queries among the values of the filter."""
        if self.written is None:
            search = self._search
            texts = [expression_of(search), *(search.values[name] for name in search.expressions)]
            self.written = with_words(self._connection, self._sql, self._account, texts)
        return self.written


def expression_of(search: WordSearch) -> str:
    """What the words of a search match, for FTS5."""
    match = search.match
    assert match.wanted is not None
    if match.unwanted is None:
        return match.wanted
    return f"({match.wanted}) NOT ({match.unwanted})"


def _numbers(connection: apsw.Connection, sql: str, values: Mapping[str, Any]) -> "array[int]":
    return parsed(_text(connection, sql, values))


def _text(connection: apsw.Connection, sql: str, values: Mapping[str, Any]) -> str:
    return _rows(connection, sql, values)[0][0] or ""


def _rows(connection: apsw.Connection, sql: str, values: Mapping[str, Any]) -> list[Any]:
    return connection.execute(sql, values).fetchall()


def _known(numbers: "array[int]", is_known: bytes) -> "array[int]":
    """The numbers, of an ascending array, that are in a table."""
    known = numbers[: bisect.bisect_left(numbers, len(is_known))]
    return array("q", compress(known, map(is_known.__getitem__, known)))
