"""Joins what punctuation splits, and splits what capitals, digits and underscores join."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bowerbird.search.words.token_folding import UNSPACED

MAX_JOINED_CHARACTERS: Final = 40
_MAX_JOINED_PARTS: Final = 5
_MIN_GLUED_DIGITS: Final = 7
_MAX_SLASHED: Final = 3

# Letters and digits with their marks: \w has no vowel signs.
_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    "\u00ad\u200c\u200d"
)
_LETTER: Final = f"(?:[^\\W_]|[{_MARKS}])"
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_APOSTROPHES: Final = "'\u2019\u2018\u02bc"
_SIGNS: Final = f"{_APOSTROPHES}._\\-\u2010\u2011&/,\u00b7"
_COMPOUND: Final = re.compile(f"{_LETTER}+(?:[{_SIGNS}]{_LETTER}+)*")
_ASCII_COMPOUND: Final = re.compile("[A-Za-z0-9]+(?:['._\\-&/,][A-Za-z0-9]+)*")
_SEGMENT: Final = re.compile(f"{_LETTER}+")
_ASCII_SEGMENT: Final = re.compile("[A-Za-z0-9]+")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_VERSION: Final = re.compile(r"\d[.,]\d")
_LETTERS_THEN_DIGITS: Final = re.compile(r"([^\W\d_]{2,})(\d\w{0,7})")
_DIGITS_THEN_LETTERS: Final = re.compile(r"(\d{1,8})(?!(?:st|nd|rd|th)\b)([^\W\d_]{2,})")
_ACRONYM_PLURAL: Final = re.compile("[A-Z]{2,}s")
# "Don't" and "you're" are whole words.
_CONTRACTIONS: Final = frozenset({"t", "re", "ve", "ll", "d", "m", "em", "s"})
_MIN_STEM_BEFORE_SUFFIX: Final = 2
_MIN_AFTER_APOSTROPHE: Final = 4

# Names that are nothing but a letter without their signs.
_OWN_WORD: Final = re.compile(
    r"(?<![\w+])c\+\+(?P<year>\d\d)?(?![\w+])|(?<!\w)[cf]#(?![\w#])"
    r"|(?:(?<![\w.])|(?<=\basp)|(?<=\bvb)|(?<=\bado))\.net(?!\w)",
    re.IGNORECASE,
)
# The names in a handle: without digits, and without single letters.
_NAME: Final = re.compile("[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]{2,}")


class Part(NamedTuple):
    """A part of a text, as it is written there."""

    text: str
    start: int
    end: int


class Compound(NamedTuple):
    """A run of letters, with single signs between its segments."""

    text: str
    start: int
    segments: Sequence[Part]

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def signs(self) -> str:
        return "".join([self.text[one.end - self.start] for one in self.segments[:-1]])


def compounds(text: str) -> Iterator[Compound]:
    """The runs of a piece of text, except in scripts without spaces."""
    is_ascii = text.isascii()
    if not is_ascii:
        text = _UNSPACED.sub(" ", text)
    if text.isalpha():
        yield Compound(text, 0, [Part(text, 0, len(text))])
        return
    segment = _ASCII_SEGMENT if is_ascii else _SEGMENT
    for run in (_ASCII_COMPOUND if is_ascii else _COMPOUND).finditer(text):
        start = run.start()
        yield Compound(
            run[0],
            start,
            [Part(one[0], one.start(), one.end()) for one in segment.finditer(text, *run.span())],
        )


def ascii_compounds(text: str) -> Iterator[tuple[str, list[str]]]:
    """The runs of a piece of ASCII text and their segments, without positions."""
    for run in _ASCII_COMPOUND.findall(text):
        yield run, [run] if run.isalnum() else _ASCII_SEGMENT.findall(run)


def joined(compound: Compound) -> str | None:
    """The segments as one word: node.js, e-mail, U.S., AT&T, 1,250,000."""
    return joined_text(compound.text, [one.text for one in compound.segments])


def joined_text(compound: str, segments: Sequence[str]) -> str | None:
    """The segments as one word, for a compound and segments that are plain texts."""
    if not 1 < len(segments) <= _MAX_JOINED_PARTS or len(compound) > MAX_JOINED_CHARACTERS:
        return None
    text = "".join(segments)
    if text.isdigit():
        is_number = _THOUSANDS.fullmatch(compound) is not None
        return text if is_number or len(text) >= _MIN_GLUED_DIGITS else None
    if "," in compound or (not text.isalpha() and _VERSION.search(compound)):
        return None
    if "/" in compound and any(len(one) > _MAX_SLASHED for one in segments):
        return None
    return text


def halves(segment: Part) -> list[Part]:
    """The letters before or after the digits of a segment, and the rest of it."""
    text = segment.text
    if text.isalpha():
        return []
    match = _LETTERS_THEN_DIGITS.fullmatch(text) or _DIGITS_THEN_LETTERS.fullmatch(text)
    if match is None:
        return []
    return [
        Part(match[group], segment.start + match.start(group), segment.start + match.end(group))
        for group in (1, 2)
    ]


def camel_parts(segment: Part) -> list[Part]:
    """The words in a segment that begin with capitals."""
    text = segment.text
    if text.islower() or text.isupper() or text[1:].lower() == text[1:]:
        return []
    if _ACRONYM_PLURAL.fullmatch(text):
        return [Part(text[:-1], segment.start, segment.end - 1)]
    edges = [0]
    for index in range(1, len(text)):
        before, here = text[index - 1], text[index]
        after = text[index + 1 : index + 2]
        if here.isupper() and (before.islower() or (before.isupper() and after.islower())):
            edges.append(index)
    if len(edges) == 1:
        return []
    return [
        Part(text[a:b], segment.start + a, segment.start + b)
        for a, b in zip(edges, [*edges[1:], len(text)], strict=True)
    ]


def has_apostrophe(compound: Compound) -> bool:
    text = compound.text
    return "'" in text or (not text.isascii() and any(sign in text for sign in _APOSTROPHES))


def around_apostrophe(compound: Compound) -> list[Part]:
    """The words before a suffix and after a prefix: İstanbul'da, O'Brien."""
    segments = compound.segments
    is_apostrophe = [sign in _APOSTROPHES for sign in compound.signs]
    found = []
    for index, segment in enumerate(segments):
        is_before = index < len(is_apostrophe) and is_apostrophe[index]
        is_after = index > 0 and is_apostrophe[index - 1]
        if is_before and segments[index + 1].text.lower() in _CONTRACTIONS:
            continue
        length = segment.end - segment.start
        if (is_before and length >= _MIN_STEM_BEFORE_SUFFIX) or (
            is_after and length >= _MIN_AFTER_APOSTROPHE
        ):
            found.append(segment)
    return found


def handle_names(piece: str, max_characters: int) -> list[str]:
    """The names in a handle, and what is between its underscores, which may be left out."""
    handle = piece[1:].partition("'")[0].rstrip(".,:;!?)")
    lowered = handle.lower()
    names = _NAME.findall(handle)
    if handle != lowered:
        names = [name.lower() for name in names]
    if "_" in lowered:
        names += lowered.split("_")
        names.append(lowered.replace("_", ""))
    elif len(names) == 1 and len(names[0]) == len(handle):
        return []
    return [
        name for name in dict.fromkeys(names) if 1 < len(name) <= max_characters and name.isalnum()
    ]


def own_words(piece: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The words that stand for C++, C#, F# or .NET in a piece, each with its range."""
    for match in _OWN_WORD.finditer(piece):
        for name in own_names(match[0]):
            yield name, match.span()


def own_names(text: str) -> tuple[str, ...]:
    """The words that stand for C++, C#, F# or .NET, the most exact one first; else none."""
    if not _OWN_WORD.fullmatch(text):
        return ()
    lowered = text.lower()
    if lowered == ".net":
        return ("dotnet",)
    if lowered.endswith("#"):
        return (f"{lowered[0]}sharp",)
    return tuple(dict.fromkeys((f"cplusplus{lowered[3:]}", "cplusplus")))


def syllable_pairs(text: str) -> Iterator[tuple[str, int]]:
    """Each pair of Hangul syllables and its offset: particles follow a word without a space."""
    for run in _HANGUL.finditer(text):
        for start in range(run.start(), run.end() - 1):
            yield text[start : start + 2], start
