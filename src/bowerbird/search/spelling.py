"""Compares names that may be misspelled."""

from collections.abc import Iterable
from typing import Final

# Longer names are not compared, and no more letters may differ: the work grows with both.
_LONGEST: Final = 32
_MOST: Final = 4


def distance(one: str, other: str, most: int) -> int:
    """How many letters to change, add, remove or swap with the next; `most` + 1 if more."""
    if abs(len(one) - len(other)) > most or len(one) > _LONGEST:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one):
        row_before, before = before, row
        row = [most + 1] * (len(other) + 1)
        row[0] = place + 1
        # Letters further apart than that would cost more than `most`.
        for at in range(max(place - most, 0), min(place + most + 1, len(other))):
            wanted = other[at]
            best = min(before[at] + (letter != wanted), before[at + 1] + 1, row[at] + 1)
            if place and at and letter == other[at - 1] and one[place - 1] == wanted:
                best = min(best, row_before[at - 1] + 1)
            row[at + 1] = best
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def nearest(text: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant: one letter in three may differ, but no more than four."""
    most = min(max(1, len(text) // 3), _MOST)
    found, best = None, most + 1
    for name in names:
        if name != text and (letters := distance(text, name, best - 1)) < best:
            found, best = name, letters
    return found
