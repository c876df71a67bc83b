"""Compares names that may be misspelled, and lists the words that one may have been meant."""

from collections.abc import Iterable
from typing import Final

# Longer names are not compared, and no more letters may differ: the work grows with both.
_LONGEST: Final = 32
_MOST: Final = 4
# Shorter words have too many neighbours, and few of them were meant.
MIN_LETTERS: Final = 5
# Longer words are rare, and each letter adds fifty texts to look up.
_LONGEST_EDITED: Final = 20
_MIN_PART: Final = 3
_ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
    "αβγδεζηθικλμνξοπρσςτυφχψω",
    "ءابتثجحخدذرزسشصضطظعغفقكلمنهويىةئؤپچژگک",
    "אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    "अआइईउऊएऐओऔकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसह",
)


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


def edits_of(word: str) -> list[str]:
    """Every text that one letter more, less, other, or swapped with the next makes of a word."""
    if not MIN_LETTERS <= len(word) <= _LONGEST_EDITED:
        return []
    letters = next((abc for abc in _ALPHABETS if any(letter in abc for letter in word)), "")
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = [head + tail[1:] for head, tail in splits if tail]
    found += [head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1]
    found += [head + letter + tail[1:] for head, tail in splits if tail for letter in letters]
    found += [head + letter + tail for head, tail in splits for letter in letters]
    return [text for text in dict.fromkeys(found) if text != word]


def splits_of(word: str) -> list[tuple[str, str]]:
    """The two words that a missing space may have joined."""
    if len(word) > _LONGEST:
        return []
    return [(word[:at], word[at:]) for at in range(_MIN_PART, len(word) - _MIN_PART + 1)]
