"""The tokens of a text: the one tokenizer that feeds FTS5, PostgreSQL and the queries.

FTS5 must read them with tokenize="ascii tokenchars '#@_'", which cuts none of them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from bowerbird.model.words import GAP
from bowerbird.search.token_folding import UNSPACED, fold

MAX_TOKEN_CHARACTERS: Final = 64
# A tsvector counts positions to 16,383, keeps 255 of one lexeme and ends at 1 MB.
MAX_TOKENS: Final = 16_000
MAX_OCCURRENCES: Final = 255
MAX_CHARACTERS: Final = 200_000
_LONGEST_NAME: Final = 64

# The sigil first and what stands before it second: so the scan skips from sigil to sigil.
SIGIL_WORD: Final = re.compile("[#@](?<![^ ].)[^ #@]+")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_RUN: Final = re.compile(f"[{UNSPACED}]+|[^ {UNSPACED}]+")


def index_text(fields: Sequence[str]) -> str:
    """The tokens of all fields, parted by spaces. Short fields come first: the end is cut."""
    tokens: list[str] = []
    for field in fields:
        own: Sequence[str] = (
            _name_tokens(field) if len(field) <= _LONGEST_NAME else _field_tokens(field)
        )
        if own and tokens:
            tokens.append(GAP)
        tokens += own
        if len(tokens) >= MAX_TOKENS:
            break
    text = " ".join(_thinned(tokens[:MAX_TOKENS]))
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS].rpartition(" ")[0]


def words(text: str) -> list[str]:
    """The tokens of a text in order, handles and hashtags without their sigils."""
    return _words(fold(text))


def lone_sigil_word(text: str) -> str | None:
    """The handle or hashtag, sigil included, if the text is nothing else."""
    pieces = fold(text).split()
    if len(pieces) != 1 or not SIGIL_WORD.fullmatch(pieces[0]):
        return None
    return pieces[0][:MAX_TOKEN_CHARACTERS]


def cut(word: str) -> list[tuple[str, int]]:
    """A folded word's tokens, each with its place in the word."""
    found: list[tuple[str, int]] = []
    for run in _RUN.finditer(word):
        if is_unspaced(run[0]):
            # Each character begins a token, the last one alone: so a query of one character is a
            # prefix that finds it anywhere, and a phrase may go on behind the run.
            found += [
                (word[start : min(start + 2, run.end())], start) for start in range(*run.span())
            ]
        else:
            found.append((run[0][:MAX_TOKEN_CHARACTERS], run.start()))
    return found


def is_unspaced(token: str) -> bool:
    """Whether the token was cut from a script that puts no spaces between words."""
    return _UNSPACED.match(token) is not None


# Handles and names of authors come again and again.
@lru_cache(maxsize=4096)
def _name_tokens(field: str) -> tuple[str, ...]:
    return tuple(_field_tokens(field))


def _field_tokens(field: str) -> list[str]:
    folded = fold(field)
    tokens = _words(folded)
    if "#" in folded or "@" in folded:
        sigil_words = _shortened(SIGIL_WORD.findall(folded))
        tokens += [GAP, *sigil_words] if sigil_words else []
    return tokens


def _words(folded: str) -> list[str]:
    plain = folded.replace("#", " ").replace("@", " ")
    if plain.isascii() or not _UNSPACED.search(plain):
        return _shortened(plain.split())
    tokens: list[str] = []
    for word in plain.split():
        if word.isascii():
            tokens.append(word[:MAX_TOKEN_CHARACTERS])
        else:
            tokens += [token for token, _ in cut(word)]
    return tokens


def _shortened(tokens: list[str]) -> list[str]:
    if max(map(len, tokens), default=0) <= MAX_TOKEN_CHARACTERS:
        return tokens
    return [token[:MAX_TOKEN_CHARACTERS] for token in tokens]


def _thinned(tokens: list[str]) -> list[str]:
    """The tokens with gaps for what PostgreSQL would forget, so that both engines answer alike."""
    if len(tokens) <= MAX_OCCURRENCES or max(Counter(tokens).values()) <= MAX_OCCURRENCES:
        return tokens
    seen: Counter[str] = Counter()
    thinned: list[str] = []
    for token in tokens:
        seen[token] += 1
        thinned.append(token if seen[token] <= MAX_OCCURRENCES else GAP)
    return thinned
