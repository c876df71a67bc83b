"""Arrays of the numbers of posts, and how near the posts are to a query.

Configures numpy for the service. Import it late: numpy takes 30 MB and a tenth of a second.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# OpenBLAS threads wait for each other by spinning, which took ten times as long on a busy machine.
# Concurrent searches share the cores better with one thread each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_TABLE", "Floats", "Integers", "NDArray", "np", "parse_numbers", "union"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
# The numbers of an account's posts are dense, so a table with one entry per number is small. Beyond
# this number it would take too much memory.
LARGEST_TABLE: Final = 20_000_000


def parse_numbers(text: str) -> Integers:
    """Reads comma-separated numbers, which a database returns faster than rows."""
    return np.fromstring(text, np.int64, sep=",") if text else np.zeros(0, np.int64)


def union(several: Sequence[Integers]) -> Integers:
    """All of them in ascending order, each once."""
    numbers = np.concatenate(several) if len(several) > 1 else several[0]
    highest = int(numbers.max(initial=0))
    if highest >= LARGEST_TABLE:
        return np.unique(numbers)
    is_used = np.zeros(highest + 1, np.bool_)
    is_used[numbers] = True
    return np.flatnonzero(is_used)


def likeness_of(columns: Floats, shares: Floats) -> Floats:
    """How near each column is to some of them, by their shares, less how near to the middle."""
    likeness: Floats = (columns @ shares - columns.mean(axis=1)) @ columns
    return likeness


class Numbers:
    """A set of post numbers with a fast membership test for whole arrays."""

    def __init__(self, numbers: Integers) -> None:
        self._count = len(numbers)
        self._sorted: Integers | None = None
        self._table: NDArray[np.bool_] | None = None
        highest = int(numbers.max()) if len(numbers) else 0
        if highest < LARGEST_TABLE:
            self._table = np.zeros(highest + 2, np.bool_)
            self._table[numbers] = True
        else:
            self._sorted = np.sort(numbers)

    def __len__(self) -> int:
        return self._count

    @classmethod
    def read(cls, text: str | None) -> "Numbers":
        return cls(parse_numbers(text or ""))

    def contains(self, numbers: Integers) -> "NDArray[np.bool_]":
        if self._table is None:
            assert self._sorted is not None
            return np.isin(numbers, self._sorted)
        # Numbers outside the table look up its last entry, which is always False.
        last = len(self._table) - 1
        if numbers.max(initial=0) > last:
            numbers = np.minimum(numbers, last)
        return self._table.take(numbers)


# The floor of the joined score of both models, calibrated as those in `embedding`. It keeps 97.8 %
# of the relevant posts. Absent topics match 0.7 % of all posts in English and 2.8 % in other
# languages, nonsense 1.2 %. A floor of 0.18 would keep 98.2 %, but absent topics would match 3.8 %.
JOINED_FLOOR: Final = 0.19
# Counts instead of the average if it is higher: the first model finds no post in another language
# than the query's.
_SECOND_ALONE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Nearness:
    """The numbers of some posts, and a score for each."""

    numbers: Integers
    scores: Floats
    # Posts with a lower score have nothing to do with the query.
    floor: float


def joined(first: Nearness, second: Nearness, *, share: float) -> Nearness:
    """The posts of both models. `share`: how much the first counts in the average.

    A post that waits for the second model keeps the score and the floor of the first.
    """
    if np.array_equal(first.numbers, second.numbers):
        scores = of_both(first.scores, second.scores, share)
        return Nearness(first.numbers, scores, JOINED_FLOOR)
    numbers = union((first.numbers, second.numbers))
    firsts, seconds = (_scores_at(numbers, each) for each in (first, second))
    scores = of_both(firsts, seconds, share)
    is_waiting = np.isnan(seconds)
    scores[is_waiting] = _below_floor_of(first, firsts[is_waiting])
    return Nearness(numbers, scores, JOINED_FLOOR)


def of_both(firsts: Floats, seconds: Floats, share: float) -> Floats:
    """Not a number if the second score is not."""
    average = np.float32(share) * firsts + np.float32(1 - share) * seconds
    # Without a score of the first model, which is not a number, the second stands alone.
    scores: Floats = np.fmax(average, np.float32(_SECOND_ALONE) * seconds)
    return scores


def _below_floor_of(first: Nearness, scores: Floats) -> Floats:
    """Lowers scores below the floor of the first model to below the floor of both."""
    highest = np.nextafter(np.float32(JOINED_FLOOR), np.float32(-1))
    below: Floats = np.where(scores < first.floor, np.minimum(scores, highest), scores)
    return below


def _scores_at(numbers: Integers, nearness: Nearness) -> Floats:
    """The scores of these posts; not a number for a post without a vector."""
    scores = np.full(len(numbers), np.nan, np.float32)
    scores[np.searchsorted(numbers, nearness.numbers)] = nearness.scores
    return scores
