"""Chooses the fonts of a document, and finds the scripts that no installed font covers.

The list of fonts comes from typst itself, so the answer matches what typst will print.
`python -m bowerbird.exports.fonts` prints these scripts, in a process of its own: typst takes 80 MB
of memory that a server would never give back.
"""

import asyncio
import mmap
import struct
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from bowerbird.settings import without_settings

# Where there are no Debian packages.
WEBSITE: Final = "https://fonts.google.com/noto"

# typst tries the fonts in this order for each glyph, and reads a font file whole on first use, so
# large files come late. Emoji come before CJK, whose fonts draw some emoji as plain signs. One CJK
# family is enough: each contains all regional forms, and the language of a text chooses one.
_FAMILIES: Final = (
    *("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari"),
    *("Noto Sans Thai", "Noto Color Emoji", "Noto Sans CJK SC"),
    *("Noto Sans Symbols", "Noto Sans Symbols2", "Noto Sans Math"),
)
_BUNDLED: Final = "Libertinus Serif"
_CORE, _CJK_PACKAGE, _EMOJI = "fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji"
PACKAGES: Final = (_CORE, _CJK_PACKAGE, _EMOJI)
"""The Debian packages with the fonts. `requirements/system.sh` installs the same."""
SCRIPTS: Final = {
    "Latin": ("a", "Noto Sans", _CORE),
    "Arabic": ("ب", "Noto Sans Arabic", _CORE),
    "Hebrew": ("א", "Noto Sans Hebrew", _CORE),
    "Devanagari": ("अ", "Noto Sans Devanagari", _CORE),
    "Thai": ("ก", "Noto Sans Thai", _CORE),
    "CJK": ("一", "Noto Sans CJK SC", _CJK_PACKAGE),
    "emoji": ("😀", "Noto Color Emoji", _EMOJI),
}
"""The scripts every installation should print: a sample letter, its font and the package of it."""
_CJK_NAMES: Final = {"CJK", "Hiragana", "Katakana", "Hangul", "Halfwidth", "Bopomofo"}
# Categories of characters without a glyph: control characters and spaces.
_NO_GLYPH: Final = ("C", "Z")
_LAST_LATIN: Final = 0x2FF


class Font(Protocol):
    """A font face as typst lists it. The fonts bundled with typst have no path."""

    family: str
    style: str
    weight: int
    path: str | None
    index: int


class MissingFont(Struct, frozen=True):
    script: str
    font: str
    package: str


def font_families(installed: Iterable[Font]) -> list[str]:
    """The families for a document. If none of them has a glyph, typst tries all other fonts."""
    families = {font.family for font in installed}
    return [name for name in _FAMILIES if name in families] or [_BUNDLED]


def missing_here() -> list[MissingFont]:
    """The scripts of `SCRIPTS` that no font on this machine covers."""
    import typst  # noqa: PLC0415 - an 80 MB library that only `doctor` and exports need

    installed = typst.Fonts(include_embedded_fonts=False).fonts()
    missing = without_font({letter for letter, _, _ in SCRIPTS.values()}, installed)
    return [
        MissingFont(script, font, package)
        for script, (letter, font, package) in SCRIPTS.items()
        if letter in missing
    ]


def missing_font_notes(text: str, installed: Sequence[Font]) -> list[str]:
    """One sentence for each script of a text that the installed fonts do not fully cover."""
    letters = {letter for letter in set(text) if ord(letter) > _LAST_LATIN and _has_glyph(letter)}
    missing = without_font(letters, installed)
    scripts = sorted({script_of(letter) for letter in missing})
    covered = {script_of(letter) for letter in letters - missing}
    return [_note(script, is_partial=script in covered) for script in scripts]


def _note(script: str, *, is_partial: bool) -> str:
    characters = f"some {script} characters" if is_partial else f"{script} text"
    lack = f"This server has no font for {characters}, so the export shows empty boxes."
    return f"{lack} The operator can install it: {install_advice([_package(script)])}"


