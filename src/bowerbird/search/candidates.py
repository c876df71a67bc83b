"""Chooses the posts that a ranked list may contain, and orders them by their scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, NDArray, np, parse_numbers
from bowerbird.search.meaning.vectors import Numbers
from bowerbird.search.scoring import (
    BOTH_IDF_SHARE,
    BOTH_SHARE,
    FINE_WEIGHT,
    RELAXED_IDF_SHARE,
    RELAXED_SHARE,
    WORD_WEIGHT,
    Counted,
    WordScores,
    beyond_chance,
    latest,
)

# Of a post that matches every part of the query, even if not by its words but by a label.
_MATCH_COVERAGE: Final = 0.8
# Scores are compared after rounding, so that both databases return the same order.
_DIGITS: Final = 5

Ordered = tuple[list[int], list[float]]
"""The numbers of posts, best first, and their scores."""
NOTHING_NEAR: Final = (np.zeros(0, np.int64), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Posts in the order of their numbers, with their similarity and their words."""

    numbers: Integers
    cosines: Floats
    held: Floats
    coverage: Floats

    def only(self, chosen: "NDArray[np.bool_] | Integers") -> "Candidates":
        return Candidates(
            self.numbers[chosen], self.cosines[chosen], self.held[:, chosen], self.coverage[chosen]
        )


def latest_of(text: str, allowed: Numbers, most: int) -> list[int]:
    """The highest of comma-separated numbers that are allowed: the posts imported last."""
    numbers = parse_numbers(text)
    found: list[int] = latest(numbers[allowed.contains(numbers)], most).tolist()
    return found


def matches(words: WordScores, numbers: Sequence[int]) -> Candidates:
    """Posts that match the whole query."""
    found = _candidates(words, np.unique(np.array(numbers, np.int64)))
    np.maximum(found.coverage, _MATCH_COVERAGE, out=found.coverage)
    return found


def with_most_words(words: WordScores, allowed: Numbers, most: int) -> Candidates:
    found = _candidates(words, np.sort(words.candidates(allowed, most)))
    shares = (RELAXED_SHARE, RELAXED_IDF_SHARE)
    return found.only(words.has_much(found.held, found.coverage, *shares))


def by_both(
    words: WordScores,
    allowed: Numbers,
    near: tuple[Integers, Floats],
    exact: Sequence[int],
    *,
    floor: float,
    by_words: int,
    by_meaning: int,
) -> Candidates:
    """The posts with the rarest words, those that match the whole query, and the nearest."""
    exact_numbers = np.array(exact, np.int64)
    nearest_numbers, _ = _nearest(*near, floor, by_meaning)
    numbers = np.unique(
        np.concatenate((words.candidates(allowed, by_words), exact_numbers, nearest_numbers))
    )
    found = _candidates(words, numbers)
    of_these = Numbers(numbers).contains(near[0])
    places = np.searchsorted(numbers, near[0][of_these])
    found.cosines[places] = near[1][of_these]
    # A post without a vector is not near, whatever the floor.
    is_near = np.zeros(len(numbers), np.bool_)
    is_near[places] = near[1][of_these] >= floor
    is_exact = np.isin(numbers, exact_numbers)
    found.coverage[is_exact] = np.maximum(found.coverage[is_exact], _MATCH_COVERAGE)
    has_words = words.has_much(found.held, found.coverage, BOTH_SHARE, BOTH_IDF_SHARE)
    found = found.only(has_words | is_exact | is_near)
    return replace(found, coverage=beyond_chance(found.coverage))


def best_so_far(found: Candidates, most: int) -> Candidates:
    """The candidates whose words are worth counting."""
    if len(found.numbers) <= most:
        return found
    rough = found.cosines + WORD_WEIGHT * (1 + FINE_WEIGHT) * found.coverage**2
    # Of equal ones those imported last.
    order = np.lexsort((-found.numbers, -np.round(rough, _DIGITS)))[:most]
    return found.only(np.sort(order))


def ordered(found: Candidates, words: WordScores, counted: Counted, most: int) -> Ordered:
    fine = words.fine(found.held, found.numbers, counted)
    by_words = found.coverage * (found.coverage + FINE_WEIGHT * fine)
    scores = found.cosines + WORD_WEIGHT * by_words
    return _ordered(found.numbers, scores, most)


def nearest(numbers: Integers, cosines: Floats, floor: float, most: int) -> Ordered:
    return _ordered(*_nearest(numbers, cosines, floor, most), most)


def _nearest(
    numbers: Integers, cosines: Floats, floor: float, most: int
) -> tuple[Integers, Floats]:
    is_near = cosines >= floor
    numbers, cosines = numbers[is_near], cosines[is_near]
    if len(numbers) > most:
        best = np.argpartition(cosines, len(cosines) - most)[len(cosines) - most :]
        numbers, cosines = numbers[best], cosines[best]
    return numbers, cosines


def _candidates(words: WordScores, numbers: Integers) -> Candidates:
    held = words.held(numbers)
    cosines = np.zeros(len(numbers), np.float32)
    return Candidates(numbers, cosines, held, words.coverage(held))


def _ordered(numbers: Integers, scores: "NDArray[np.floating]", most: int) -> Ordered:
    """Sorts by score; of equal scores, the post that was imported last comes first."""
    rounded = np.round(scores.astype(np.float64), _DIGITS)
    order = np.lexsort((-numbers, -rounded))[:most]
    return numbers[order].tolist(), rounded[order].tolist()
