"""Finds the tokens of a text together with their positions in it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.search.words import tokens
from bowerbird.search.words.token_folding import (
    MAX_TOKEN_CHARACTERS,
    fold,
    without_separating_apostrophes,
)

_NOT_BLANK: Final = re.compile(r"\S+")
_WORD: Final = re.compile("[^ #@]+")


class PositionedToken(Struct, frozen=True):
    """A token, and where in the text it was found."""

    text: str
    start: int
    end: int


# Matches no token, so that no phrase crosses it.
_GAP: Final = PositionedToken("", 0, 0)


def tokens_with_positions(text: str) -> list[PositionedToken]:
    """In the order of the index: the words, then handles and hashtags with their sigils."""
    plain_tokens: list[PositionedToken] = []
    sigil_tokens: list[PositionedToken] = []
    for match in _NOT_BLANK.finditer(without_separating_apostrophes(text)):
        start, word = match.start(), match[0]
        plain, sigils = _split(word)
        plain_tokens += [PositionedToken(token, start + a, start + b) for token, a, b in plain]
        for token, a, b in sigils:
            sigil_tokens += (_GAP, PositionedToken(token, start + a, start + b))
    return plain_tokens + sigil_tokens


_Tokens = Sequence[tuple[str, int, int]]


def _split(word: str) -> tuple[_Tokens, _Tokens]:
    """The plain tokens of a word, and its handles and hashtags."""
    folded, origins = _fold_with_origins(word)
    plain = [
        (token, origins[part.start() + start][0], origins[part.start() + start + len(token) - 1][1])
        for part in _WORD.finditer(folded)
        for token, start in tokens.split_word(part[0])
    ]
    sigils = [
        (
            part[0][:MAX_TOKEN_CHARACTERS],
            origins[part.start()][0],
            origins[part.end() - 1][1],
        )
        for part in tokens.SIGIL_WORD.finditer(folded)
    ]
    return plain, sigils


def _fold_with_origins(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The folded text, and for each of its characters the range of the text it came from."""
    if text.isascii() and "'" not in text:
        return fold(text), [(index, index + 1) for index in range(len(text))]
    parts: list[str] = []
    origins: list[tuple[int, int]] = []
    for start, end in _clusters(text):
        folded = fold(text[start:end])
        parts.append(folded)
        origins += [(start, end)] * len(folded)
    return "".join(parts), origins


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """The range of each character together with the combining marks that follow it."""
    start = 0
    for index, character in enumerate(text):
        if index > start and not unicodedata.combining(character):
            yield start, index
            start = index
    yield start, len(text)
