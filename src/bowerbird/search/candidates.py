"""Chooses the posts that a ranked list may contain, and orders them by their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bowerbird.search.meaning.arrays import (
    Floats,
    Integers,
    NDArray,
    Nearness,
    Numbers,
    np,
    parse_numbers,
    union,
)
from bowerbird.search.scoring import (
    MOST_WORDS,
    Counted,
    WordScores,
    latest,
)

# Added to the score of posts that match the whole query, in a list of those with any word.
_EXACT: Final = 2.0
# Of a post that matches every part of the query, even if not by its words but by a label.
_MATCH_COVERAGE: Final = 0.8
# Most posts that answer a query are this much above the floor, and few of those that do not.
CLEARLY_ABOVE: Final = 0.15
# What the first posts of a list count in the likeness of others: the second is less sure.
_FIRST_SHARES: Final = (2 / 3, 1 / 3)
# What they count in the emphasis of words, of which a post has few.
_FIRST_BY_WORDS: Final = (6 / 11, 3 / 11, 2 / 11)
# The weight of similarities if no model knows the script of the query.
NOT_UNDERSTOOD: Final = 0.4
# How many of the best get a likeness. It takes 2 ms of CPU per model.
LIKENED: Final = 100
# By words, their texts are read.
LIKENED_BY_WORDS: Final = 50
# Scores are compared after rounding, so that both databases return the same order.
_DIGITS: Final = 5

Ordered = tuple[list[int], list[float]]
"""The numbers of posts, best first, and their scores."""
NOTHING_NEAR: Final = Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32), np.inf)


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


def with_any_word(
    words: WordScores, allowed: Numbers, most: int, exact: Sequence[int] = ()
) -> Candidates:
    """`exact` match the whole query, and come first."""
    exact_numbers = np.array(exact, np.int64)
    found = _candidates(words, union((words.candidates(allowed, most), exact_numbers)))
    found.cosines[Numbers(exact_numbers).contains(found.numbers)] = _EXACT
    return found


def by_both(
    words: WordScores,
    allowed: Numbers,
    near: Nearness,
    exact: Sequence[int],
    *,
    by_words: int,
    by_meaning: int,
    is_relaxed: bool,
) -> Candidates:
    """The nearest posts, those that match the whole query, and those with most of its words.

    `is_relaxed`: one of its words is enough.
    """
    exact_numbers = np.array(exact, np.int64)
    nearest_numbers, _ = _nearest(near, allowed, by_meaning)
    numbers = union((words.candidates(allowed, by_words), exact_numbers, nearest_numbers))
    found = _candidates(words, numbers)
    of_these = Numbers(numbers).contains(near.numbers)
    places = np.searchsorted(numbers, near.numbers[of_these])
    found.cosines[places] = near.scores[of_these]
    # A post without a vector is not near, whatever the floor.
    is_near = np.zeros(len(numbers), np.bool_)
    is_near[places] = near.scores[of_these] >= near.floor
    is_exact = Numbers(exact_numbers).contains(numbers)
    found.coverage[is_exact] = np.maximum(found.coverage[is_exact], _MATCH_COVERAGE)
    least = 0 if is_relaxed else MOST_WORDS
    has_words = (found.coverage > 0) & (found.coverage >= least)
    return found.only(has_words | is_exact | is_near)


def are_close(found: Candidates, floor: float) -> bool:
    """Whether one of them has most of the words, or is clearly above the floor."""
    has_most = found.coverage >= MOST_WORDS
    return bool((has_most | (found.cosines >= floor + CLEARLY_ABOVE)).any())


def are_by_some_words(found: Candidates, floor: float) -> bool:
    """Whether one of them is only in a list because one of the words is enough there."""
    return bool(((found.coverage < MOST_WORDS) & (found.cosines < floor)).any())


def best_so_far(found: Candidates, words: WordScores, most: int) -> Candidates:
    """The candidates whose words are worth counting."""
    if len(found.numbers) <= most:
        return found
    rough = found.cosines + words.score(found.coverage, found.coverage)
    # Of equal ones those imported last.
    order = np.lexsort((-found.numbers, -np.round(rough, _DIGITS)))[:most]
    return found.only(np.sort(order))


def scores(
    found: Candidates,
    words: WordScores,
    counted: Counted,
    *,
    trust: float = 1.0,
    is_by_words: bool = True,
) -> Floats:
    """`trust`: the weight of similarities.

    `is_by_words`: the words of the first posts tell more, because no vector does.
    """
    often, lengths = words.occurrences(found.held, found.numbers, counted)

    def score(bm25: Floats) -> Floats:
        by_words = words.score(found.coverage, bm25)
        scores: Floats = np.float32(trust) * found.cosines + by_words
        return scores

    scores = score(words.bm25(often, lengths))
    if not (words.followed and len(scores)):
        return scores
    shares = _shares_of_first(_order(found.numbers, scores), _FIRST_BY_WORDS)
    emphasis = words.emphasis(often, shares, is_by_words=is_by_words)
    return score(words.bm25(often, lengths, emphasis))


def best_of(numbers: Integers, scores: Floats, most: int) -> tuple[Integers, Floats]:
    """The places of the best posts, and what each of them counts in the likeness of the others."""
    order = _order(numbers, scores)
    places = np.sort(order[:most])
    return places, _shares_of_first(order, _FIRST_SHARES)[places]


def _shares_of_first(order: Integers, shares: Sequence[float]) -> Floats:
    found = np.zeros(len(order), np.float32)
    found[order[: len(shares)]] = shares[: len(order)]
    return found


def nearest(near: Nearness, allowed: Numbers, most: int) -> Ordered:
    return ordered(*_nearest(near, allowed, most), most)


def _nearest(near: Nearness, allowed: Numbers, most: int) -> tuple[Integers, Floats]:
    places = np.flatnonzero(near.scores >= near.floor)
    places = places[allowed.contains(near.numbers[places])]
    numbers, cosines = near.numbers[places], near.scores[places]
    if len(numbers) > most:
        best = np.argpartition(cosines, len(cosines) - most)[len(cosines) - most :]
        numbers, cosines = numbers[best], cosines[best]
    return numbers, cosines


def _candidates(words: WordScores, numbers: Integers) -> Candidates:
    held = words.held(numbers)
    cosines = np.zeros(len(numbers), np.float32)
    return Candidates(numbers, cosines, held, words.coverage(held))


def ordered(numbers: Integers, scores: "NDArray[np.floating]", most: int) -> Ordered:
    """Sorts by score; of equal scores, the post that was imported last comes first."""
    order = _order(numbers, scores)[:most]
    return numbers[order].tolist(), _rounded(scores[order]).tolist()


def _order(numbers: Integers, scores: "NDArray[np.floating]") -> Integers:
    order: Integers = np.lexsort((-numbers, -_rounded(scores)))
    return order


def _rounded(scores: "NDArray[np.floating]") -> "NDArray[np.floating]":
    return np.round(scores.astype(np.float64), _DIGITS)