def install_advice(packages: Iterable[str]) -> str:
    return f"apt install {' '.join(packages)}, or the Noto fonts from {WEBSITE}"


def _package(script: str) -> str:
    if script == "emoji":
        return _EMOJI
    return _CJK_PACKAGE if script in _CJK_NAMES else _CORE


def script_of(letter: str) -> str:
    """For example Thai or CJK; `emoji` for every sign that is not a letter."""
    if unicodedata.category(letter)[0] not in "LMN":
        return "emoji"
    return unicodedata.name(letter).split()[0].split("-")[0].capitalize().replace("Cjk", "CJK")


def _has_glyph(letter: str) -> bool:
    return unicodedata.category(letter)[0] not in _NO_GLYPH and not "\ufe00" <= letter <= "\ufe0f"


def without_font(letters: set[str], installed: Sequence[Font]) -> set[str]:
    """The letters that no font covers. Tries the likely fonts first, to open few files."""
    families = {family: position for position, family in enumerate(_FAMILIES)}
    files = {
        (font.path, font.index): families.get(font.family, len(families))
        for font in installed
        if font.path and font.style == "normal"
    }
    for path, index in sorted(files, key=lambda file: files[file]):
        if not letters:
            break
        spans = _covered(path, index)
        letters = {letter for letter in letters if not _is_in(spans, ord(letter))}
    return letters


Spans = tuple[list[int], list[int]]
"""The first and the last code points of each range of characters in a font, both ascending."""


def _is_in(spans: Spans, code: int) -> bool:
    firsts, lasts = spans
    index = bisect_right(firsts, code) - 1
    return index >= 0 and code <= lasts[index]


def _covered(path: str, index: int) -> Spans:
    """The ranges in the character map of a font; none if the file is not a font."""
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as font,
        ):
            return _spans(font, _character_map(font, index))
    except (OSError, ValueError, struct.error, LookupError):
        return [], []


def _character_map(font: mmap.mmap, index: int) -> int:
    """The offset of the largest character map of a face."""
    start = struct.unpack_from(">I", font, 12 + 4 * index)[0] if font[:4] == b"ttcf" else 0
    (count,) = struct.unpack_from(">H", font, start + 4)
    tables = (struct.unpack_from(">4s4xI", font, start + 12 + 16 * table) for table in range(count))
    table = dict(tables)[b"cmap"]
    (count,) = struct.unpack_from(">H", font, table + 2)
    maps = [
        table + struct.unpack_from(">4xI", font, table + 4 + 8 * entry)[0] for entry in range(count)
    ]
    formats = {struct.unpack_from(">H", font, offset)[0]: offset for offset in maps}
    offset: int = formats[12] if 12 in formats else formats[4]  # noqa: PLR2004 - the larger one
    return offset


def _spans(font: mmap.mmap, start: int) -> Spans:
    if font[start : start + 2] == b"\x00\x0c":
        (count,) = struct.unpack_from(">I", font, start + 12)
        groups = list(struct.iter_unpack(">II4x", font[start + 16 : start + 16 + 12 * count]))
        return [first for first, _ in groups], [last for _, last in groups]
    (size,) = struct.unpack_from(">H", font, start + 6)
    codes = f">{size // 2}H"
    lasts = struct.unpack_from(codes, font, start + 14)
    return list(struct.unpack_from(codes, font, start + 16 + size)), list(lasts)


_TIMEOUT_S: Final = 20.0


async def missing_fonts() -> list[MissingFont]:
    """Raises TimeoutError if the fonts cannot be read in time, and OSError if not at all."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "bowerbird.exports.fonts"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=without_settings(),
    )
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise OSError(f"the check of the fonts ended with code {process.returncode}")
    return msgspec.json.decode(output, type=list[MissingFont])


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(missing_here()))
