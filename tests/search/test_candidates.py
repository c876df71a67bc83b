"""The posts that a search by words and meaning may list."""

import math

import pytest

from bowerbird.search.candidates import NOTHING_NEAR, by_both
from bowerbird.search.meaning.arrays import np
from bowerbird.search.meaning.vectors import Numbers
from bowerbird.search.scoring import HeldWord, Spelling, WordScores

HOLDERS = np.array([1, 2, 3], np.int64)


@pytest.mark.parametrize("floor", [-1.0, 0.0, 0.19, math.inf])
def test_a_post_without_a_vector_is_not_near_whatever_the_floor(floor: float) -> None:
    # One word of three is not enough by itself.
    words = WordScores([HeldWord(1.0, (Spelling(1.0, HOLDERS),))], unknown=2, unknown_idf=3.0)

    found = by_both(
        words, Numbers(HOLDERS), NOTHING_NEAR, (), floor=floor, by_words=10, by_meaning=10
    )

    assert found.numbers.tolist() == []


def test_a_post_above_the_floor_is_near() -> None:
    words = WordScores([HeldWord(1.0, (Spelling(1.0, HOLDERS),))], unknown=2, unknown_idf=3.0)
    near = (HOLDERS, np.array([0.5, 0.1, 0.3], np.float32))

    found = by_both(words, Numbers(HOLDERS), near, (), floor=0.2, by_words=10, by_meaning=10)

    assert found.numbers.tolist() == [1, 3]
