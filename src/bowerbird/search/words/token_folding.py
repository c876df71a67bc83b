"""Folds text for search: lower case, no accents, and a space for everything outside a token.

The index and the queries use the same fold, so they always agree.
"""

import re
import unicodedata
from typing import Final

from bowerbird.model.words import normalized

# PostgreSQL refuses a lexeme of more than 2,046 bytes.
MAX_TOKEN_CHARACTERS: Final = 64

# Scripts written without spaces between words.
_HAN: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_KANA: Final = "\u3041-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
_THAI_AND_LAO: Final = "\u0e00-\u0eff"
_KHMER: Final = "\u1780-\u17ff"
_MYANMAR: Final = "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"
UNSPACED: Final = _HAN + _KANA + _THAI_AND_LAO + _KHMER + _MYANMAR

_EMOJI: Final = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
# Characters that people leave out when they type a query: apostrophes and the okina, the Arabic
# tatweel, variation selectors, skin tones.
_DROPPED: Final = re.compile(
    "['\u2018\u2019\u02bb\u02bc\u0640\u180b-\u180d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]"
)

# Letters that Unicode does not decompose, although people type the plain letter.
_PLAIN_LETTERS: Final = {
    "\u0131": "i",
    "\u00e6": "ae",
    "\u0153": "oe",
    "\u00f8": "o",
    "\u00f0": "d",
    "\u0111": "d",
    "\u0142": "l",
    "\u0127": "h",
    "\u00fe": "th",
}
# Hangul and most of Han, which fold to themselves.
_PLAIN: Final = re.compile("[\u4e00-\u9fff\uac00-\ud7a3]")
_KEPT: Final = "_#@"
_ZERO_WIDTH_SPACE: Final = "\u200b"

# "Apple's" contains the word apple; "l'homme" and "dell'arte" contain homme and arte. Every other
# apostrophe is part of its word. The pattern begins with a literal, which keeps the scan fast.
_SEPARATING_APOSTROPHE: Final = re.compile(
    r"'(?:(?<=\w')s\b|(?:(?<=\b[cdjlmnst]')|(?<=\b(?:qu|un)')|(?<=ll'))(?=\w\w))", re.IGNORECASE
)


_ASCII_RUN: Final = re.compile("([\x00-\x7f]{8,})")


class _FoldingTable(dict[int, str | None]):
    """A table for str.translate that computes each entry on first use."""

    _max_entries = 65_536  # bounds the memory that hostile text can use

    def __missing__(self, code: int) -> str | None:
        # None, not "": otherwise str.translate loses its fast path for ASCII.
        character = chr(code)
        folded = character if _PLAIN.match(character) else _fold_character(character) or None
        if len(self) < self._max_entries:
            self[code] = folded
        return folded


def fold(text: str) -> str:
    """Replaces everything outside a token by spaces; keeps `#` and `@`."""
    if text.isascii() and "'" not in text:
        return text.translate(_FOLDING_TABLE)
    if not text.isascii():
        # NFKC would turn the trademark sign into letters: "brand(TM)" would become "brandtm".
        text = normalized("NFKC", text.replace("\u2122", " "))
    text = without_separating_apostrophes(text)
    if text.isascii():
        return text.translate(_FOLDING_TABLE)
    # str.translate is ten times faster on ASCII, so the ASCII parts are translated separately.
    return "".join([part.translate(_FOLDING_TABLE) for part in _ASCII_RUN.split(text)])


def without_separating_apostrophes(text: str) -> str:
    """Replaces each apostrophe between two words by spaces, without changing the length."""
    if not text.isascii():
        text = text.replace("\u2019", "'")
    return _SEPARATING_APOSTROPHE.sub(_blank, text) if "'" in text else text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _fold_character(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character)
    letters = "".join(part for part in parts if not _is_accent(part)).casefold()
    # NFKD also splits Hangul and voiced kana; NFC composes them again.
    return unicodedata.normalize("NFC", "".join(map(_fold_part, letters)))


def _is_accent(part: str) -> bool:
    """Whether people leave this mark out when they search.

    The combining class identifies accents (1, and 200 or more) and Hebrew, Arabic and Syriac
    points (10 to 36). All other marks are part of the spelling: vowel signs, viramas, tones, kana
    voicing.
    """
    combining = unicodedata.combining(part)
    return combining == 1 or 10 <= combining <= 36 or combining >= 200  # noqa: PLR2004 - numbers of Unicode, explained above


def _fold_part(part: str) -> str:
    if _DROPPED.match(part):
        return ""
    if part in _KEPT:
        return part
    if _EMOJI.match(part):
        return f" {part} "
    return _PLAIN_LETTERS.get(part) or _fold_by_category(part)


def _fold_by_category(part: str) -> str:
    category = unicodedata.category(part)
    if category == "Nd":
        return str(unicodedata.decimal(part))
    if category[0] in "LN" or category in {"Mn", "Mc"}:
        return part
    # Joiners, soft hyphens and keycap frames do not end a word.
    is_inside_word = category == "Me" or (category == "Cf" and part != _ZERO_WIDTH_SPACE)
    return "" if is_inside_word else " "


_FOLDING_TABLE: Final = _FoldingTable()
