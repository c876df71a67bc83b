"""What a search has in memory of a library: its order, and the hits of a query."""

import bisect
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

from bowerbird.model.filters import After
from bowerbird.storage.sqlite.words.number_texts import PART, let_others_run

Key = tuple[int, int]

# How many bookmarks are looked at together.
_STEP: Final = 1_024


class StaleError(Exception):
    """The library has changed since its order was read."""


@dataclass(slots=True)
class Order:
    """A library's visible bookmarks in the default order, and a table of their numbers."""

    numbers: "array[int]"
    is_visible: bytes
    _ranks: "array[int] | None" = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """With the ranks, although most libraries need none."""
        return self.numbers.itemsize * len(self.numbers) + 5 * len(self.is_visible)

    def ranked(self) -> "array[int]":
        """The rank of each number."""
        if self._ranks is None:
            ranks = array("I", bytes(4)) * len(self.is_visible)
            for first in range(0, len(self.numbers), PART):
                for rank, number in enumerate(self.numbers[first : first + PART], first):
                    ranks[number] = rank
                let_others_run()
            self._ranks = ranks
        return self._ranks

    def sorted(self, numbers: Sequence[int]) -> "array[int]":
        """Visible bookmarks in the default order."""
        ranks = self.ranked()
        is_visible = self.is_visible
        if numbers and (
            max(numbers) >= len(is_visible) or not all(map(is_visible.__getitem__, numbers))
        ):
            raise StaleError
        return array(self.numbers.typecode, sorted(numbers, key=ranks.__getitem__))


@dataclass(frozen=True, slots=True)
class FewHits:
    """All hits in the default order, with their sort indexes."""

    sort_indexes: "array[int]"
    numbers: "array[int]"

    @property
    def count(self) -> int:
        return len(self.numbers)

    @property
    def size(self) -> int:
        return 16 * len(self.numbers)

    def page(self, after: After | None, limit: int) -> list[Key]:
        first = 0
        if after is not None:
            first = bisect.bisect_right(
                range(self.count),
                place_of(after),
                key=lambda i: (-self.sort_indexes[i], -self.numbers[i]),
            )
        span = slice(first, first + limit)
        return list(zip(self.sort_indexes[span], self.numbers[span], strict=True))


@dataclass(frozen=True, slots=True)
class ManyHits:
    """How many hits there are, and as far as they were read: all in order, or which they are."""

    count: int
    ordered: "array[int] | None" = field(default=None, repr=False)
    # One byte per number.
    is_hit: bytes | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        ordered = 0 if self.ordered is None else 8 * len(self.ordered)
        return ordered + len(self.is_hit or b"")


Hits = FewHits | ManyHits


def walk(numbers: "array[int]", is_hit: bytes, first: int, limit: int) -> list[int]:
    """The first hits in the order, from a rank on."""
    found: list[int] = []
    while len(found) < limit and first < len(numbers):
        step = numbers[first : first + _STEP]
        found += compress(step, map(is_hit.__getitem__, step))
        first += _STEP
    return found


def place_of(after: After) -> Key:
    return -int(after.value), -(-1 if after.number is None else after.number)
