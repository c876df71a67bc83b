"""Folds text to the characters of its tokens: one case, no accents, everything else a space.

Index and query pass through the same fold, so whatever it decides it decides for both.
"""

import re
import unicodedata
from typing import Final

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
# All that a reader does not type: apostrophes (the okina too), the Arabic stroke that lengthens a
# word, variation selectors, skin tones.
_DROPPED: Final = re.compile(
    "['\u2018\u2019\u02bb\u02bc\u0640\u180b-\u180d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]"
)

# Letters that Unicode does not decompose, though readers type the plain one.
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
_KEPT: Final = "_#@"
_ZERO_WIDTH_SPACE: Final = "\u200b"

# "Apple's" holds the word apple, and "l'homme", "dell'arte" hold homme and arte; any other
# apostrophe is inside its word. The literal first character keeps the scan fast.
_PARTING_APOSTROPHE: Final = re.compile(
    r"'(?:(?<=\w')s\b|(?:(?<=\b[cdjlmnst]')|(?<=\b(?:qu|un)')|(?<=ll'))(?=\w\w))", re.IGNORECASE
)


_ASCII_RUN: Final = re.compile("([\x00-\x7f]{8,})")


class _Folding(dict[int, str | None]):
    """What each character becomes, worked out when it is first met."""

    _most = 65_536  # foreign text must not grow it without end

    def __missing__(self, code: int) -> str | None:
        # None, not "": str.translate keeps its fast way for ASCII only then.
        folded = _fold_character(chr(code)) or None
        if len(self) < self._most:
            self[code] = folded
        return folded


def fold(text: str) -> str:
    """The text with spaces for all that is in no token; `#` and `@` stay where they stood."""
    if not text.isascii():
        # NFKC would make "brand(TM)" one word, brandtm.
        text = unicodedata.normalize("NFKC", text.replace("\u2122", " "))
    text = without_parting_apostrophes(text)
    if text.isascii():
        return text.translate(_FOLDING)
    # str.translate is ten times faster where a text is all ASCII, and most parts of most texts are.
    return "".join([part.translate(_FOLDING) for part in _ASCII_RUN.split(text)])


def without_parting_apostrophes(text: str) -> str:
    """Of the same length: spaces for each apostrophe that stands between two words."""
    if not text.isascii():
        text = text.replace("\u2019", "'")
    return _PARTING_APOSTROPHE.sub(_blank, text) if "'" in text else text


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _fold_character(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character)
    letters = "".join(part for part in parts if not _is_accent(part)).casefold()
    # Hangul and voiced kana come apart above and are put together again.
    return unicodedata.normalize("NFC", "".join(map(_fold_part, letters)))


def _is_accent(part: str) -> bool:
    """Whether readers search without this mark.

    The combining class parts accents (1, from 200) and Hebrew, Arabic and Syriac points (10 to 36)
    from what spells a word in other scripts: vowel signs, viramas, tones, kana voicing.
    """
    combining = unicodedata.combining(part)
    return combining == 1 or 10 <= combining <= 36 or combining >= 200  # noqa: PLR2004 - Unicode's own numbers, named above


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
    # Joiners, soft hyphens and keycap frames stand inside a word.
    is_inside_word = category == "Me" or (category == "Cf" and part != _ZERO_WIDTH_SPACE)
    return "" if is_inside_word else " "


_FOLDING: Final = _Folding()
