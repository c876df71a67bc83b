"""Names of views and buckets in URLs: the letters of the name, in its own script."""

import re
import unicodedata
from collections.abc import Container
from typing import Final

from bowerbird.model.folding import normalized
from bowerbird.requests.limits import SLUG_MAX

_LATIN_MARKS: Final = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")
# Letters without a shape, and signs that only choose between shapes of the letter before them.
_INVISIBLE: Final = re.compile(
    "[\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_SYMBOL: Final = "So"
# Two of them are a flag.
_FLAG_LETTER: Final = "REGIONAL INDICATOR SYMBOL LETTER "
_DEFAULT: Final = "view"


def slug_of(name: str) -> str:
    """Lowercase letters and digits, joined by hyphens.

    Latin letters lose their accents. A name of symbols only is spelled out: a bird becomes "bird".
    """
    return _joined(name) or _joined(" ".join(map(_spelled, name))) or _DEFAULT


def free_slug(name: str, taken: Container[str]) -> str:
    """The slug of a new view. The second one with the same name has the number 2."""
    base = slug_of(name)
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def composed(slug: str) -> str:
    """The slug as it is stored. Some programs send the accents of a letter separately."""
    return slug if slug.isascii() else normalized("NFC", slug)


def _joined(text: str) -> str:
    plain = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", text))
    lower = unicodedata.normalize("NFC", _INVISIBLE.sub("", plain).lower())
    words = "".join(_kept(lower)).split()
    return "-".join(words)[:SLUG_MAX].strip("-")


def _kept(text: str) -> list[str]:
    """Letters, digits, and the marks on letters; a space for everything else."""
    kept: list[str] = []
    for character in text:
        kind = unicodedata.category(character)
        # Joins letters, or sets the direction of the text; nobody sees it.
        if kind == "Cf":
            continue
        is_mark_on_letter = kind in ("Mn", "Mc") and bool(kept) and kept[-1] != " "
        is_kept = kind[0] == "L" or kind[0] == "N" or is_mark_on_letter
        kept.append(character if is_kept else " ")
    return kept


def _spelled(character: str) -> str:
    is_symbol = unicodedata.category(character) == _SYMBOL
    return unicodedata.name(character, "").removeprefix(_FLAG_LETTER) if is_symbol else ""
