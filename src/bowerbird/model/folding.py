"""Folds names and titles, so that different spellings of one name compare as equal."""

import re
import unicodedata
from typing import Final, Literal

# Unicode's own format for streams allows as many marks on one letter.
_MAX_MARKS: Final = 30
# Shorter texts take less than a millisecond, whatever they contain.
_SHORT_CHARACTERS: Final = 1_000
# Characters that may be marks: they are neither letters nor spaces.
_MARKS: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")

SORTED_CHARACTERS: Final = 128
"""Sorting by text uses only this many characters of the folded text."""


def fold(text: str) -> str:
    """Normalizes to NFC, folds case, collapses white space. Compatibility forms stay distinct."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normalized("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def normalized(form: Literal["NFC", "NFKC"], text: str) -> str:
    """The text in a normal form of Unicode, with at most 30 marks on a letter.

    Python sorts the marks of a letter, which takes 15 seconds for 100,000 of them.
    """
    if len(text) > _SHORT_CHARACTERS:
        text = _MARKS.sub(_fewer_marks, text)
    return unicodedata.normalize(form, text)


def _fewer_marks(match: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in match[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def order_key(text: str) -> str:
    return fold(text)[:SORTED_CHARACTERS]


def first_line(text: str) -> str:
    """The first line that is not blank."""
    lines = text.lstrip().splitlines()
    return lines[0] if lines else ""
