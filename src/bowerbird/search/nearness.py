"""How near posts are to a query, by one model or by two."""

from dataclasses import dataclass
from typing import Final

from bowerbird.search.arrays import Floats, Integers, NDArray, np
from bowerbird.search.floors import JOINED_FLOOR

# The share of the first model in the average of both. The first model sees little more than the
# language in other scripts than Latin.
_FIRST_SHARE, _FIRST_SHARE_OTHER_SCRIPT = 0.5, 0.3
# Counts instead of the average if it is higher: the first model finds no post in another language
# than the query's.
_SECOND_ALONE: Final = 0.9
# Above this number, a table with one score per number would take too much memory.
_MAX_TABLE_SIZE: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Nearness:
    """The numbers of some posts, and a score for each."""

    numbers: Integers
    scores: Floats
    # Posts with a lower score have nothing to do with the query.
    floor: float

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def is_near(self) -> "NDArray[np.bool_]":
        return self.scores >= self.floor

    def near(self) -> "Nearness":
        """Without the posts below the floor."""
        is_near = self.is_near
        return Nearness(self.numbers[is_near], self.scores[is_near], self.floor)

    def best(self, limit: int) -> list[int]:
        """The numbers of the nearest posts, best first."""
        places = best_places(self.scores, limit)
        numbers, scores = self.numbers[places], self.scores[places]
        # Equal scores: the newest first, so that the order is the same on every machine.
        ordered: list[int] = numbers[np.lexsort((-numbers, -scores))].tolist()
        return ordered


def joined(first: Nearness, second: Nearness, *, is_in_other_script: bool) -> Nearness:
    """The posts of both models. A post that one of them lacks has a score of 0 there."""
    numbers, firsts, seconds = _aligned(first, second)
    share = np.float32(_FIRST_SHARE_OTHER_SCRIPT if is_in_other_script else _FIRST_SHARE)
    average = share * firsts + (1 - share) * seconds
    scores = np.maximum(average, np.float32(_SECOND_ALONE) * seconds)
    return Nearness(numbers, scores, JOINED_FLOOR)


def _aligned(first: Nearness, second: Nearness) -> tuple[Integers, Floats, Floats]:
    if np.array_equal(first.numbers, second.numbers):
        return first.numbers, first.scores, second.scores
    both = np.concatenate((first.numbers, second.numbers))
    highest = int(both.max(initial=0))
    if highest < _MAX_TABLE_SIZE:
        # The numbers of an account are dense, so a table with one entry per number is small.
        is_used = np.zeros(highest + 1, np.bool_)
        is_used[both] = True
        numbers = np.flatnonzero(is_used)
    else:
        numbers = np.unique(both)
    scores = []
    for each in (first, second):
        filled = np.zeros(len(numbers), np.float32)
        filled[np.searchsorted(numbers, each.numbers)] = each.scores
        scores.append(filled)
    return numbers, scores[0], scores[1]


def best_places(scores: Floats, limit: int) -> Integers:
    """Where the highest scores are, in no order."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    return np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
