"""How near posts are to a query, by one model or by two."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bowerbird.search.meaning.arrays import LARGEST_TABLE, Floats, Integers, np
from bowerbird.search.meaning.embedding import JOINED_FLOOR

if TYPE_CHECKING:
    from bowerbird.search.meaning.vectors import Numbers

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

    def within(self, candidates: "Numbers") -> "Nearness":
        is_candidate = candidates.contains(self.numbers)
        return Nearness(self.numbers[is_candidate], self.scores[is_candidate], self.floor)


def joined(first: Nearness, second: Nearness, *, share: float) -> Nearness:
    """The posts of both models. `share`: how much the first counts in the average.

    A post that waits for the second model keeps the score and the floor of the first.
    """
    if np.array_equal(first.numbers, second.numbers):
        scores = of_both(first.scores, second.scores, share)
        return Nearness(first.numbers, scores, JOINED_FLOOR)
    numbers = _all_numbers(first, second)
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


def _all_numbers(first: Nearness, second: Nearness) -> Integers:
    both = np.concatenate((first.numbers, second.numbers))
    highest = int(both.max(initial=0))
    if highest >= LARGEST_TABLE:
        return np.unique(both)
    is_used = np.zeros(highest + 1, np.bool_)
    is_used[both] = True
    return np.flatnonzero(is_used)


def _scores_at(numbers: Integers, nearness: Nearness) -> Floats:
    """The scores of these posts; not a number for a post without a vector."""
    scores = np.full(len(numbers), np.nan, np.float32)
    scores[np.searchsorted(numbers, nearness.numbers)] = nearness.scores
    return scores
