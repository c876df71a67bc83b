"""Names that may be misspelled."""

import pytest

from bowerbird.search.spelling import distance, nearest


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
    assert distance("a" * 65, "a" * 65, 3) == 4


def test_the_nearest_name_is_found_if_few_letters_differ() -> None:
    names = ["databases", "birds", "field notes"]

    assert nearest("datbase", names) == "databases"
    assert nearest("brids", names) == "birds"
    assert nearest("zebra", names) is None
    assert nearest("birds", names) is None
