"""Prepares the text of posts for typesetting: cleans it, splits it by direction, finds links.

The result is data for the template, never markup.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

Data = dict[str, Any]

MAX_CHARACTERS: Final = 1_000_000
"""A document cuts longer texts. JSON and CSV do not."""
_CUT_NOTE: Final = (
    "\n\n[The rest of this text is too long for a PDF; the JSON export has the full text.]"
)
_MAX_URL_CHARACTERS: Final = 2_000
_BREAK_EVERY: Final = 12
_ZERO_WIDTH_SPACE: Final = "\u200b"

_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters and noncharacters have no glyph. Bidirectional embeddings and overrides
# could reverse the text that follows them.
_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufff9-\uffff]"
)
_MARK: Final = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED_MARKS: Final = re.compile(f"({_MARK}{{4}}){_MARK}+")
# Only scripts that separate words by spaces: typst breaks their lines only there, and a line has
# room for about 85 letters.
_MIN_LONG_WORD: Final = 60
_LONG_WORD: Final = re.compile(f"[!-~\xa1-\u02ff\u0370-\u0482\u048a-\u08ff]{{{_MIN_LONG_WORD},}}")
_URL: Final = re.compile(r"https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_URL_TRAILING_PUNCTUATION: Final = ".,:;!?'*)]"
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
_RIGHT_TO_LEFT: Final = {"R", "AL"}
_DIRECTED: Final = {"L", *_RIGHT_TO_LEFT}


def clean(text: str) -> str:
    if text.isascii() and text.isprintable() and len(text) <= MAX_CHARACTERS:
        # Most names and many texts: one line of printable characters.
        return text.strip(" ")
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS] + _CUT_NOTE
    text = _UNPRINTABLE.sub("", _LINE_ENDS.sub("\n", text)).replace("\t", "    ")
    return _STACKED_MARKS.sub(r"\1", text).strip("\n ")


def single_line(text: str) -> Data | None:
    """A heading or a name as one line; None if cleaning leaves nothing."""
    line = " ".join(clean(text).split())
    return (
        _paragraph([line], is_rtl=is_right_to_left(line), language=_language(line))
        if line
        else None
    )


def paragraphs(text: str) -> list[Data]:
    """Splits a text at blank lines and where the direction changes; keeps other line breaks."""
    text = clean(text)
    language = _language(text)
    return [
        _paragraph(list(lines), is_rtl=is_rtl, language=language)
        for block in _PARAGRAPH_END.split(text)
        for is_rtl, lines in groupby(block.split("\n"), is_right_to_left)
        if text
    ]


def safe_url(text: str) -> str:
    """The text if it is a web address that a document may link to, else ''."""
    return text if len(text) <= _MAX_URL_CHARACTERS and _URL.fullmatch(text) else ""


def with_line_breaks(text: str) -> str:
    """Adds zero-width spaces to very long words, so that typst can break the line there."""
    return text if len(text) < _MIN_LONG_WORD else _LONG_WORD.sub(_break_word, text)


def is_right_to_left(line: str) -> bool:
    """Decides by the first letter that has a direction, as the Unicode algorithm does."""
    if line.isascii() or not _BEYOND_LATIN.search(line):
        return False
    kinds = map(unicodedata.bidirectional, line)
    return next((kind for kind in kinds if kind in _DIRECTED), "L") in _RIGHT_TO_LEFT


def _language(text: str) -> str:
    """Guesses the language from the script, for the choice of glyphs and for screen readers."""
    if text.isascii() or not _BEYOND_LATIN.search(text):
        return ""
    return next((name for name, letters in _LANGUAGES.items() if letters.search(text)), "")


def _paragraph(lines: list[str], *, is_rtl: bool, language: str) -> Data:
    paragraph: Data = {"t": [piece for piece in _pieces("\n".join(lines)) if piece]}
    if is_rtl:
        paragraph["r"] = True
    if language:
        paragraph["g"] = language
    return paragraph


def _pieces(text: str) -> Iterator[str | list[str]]:
    """Yields text as strings, and each link as a list with its address."""
    end = 0
    for match in _URL.finditer(text):
        link = match[0].rstrip(_URL_TRAILING_PUNCTUATION)
        if safe_url(link):
            yield with_line_breaks(text[end : match.start()])
            yield [link]
            end = match.start() + len(link)
    yield with_line_breaks(text[end:])


def _break_word(word: re.Match[str]) -> str:
    starts = range(0, len(word[0]), _BREAK_EVERY)
    return _ZERO_WIDTH_SPACE.join(word[0][start : start + _BREAK_EVERY] for start in starts)
