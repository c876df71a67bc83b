"""The tokens of a text with the places they were read from."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.search import tokens
from bowerbird.search.folding import ASCII_RUN, fold, without_parting_apostrophes

_WORD: Final = re.compile("[^ #@]+")
_SIGIL_WORD: Final = re.compile("[#@](?<![^ ].)[^ #@]+")


class Placed(Struct, frozen=True):
    """A token, and the part of the text that it stands for."""

    text: str
    start: int
    end: int


def placed_tokens(text: str) -> list[Placed]:
    """In the index's order: the words, then handles and hashtags with their sigils."""
    folded, places = _folded(text)
    found = [
        Placed(token, places[start][0], places[end - 1][1])
        for word in _WORD.finditer(folded)
        for token, start, end in _cut(word)
    ]
    for word in _SIGIL_WORD.finditer(folded):
        token = word[0][: tokens.MAX_TOKEN_CHARACTERS]
        # A place between, so that no phrase runs from the words into these.
        found += [
            Placed("", 0, 0),
            Placed(token, places[word.start()][0], places[word.end() - 1][1]),
        ]
    return found


def _cut(word: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """The word's tokens as the index has them: whole, or a pair a character."""
    for text, start in tokens.cut(word[0]):
        begin = word.start() + start
        yield text, begin, begin + len(text)


def _folded(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The folded text, and for each of its characters the part of the text it came from."""
    text = without_parting_apostrophes(text)
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    for run in ASCII_RUN.split(text):
        if run.isascii():
            parts.append(fold(run))
            # Each character folds to one, but for the apostrophe, which folds to none.
            places += [(n, n + 1) for n, one in enumerate(run, start) if one != "'"]
        else:
            for begin, end in _clusters(run):
                folded = fold(run[begin:end])
                parts.append(folded)
                places += [(start + begin, start + end)] * len(folded)
        start += len(run)
    return "".join(parts), places


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Each character with the marks that follow it, which fold together with it."""
    start = 0
    for place, character in enumerate(text):
        if place > start and not unicodedata.combining(character):
            yield start, place
            start = place
    yield start, len(text)
