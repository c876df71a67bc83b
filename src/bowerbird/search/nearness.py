"""How near posts are to a query, by one model or by two."""

from dataclasses import dataclass
from typing import Final

from bowerbird.search.arrays import Floats, Integers, NDArray, np

# Above this number, a table with one score per number would take too much memory.
_MAX_TABLE_SIZE: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Nearness:
    """The numbers of some posts, and for each its score and whether it reaches the floor."""

    numbers: Integers
    scores: Floats
    # False if the post has nothing to do with the query, as far as its model can tell.
    is_near: "NDArray[np.bool_]"

    @classmethod
    def of(cls, numbers: Integers, scores: Floats, floor: float) -> "Nearness":
        return cls(numbers, scores, scores >= floor)

    def __len__(self) -> int:
        return len(self.numbers)

    def best(self, limit: int) -> list[int]:
        """The numbers of the nearest posts, best first."""
        places = best_places(self.scores, limit)
        numbers, scores = self.numbers[places], self.scores[places]
        # Equal scores: the newest first, so that the order is the same on every machine.
        ordered: list[int] = numbers[np.lexsort((-numbers, -scores))].tolist()
        return ordered

    def near(self) -> "Nearness":
        """Without the posts below the floor."""
        chosen = self.is_near
        return Nearness(self.numbers[chosen], self.scores[chosen], chosen[chosen])

    def weighted(self, weight: float) -> "Nearness":
        return Nearness(self.numbers, self.scores * np.float32(weight), self.is_near)

    def or_better(self, other: "Nearness") -> "Nearness":
        """The posts of both, each with the higher of its scores."""
        if not len(self) or not len(other):
            return self if len(self) else other
        if np.array_equal(self.numbers, other.numbers):
            scores = np.maximum(self.scores, other.scores)
            return Nearness(self.numbers, scores, self.is_near | other.is_near)
        highest = max(int(self.numbers.max()), int(other.numbers.max()))
        if highest >= _MAX_TABLE_SIZE:
            return self._merge_sorted(other)
        # The numbers of an account are dense, so a table with one entry per number is small.
        scores = np.full(highest + 1, -np.inf, np.float32)
        is_near = np.zeros(highest + 1, np.bool_)
        for each in (self, other):
            scores[each.numbers] = np.maximum(scores[each.numbers], each.scores)
            is_near[each.numbers] |= each.is_near
        numbers = np.flatnonzero(scores > -np.inf)
        return Nearness(numbers, scores[numbers], is_near[numbers])

    def _merge_sorted(self, other: "Nearness") -> "Nearness":
        both = np.concatenate((self.numbers, other.numbers))
        numbers, places = np.unique(both, return_inverse=True)
        scores = np.full(len(numbers), -np.inf, np.float32)
        is_near = np.zeros(len(numbers), np.bool_)
        np.maximum.at(scores, places, np.concatenate((self.scores, other.scores)))
        np.logical_or.at(is_near, places, np.concatenate((self.is_near, other.is_near)))
        return Nearness(numbers, scores, is_near)


def best_places(scores: Floats, limit: int) -> Integers:
    """Where the highest scores are, in no order."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    return np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
