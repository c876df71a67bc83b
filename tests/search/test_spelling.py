"""Names that may be misspelled."""

import time

import pytest

from bowerbird.search.queries.spelling import distance, edits_of, nearest


@pytest.mark.parametrize(
    ("one", "other", "letters"),
    [
        ("birds", "birds", 0),
        ("birds", "bird", 1),
        ("bidrs", "birds", 1),
        ("brids", "bords", 2),
        ("", "ab", 2),
        ("نحل", "نخل", 1),
        ("birds", "databases", 4),
        ("kitten", "sitting", 3),
    ],
)
def test_the_distance_counts_letters_up_to_a_bound(one: str, other: str, letters: int) -> None:
    assert distance(one, other, 3) == letters
    assert distance(other, one, 3) == letters


def test_long_names_are_not_compared() -> None:
    assert distance("a" * 33, "a" * 33, 3) == 4


def test_the_nearest_name_is_found_if_few_letters_differ() -> None:
    names = ["databases", "birds", "field notes"]

    assert nearest("datbase", names) == "databases"
    assert nearest("brids", names) == "birds"
    assert nearest("zebra", names) is None
    assert nearest("birds", names) is None


def test_the_distance_is_the_same_with_a_narrow_bound() -> None:
    one, other = "the quick brown fox jumps", "teh quick brown fox jmups!"

    assert [distance(one, other, most) for most in range(6)] == [1, 2, 3, 3, 3, 3]


def test_many_long_names_that_begin_alike_are_compared_fast() -> None:
    names = [f"{'a' * 20}{number:04}{'b' * 8}" for number in range(1_000)]
    started = time.thread_time()

    nearest("a" * 24 + "c" * 8, names)

    assert time.thread_time() - started < 3


def test_a_long_name_may_differ_in_four_letters() -> None:
    assert nearest("a" * 26 + "bcde", ["a" * 30]) == "a" * 30
    assert nearest("a" * 25 + "bcdef", ["a" * 30]) is None


def test_words_of_five_to_twenty_letters_have_edits() -> None:
    assert edits_of("a" * 4) == edits_of("a" * 21) == []
    # Of 20 equal letters: one less, another one at each of 20 places, another one at 21 places,
    # and one more of the same.
    assert len(edits_of("a" * 20)) == 1 + 20 * 25 + 21 * 25 + 1
