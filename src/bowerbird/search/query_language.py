"""The query language: words, "phrases", -exclusions and prefix* as a tree. No input is an error."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from bowerbird.model.words import Term, WordQuery
from bowerbird.search import tokens

MAX_TERMS: Final = 32
# A query is read on the event loop; nobody types more.
MAX_CHARACTERS: Final = 4_000
# Bounds what one pasted page can ask of the engines; the phrase's first words decide.
MAX_TERM_TOKENS: Final = 64
MIN_PREFIX_LETTERS: Final = 2

_PIECE: Final = re.compile(r'(?P<sign>[-!]?)(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')
_STRAIGHT_QUOTES: Final = str.maketrans("\u201c\u201d\u201e\uff02", '""""')
_BIGRAM_LENGTH: Final = 2


def parse(text: str) -> WordQuery:
    pieces = text[:MAX_CHARACTERS].translate(_STRAIGHT_QUOTES)
    return WordQuery(tuple(dict.fromkeys(islice(_terms(pieces), MAX_TERMS))))


def _terms(text: str) -> Iterator[Term]:
    for piece in _PIECE.finditer(text):
        is_excluded = bool(piece["sign"])
        term = _phrase(piece["phrase"]) if piece["word"] is None else _word(piece["word"])
        if term.tokens:
            yield Term(term.tokens, term.is_prefix, is_excluded)


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
    found = tuple(tokens.words(text))
    if len(found) > MAX_TERM_TOKENS:
        return Term(found[:MAX_TERM_TOKENS])
    if not found or not tokens.is_unspaced(found[-1]):
        return Term(found)
    # In the post the run may go on where the query ends. Its last character stands alone in the
    # query but begins a pair in the post: behind a pair it says nothing new and is left out, on
    # its own it is a prefix, which finds the pairs and the character at a run's end alike.
    if len(found) > 1 and _is_pair(found[-2]):
        return Term(found[:-1])
    return Term(found, is_prefix=True)


def _is_pair(token: str) -> bool:
    return len(token) == _BIGRAM_LENGTH and tokens.is_unspaced(token)
