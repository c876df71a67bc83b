"""Parses search queries: words, "phrases", -exclusions and prefix*. Every query is valid."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from bowerbird.model.words import Term, WordQuery
from bowerbird.search import tokens

MAX_TERMS: Final = 32
# The event loop parses queries, so their length has a limit. Nobody types more than this.
MAX_CHARACTERS: Final = 4_000
# Limits the work for the database when somebody pastes a page; the first words decide.
MAX_TERM_TOKENS: Final = 64
MIN_PREFIX_LETTERS: Final = 2

_PIECE: Final = re.compile(r'(?P<sign>[-!]?)(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')
_STRAIGHT_QUOTES: Final = str.maketrans("\u201c\u201d\u201e\uff02", '""""')
_PAIR_LENGTH: Final = 2


def parse(text: str) -> WordQuery:
    pieces = text[:MAX_CHARACTERS].translate(_STRAIGHT_QUOTES)
    return WordQuery(tuple(dict.fromkeys(islice(_terms(pieces), MAX_TERMS))))


def _terms(text: str) -> Iterator[Term]:
    for piece in _PIECE.finditer(text):
        is_excluded = bool(piece["sign"])
        term = _phrase(piece["phrase"]) if piece["word"] is None else _word(piece["word"])
        if term.tokens:
            is_quoted = piece["word"] is None
            yield Term(term.tokens, term.is_prefix, is_excluded, is_quoted)


def _word(text: str) -> Term:
    sigil_word = tokens.lone_sigil_word(text)
    term = _phrase(text) if sigil_word is None else Term((sigil_word,))
    is_prefix = text.endswith("*") and _may_be_prefix(term)
    return Term(term.tokens, is_prefix=term.is_prefix or is_prefix)


def _may_be_prefix(term: Term) -> bool:
    may_be_cut = len(term.tokens) == MAX_TERM_TOKENS
    if not term.tokens or may_be_cut or tokens.is_unspaced(term.tokens[-1]):
        return False
    return len(term.tokens[-1].lstrip("#@")) >= MIN_PREFIX_LETTERS


def _phrase(text: str) -> Term:
    words = tuple(tokens.words(text))
    if len(words) > MAX_TERM_TOKENS:
        return Term(words[:MAX_TERM_TOKENS])
    if not words or not tokens.is_unspaced(words[-1]):
        return Term(words)
    # Scripts without spaces are indexed as pairs of characters, and the last character of a run
    # is a token alone. In a post the run may continue where the query ends, so there the query's
    # last character begins a pair. After a pair it is redundant, and we drop it. On its own it
    # becomes a prefix, which matches both the pair and the single character at the end of a run.
    if len(words) > 1 and _is_pair(words[-2]):
        return Term(words[:-1])
    return Term(words, is_prefix=True)


def _is_pair(token: str) -> bool:
    return len(token) == _PAIR_LENGTH and tokens.is_unspaced(token)
