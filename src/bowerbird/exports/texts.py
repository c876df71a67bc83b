"""Foreign text, made ready to be set: cleaned, parted into lines of one direction, links found.

What comes out is data for the template, never markup.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

Data = dict[str, Any]

LONGEST: Final = 1_000_000
"""Letters of one text that a document shows. JSON and CSV hold longer ones whole."""
_LEFT_OUT: Final = (
    "\n\n[The rest of this text is too long for a document; the JSON export holds it.]"
)
_LONGEST_ADDRESS: Final = 2_000
_MOST_BETWEEN_BREAKS: Final = 12
_ZERO_WIDTH_SPACE: Final = "\u200b"

_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls and noncharacters have no glyph; embeddings and overrides would let one text turn
# the reading order of others around.
_UNSET: Final = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufff9-\uffff]"
)
_MARK: Final = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_PILED_MARKS: Final = re.compile(f"({_MARK}{{4}}){_MARK}+")
# Scripts that part words by spaces and are broken nowhere else; a line holds about 85 letters.
_LONG_WORD: Final = re.compile("[!-~\xa1-\u02ff\u0370-\u0482\u048a-\u08ff]{60,}")
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_AFTER_ADDRESS: Final = ".,:;!?'*)]"
_PARAGRAPH_END: Final = re.compile(r"\n[ ]*\n\s*")

_BEYOND_LATIN: Final = re.compile("[\u0590-\U0003ffff]")
_LANGUAGES: Final = {
    "ja": re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d]"),
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "zh": re.compile("[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
}
_RIGHT: Final = {"R", "AL"}
_STRONG: Final = {"L", *_RIGHT}


def cleaned(text: str) -> str:
    if len(text) > LONGEST:
        text = text[:LONGEST] + _LEFT_OUT
    text = _UNSET.sub("", _LINE_ENDS.sub("\n", text)).replace("\t", "    ")
    return _PILED_MARKS.sub(r"\1", text).strip("\n ")


def title(text: str) -> Data | None:
    """One line for a heading or a name; None when nothing is left of it."""
    line = " ".join(cleaned(text).split())
    return (
        _paragraph([line], is_right=is_rightward(line), language=_language(line)) if line else None
    )


def paragraphs(text: str) -> list[Data]:
    """A text as the template takes it. Blank lines part paragraphs, other line ends are kept."""
    text = cleaned(text)
    language = _language(text)
    return [
        _paragraph(list(lines), is_right=is_right, language=language)
        for block in _PARAGRAPH_END.split(text)
        for is_right, lines in groupby(block.split("\n"), is_rightward)
        if text
    ]


def address(text: str) -> str:
    """The text if a document may link to it, else nothing."""
    return text if len(text) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(text) else ""


def breakable(text: str) -> str:
    """With places in overlong words where a line may end."""
    return _LONG_WORD.sub(_with_breaks, text)


def is_rightward(line: str) -> bool:
    """Whether the first letter that has a direction is read from right to left."""
    if not _BEYOND_LATIN.search(line):
        return False
    kinds = map(unicodedata.bidirectional, line)
    return next((kind for kind in kinds if kind in _STRONG), "L") in _RIGHT


def _language(text: str) -> str:
    """A guess by script, for the choice of glyphs and for reading aloud; else nothing."""
    if not _BEYOND_LATIN.search(text):
        return ""
    return next((name for name, letters in _LANGUAGES.items() if letters.search(text)), "")


def _paragraph(lines: list[str], *, is_right: bool, language: str) -> Data:
    paragraph: Data = {"t": [piece for piece in _pieces("\n".join(lines)) if piece]}
    if is_right:
        paragraph["r"] = True
    if language:
        paragraph["g"] = language
    return paragraph


def _pieces(text: str) -> Iterator[str | list[str]]:
    """Text between links as it is, a link as a list of itself."""
    end = 0
    for found in _ADDRESS.finditer(text):
        link = found[0].rstrip(_AFTER_ADDRESS)
        if address(link):
            yield breakable(text[end : found.start()])
            yield [link]
            end = found.start() + len(link)
    yield breakable(text[end:])


def _with_breaks(word: re.Match[str]) -> str:
    starts = range(0, len(word[0]), _MOST_BETWEEN_BREAKS)
    return _ZERO_WIDTH_SPACE.join(word[0][start : start + _MOST_BETWEEN_BREAKS] for start in starts)
