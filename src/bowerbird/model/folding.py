"""Folds names and titles, so that different spellings of one name compare as equal."""

import unicodedata
from typing import Final

SORTED_CHARACTERS: Final = 128
"""Sorting by text uses only this many characters of the folded text."""


def fold(text: str) -> str:
    """Normalizes to NFC, folds case, collapses white space. Compatibility forms stay distinct."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def order_key(text: str) -> str:
    return fold(text)[:SORTED_CHARACTERS]


def first_line(text: str) -> str:
    """The first line that is not blank."""
    lines = text.lstrip().splitlines()
    return lines[0] if lines else ""
