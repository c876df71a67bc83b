"""Finds where the terms of a query are in a section of a text.

It folds and splits the text exactly as the index does, so it finds what the search matched.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from unicodedata import is_normalized

from bowerbird.model.words import OTHER_FORM, STEM, Form, Term
from bowerbird.search.queries.matching_pieces import MatchingPieces
from bowerbird.search.words.index_forms import marked_tokens
from bowerbird.search.words.token_folding import fold
from bowerbird.search.words.token_positions import PositionedToken, tokens_with_positions
from bowerbird.search.words.tokens import is_unspaced

# To find the positions of the words in a text, per character, in microseconds.
_OF_POSITION: Final = 0.5
# To look up a piece at a place.
_OF_PLACE: Final = 0.5
_OF_FOLDED_CHARACTER: Final = 0.2
# To look for characters that become one.
_OF_CHARACTER: Final = 0.05
# Become other characters in the fold, but not together with those next to them: spaces, an
# ellipsis, the trademark sign, fullwidth punctuation except the apostrophe.
_SIGNS: Final = re.compile(
    "[\u00a0\u2002-\u200a\u202f\u3000\u2026\u2122\uff01-\uff06\uff08-\uff0f\uff1a\uff1b\uff1f]"
)

Span = tuple[int, int]


class TermSpans:
    """The spans of the terms in the sections of a page of posts."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = [_FormsOfTerm(term) for term in terms]
        self.written = [form for term in self._terms for form in term.written]
        marked = [form for term in self._terms for form in term.marked]
        self.pieces = MatchingPieces(self.written, marked)
        self._has_phrases = any(len(form.tokens) > 1 for form in self.written)
        # Otherwise a match may be in several pieces.
        self._has_words_only = not any(len(form.tokens) > 1 for form in (*self.written, *marked))
        # By language and piece. Few pieces of a page match, and most of them repeat.
        self._of_pieces: defaultdict[str, dict[str, list[list[Span]]]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._terms)

    def in_section(self, section: str, language: str) -> list[list[Span]]:
        """For each term the spans of its matches."""
        matching = self.pieces.matching(section, language)
        if not matching:
            return [[] for _ in self._terms]
        if self._can_search_by_piece(section):
            return self._by_piece(self.pieces.locate(matching, section), language)
        return self._in_whole(section, matching, language)

    def of_written(self, text: str) -> list[list[Span]]:
        """For each term the spans in a short text where it is written as in the query."""
        return self._of_tokens(tokens_with_positions(text))

    def _can_search_by_piece(self, section: str) -> bool:
        if not self._has_words_only or section.isascii():
            return self._has_words_only
        self.pieces.cost += len(section) * _OF_CHARACTER
        return _folds_by_character(section)

    def _by_piece(self, places: Sequence[tuple[int, str]], language: str) -> list[list[Span]]:
        found: list[list[Span]] = [[] for _ in self._terms]
        known = self._of_pieces[language]
        self.pieces.cost += len(places) * _OF_PLACE
        for place, piece in places:
            spans_of_terms = known.get(piece)
            if spans_of_terms is None:
                found_in_piece = self._in_whole(piece, {piece}, language)
                spans_of_terms = known[piece] = found_in_piece if any(found_in_piece) else []
            # Most pieces of some sections only contain the letters of a word.
            if not spans_of_terms:
                continue
            for spans, of_term in zip(found, spans_of_terms, strict=True):
                spans += [(place + start, place + end) for start, end in of_term]
        return found

    def _in_whole(self, section: str, matching: set[str], language: str) -> list[list[Span]]:
        folded = fold(section)
        if not section.isascii():
            self.pieces.cost += len(section) * _OF_FOLDED_CHARACTER
        is_written = any(all(token in folded for token in form.tokens) for form in self.written)
        has_marked = self.pieces.has_other_forms
        # Many sections have one word of a phrase and not the others.
        pieces = self.pieces.locate(matching, section) if is_written or has_marked else ()
        found: list[list[Span]] = [[] for _ in self._terms]
        if is_written:
            found = self._of_tokens(self._positions(section, pieces))
        if has_marked:
            others: dict[str, list[Span]] = {}
            for place, piece in pieces:
                self.pieces.cost += len(piece) * _OF_POSITION
                for token, start, end in marked_tokens(piece, language):
                    others.setdefault(token, []).append((place + start, place + end))
            for spans, term in zip(found, self._terms, strict=True):
                spans += [span for form in term.marked for span in _marked_spans(others, form)]
        return found

    def _of_tokens(self, tokens: Sequence[PositionedToken]) -> list[list[Span]]:
        return [
            [span for form in term.written for span in _spans(tokens, form)] for term in self._terms
        ]

    def _positions(self, section: str, pieces: Sequence[tuple[int, str]]) -> list[PositionedToken]:
        """The tokens of a section, or only those of the pieces if phrases cannot match."""
        if self._has_phrases or not section.isascii():
            self.pieces.cost += len(section) * _OF_POSITION
            return tokens_with_positions(section)
        found: list[PositionedToken] = []
        for start, piece in pieces:
            self.pieces.cost += len(piece) * _OF_POSITION
            found += [
                PositionedToken(token.text, start + token.start, start + token.end)
                for token in tokens_with_positions(piece)
            ]
        return found


class _FormsOfTerm:
    """The forms of a term: words as written, and forms with a mark."""

    def __init__(self, term: Term) -> None:
        self.written = [Form(term.tokens, is_prefix=term.is_prefix)] if not _is_marked(term) else []
        self.written += [form for form in term.forms if not _is_marked(form)]
        self.marked = [Form(term.tokens)] if _is_marked(term) else []
        self.marked += [form for form in term.forms if _is_marked(form)]


def _is_marked(form: Form | Term) -> bool:
    return form.tokens[0][0] in (OTHER_FORM, STEM)


def _marked_spans(others: Mapping[str, Sequence[Span]], form: Form) -> Iterator[Span]:
    if form.is_prefix:
        for token, spans in others.items():
            if token.startswith(form.tokens[0]):
                yield from spans
    elif all(token in others for token in form.tokens):
        for token in form.tokens:
            yield from others[token]


def _spans(tokens: Sequence[PositionedToken], form: Form) -> Iterator[Span]:
    length = len(form.tokens)
    start = form.tokens[0]
    is_prefix = form.is_prefix and length == 1
    for first, token in enumerate(tokens):
        if token.text != start and not (is_prefix and token.text.startswith(start)):
            continue
        run = tokens[first : first + length]
        if len(run) == length and all(_matches(one.text, form, n) for n, one in enumerate(run)):
            yield token.start, _end(tokens, first + length - 1, form)


def _end(tokens: Sequence[PositionedToken], last: int, form: Form) -> int:
    """The end of a match.

    Scripts without spaces are indexed as pairs of characters. A query of one character matches a
    pair, but only that character is marked.
    """
    token, term_token = tokens[last], form.tokens[-1]
    is_half = len(term_token) < len(token.text) and is_unspaced(token.text)
    return tokens[last + 1].start if is_half else token.end


def _folds_by_character(section: str) -> bool:
    """Whether no two characters become one in the fold, unless one is a mark of the other.

    Positions are those of characters with their marks, so their tokens would not be those of the
    piece.
    """
    return is_normalized("NFKC", section) or is_normalized("NFKC", _SIGNS.sub(" ", section))


def _matches(token: str, form: Form, index: int) -> bool:
    term_token = form.tokens[index]
    if form.is_prefix and index == len(form.tokens) - 1:
        return token.startswith(term_token)
    return token == term_token
