"""The tokens of a text with the places they were read from."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from bowerbird.search import tokens
from bowerbird.search.token_folding import fold, without_parting_apostrophes

_WRITTEN: Final = re.compile(r"\S+")
_WORD: Final = re.compile("[^ #@]+")
# Longer ones are whole sentences of a script without spaces, which seldom come again.
_LONGEST_KEPT: Final = 40


class Placed(Struct, frozen=True):
    """A token, and the part of the text that it stands for."""

    text: str
    start: int
    end: int


# Holds a place that no phrase runs across.
_GAP: Final = Placed("", 0, 0)


def placed_tokens(text: str) -> list[Placed]:
    """In the index's order: the words, then handles and hashtags with their sigils."""
    found: list[Placed] = []
    with_sigils: list[Placed] = []
    for written in _WRITTEN.finditer(without_parting_apostrophes(text)):
        start, word = written.start(), written[0]
        plain, sigils = _kept(word) if len(word) <= _LONGEST_KEPT else _read(word)
        found += [Placed(token, start + a, start + b) for token, a, b in plain]
        for token, a, b in sigils:
            with_sigils += (_GAP, Placed(token, start + a, start + b))
    return found + with_sigils


_Tokens = Sequence[tuple[str, int, int]]


def _read(word: str) -> tuple[_Tokens, _Tokens]:
    """The tokens in what stands between two spaces, and those of them with a sigil."""
    folded, places = _folded(word)
    plain = [
        (token, places[part.start() + start][0], places[part.start() + start + len(token) - 1][1])
        for part in _WORD.finditer(folded)
        for token, start in tokens.cut(part[0])
    ]
    sigils = [
        (part[0][: tokens.MAX_TOKEN_CHARACTERS], places[part.start()][0], places[part.end() - 1][1])
        for part in tokens.SIGIL_WORD.finditer(folded)
    ]
    return plain, sigils


# Most words of a page come again and again.
_kept: Final = lru_cache(maxsize=16_384)(_read)


def _folded(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The folded text, and for each of its characters the part of the text it came from."""
    if text.isascii() and "'" not in text:
        return fold(text), [(place, place + 1) for place in range(len(text))]
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    for start, end in _clusters(text):
        folded = fold(text[start:end])
        parts.append(folded)
        places += [(start, end)] * len(folded)
    return "".join(parts), places


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Each character with the marks that follow it, which fold together with it."""
    start = 0
    for place, character in enumerate(text):
        if place > start and not unicodedata.combining(character):
            yield start, place
            start = place
    yield start, len(text)
