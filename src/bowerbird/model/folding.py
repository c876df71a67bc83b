"""Texts made comparable: the same key for what a person takes for the same name."""

import unicodedata
from typing import Final

SORTED_CHARACTERS: Final = 128
"""Texts are ordered by so many characters of their folded form."""


def fold(text: str) -> str:
    """Ignores case, compatibility forms aside: NFC, case-folded, white space as single spaces."""
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
