"""Which fonts a document is set in, and which scripts the machine has none for.

Fonts are taken from where typst finds them, so that what is said here is what it will do.
"""

import mmap
import struct
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

MEND: Final = "sh requirements/system.sh fonts"

# Looked through for each glyph in this order. A font is read whole when it is first asked, so
# the large ones come late; emoji before CJK, whose fonts draw some of them as plain signs. One
# CJK family serves all four: each holds every form, and the language of a text chooses.
_CHAIN: Final = (
    *("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari"),
    *("Noto Sans Thai", "Noto Color Emoji", "Noto Sans CJK SC"),
    *("Noto Sans Symbols", "Noto Sans Symbols2", "Noto Sans Math"),
)
_BROUGHT_ALONG: Final = "Libertinus Serif"
_CORE, _CJK_PACKAGE, _EMOJI = "fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji"
WANTED: Final = {
    "Latin": ("a", _CORE),
    "Arabic": ("ب", _CORE),
    "Hebrew": ("א", _CORE),
    "Devanagari": ("अ", _CORE),
    "Thai": ("ก", _CORE),
    "CJK": ("一", _CJK_PACKAGE),
    "emoji": ("😀", _EMOJI),
}
"""The scripts that every installation should be able to set: a letter, and who brings its font."""
_CJK_NAMES: Final = {"CJK", "Hiragana", "Katakana", "Hangul", "Halfwidth", "Bopomofo"}
# What is in text but has no shape of its own: controls, spaces, selectors of a variant.
_SHAPELESS: Final = ("C", "Z")
_LAST_PLAIN: Final = 0x2FF


class Font(Protocol):
    """A face as typst lists it. Fonts that typst brings along have no path."""

    family: str
    style: str
    weight: int
    path: str | None
    index: int


class Missing(Struct, frozen=True):
    script: str
    package: str


def chain(installed: Iterable[Font]) -> list[str]:
    """The families to set a document in. typst itself looks further when none holds a glyph."""
    families = {font.family for font in installed}
    return [name for name in _CHAIN if name in families] or [_BROUGHT_ALONG]


def missing_fonts() -> list[Missing]:
    """The scripts of `WANTED` that a document could not be set in on this machine."""
    import typst  # noqa: PLC0415 - 80 MB of library, for `doctor` and exports alone

    found = typst.Fonts(include_embedded_fonts=False).fonts()
    lacking = uncovered({letter for letter, _ in WANTED.values()}, found)
    return [
        Missing(script, package)
        for script, (letter, package) in WANTED.items()
        if letter in lacking
    ]


def notes(text: str, installed: Sequence[Font]) -> list[str]:
    """A sentence for each script of a text that cannot be set here, or not wholly."""
    letters = {letter for letter in set(text) if ord(letter) > _LAST_PLAIN and _has_shape(letter)}
    lacking = uncovered(letters, installed)
    found = {
        script: _package(script) for script in sorted({script_of(letter) for letter in lacking})
    }
    covered = {script_of(letter) for letter in letters - lacking}
    return [_sentence(script, found[script], is_partial=script in covered) for script in found]


def _sentence(script: str, package: str, *, is_partial: bool) -> str:
    if is_partial:
        lack = f"Some {script} characters have no font on this server and are"
    else:
        lack = f"{script[0].upper()}{script[1:]} text has no font on this server and is"
    return f"{lack} shown as empty boxes; install {package}: {MEND}"


def _package(script: str) -> str:
    if script == "emoji":
        return _EMOJI
    return _CJK_PACKAGE if script in _CJK_NAMES else _CORE


def script_of(letter: str) -> str:
    """Such as Thai or CJK; `emoji` for every sign that is no letter."""
    if unicodedata.category(letter)[0] not in "LMN":
        return "emoji"
    return unicodedata.name(letter).split()[0].split("-")[0].capitalize().replace("Cjk", "CJK")


def _has_shape(letter: str) -> bool:
    return unicodedata.category(letter)[0] not in _SHAPELESS and not "\ufe00" <= letter <= "\ufe0f"


def uncovered(letters: set[str], installed: Sequence[Font]) -> set[str]:
    """The letters that no font holds. Few files are opened: the likely ones come first."""
    families = {family: place for place, family in enumerate(_CHAIN)}
    files = {
        (font.path, font.index): families.get(font.family, len(families))
        for font in installed
        if font.path and font.style == "normal"
    }
    for path, index in sorted(files, key=lambda file: files[file]):
        if not letters:
            break
        held = _held(path, index)
        letters = {letter for letter in letters if not _is_in(held, ord(letter))}
    return letters


Spans = tuple[list[int], list[int]]
"""First and last codes of the runs of characters that a font holds, both rising."""


def _is_in(held: Spans, code: int) -> bool:
    firsts, lasts = held
    place = bisect_right(firsts, code) - 1
    return place >= 0 and code <= lasts[place]


@lru_cache(maxsize=512)
def _held(path: str, index: int) -> Spans:
    """What the character map of a font says. A file that is no font holds nothing."""
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as font,
        ):
            return _spans(font, _character_map(font, index))
    except (OSError, ValueError, struct.error, LookupError):
        return [], []


def _character_map(font: mmap.mmap, index: int) -> int:
    """Where the widest map of a face begins."""
    start = struct.unpack_from(">I", font, 12 + 4 * index)[0] if font[:4] == b"ttcf" else 0
    (count,) = struct.unpack_from(">H", font, start + 4)
    tables = (struct.unpack_from(">4s4xI", font, start + 12 + 16 * table) for table in range(count))
    table = dict(tables)[b"cmap"]
    (count,) = struct.unpack_from(">H", font, table + 2)
    maps = [
        table + struct.unpack_from(">4xI", font, table + 4 + 8 * place)[0] for place in range(count)
    ]
    formats = {struct.unpack_from(">H", font, place)[0]: place for place in maps}
    place: int = formats[12] if 12 in formats else formats[4]  # noqa: PLR2004 - the wider one
    return place


def _spans(font: mmap.mmap, start: int) -> Spans:
    if font[start : start + 2] == b"\x00\x0c":
        (count,) = struct.unpack_from(">I", font, start + 12)
        groups = list(struct.iter_unpack(">II4x", font[start + 16 : start + 16 + 12 * count]))
        return [first for first, _ in groups], [last for _, last in groups]
    (size,) = struct.unpack_from(">H", font, start + 6)
    codes = f">{size // 2}H"
    lasts = struct.unpack_from(codes, font, start + 14)
    return list(struct.unpack_from(codes, font, start + 16 + size)), list(lasts)
