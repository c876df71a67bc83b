"""Creates a snippet of a post's text with the search terms marked.

It folds and splits the text exactly as the index does, so it marks what the search matched.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from msgspec import Struct

from bowerbird.model.words import OTHER_FORM, STEM, Form, Term, WordQuery
from bowerbird.search.queries.matching_pieces import MatchingPieces
from bowerbird.search.words.index_forms import marked_tokens
from bowerbird.search.words.languages import language_of
from bowerbird.search.words.token_folding import fold
from bowerbird.search.words.token_positions import (
    PositionedToken,
    tokens_with_positions,
)
from bowerbird.search.words.tokens import is_unspaced

SNIPPET_CHARACTERS: Final = 240
_LEAD_CHARACTERS: Final = 60
# Long texts are searched in sections. Sections overlap, because a phrase may cross the border.
_SECTION: Final = 600
_OVERLAP: Final = 300
_MAX_SEARCHED_CHARACTERS: Final = 200_000
# Sections that are looked at together: most contain nothing that matches.
_MAX_SECTIONS: Final = 16
# For a page of posts, in microseconds. Beyond it only words are found that are written as in the
# query.
_MAX_COST: Final = 100_000
# To find the positions of the words in a text, per character.
_OF_POSITION: Final = 0.5
# Fields that say nothing about the language of a post.
_NAMES: Final = ("author_username", "author_details.name", "attachments.domain")
_SPACES: Final = re.compile(r"\s+")
_NOT_BLANK: Final = re.compile(r"\S+")


class Highlight(Struct, frozen=True):
    """`html` is escaped text; its only markup is `<mark>` around the matches."""

    field: str
    html: str


class _Matches(Struct, frozen=True):
    """The positions of the matches, sorted and without overlaps, and how many terms match."""

    spans: Sequence[tuple[int, int]]
    terms: int


def highlight(fields: Sequence[tuple[str, str]], query: WordQuery) -> Highlight | None:
    """A snippet of the field that matches most terms, around its first match; None without one."""
    return Highlighter(query, posts=1).highlight(fields)


class Highlighter:
    """Creates the snippets of a page of posts, and limits the time that these take together.

    Pass short posts first: each may use an equal part of the time that is left.
    """

    def __init__(self, query: WordQuery, posts: int) -> None:
        self._terms = [_FormsOfTerm(term) for term in query.wanted_terms]
        self._pieces = MatchingPieces(
            [form for term in self._terms for form in term.written],
            [form for term in self._terms for form in term.marked],
        )
        self._posts_left = posts

    def highlight(self, fields: Sequence[tuple[str, str]]) -> Highlight | None:
        terms = self._terms
        left = max(_MAX_COST - self._pieces.cost, 0)
        max_cost = self._pieces.cost + left / max(self._posts_left, 1)
        self._posts_left -= 1
        best: tuple[str, str, _Matches] | None = None
        language = _language([text for name, text in fields if not name.endswith(_NAMES)])
        for name, text in fields:
            matches = self._find_matches(text, language, max_cost)
            if matches.terms and (best is None or matches.terms > best[2].terms):
                best = (name, text, matches)
            if best and best[2].terms == len(terms):
                break
        return None if best is None else Highlight(best[0], _snippet(best[1], best[2].spans))

    def _find_matches(self, text: str, language: str, max_cost: float) -> _Matches:
        """The matches in the first section that has any; later ones are outside the snippet."""
        start, sections = 0, 1
        end = min(len(text), _MAX_SEARCHED_CHARACTERS)
        while start < end:
            if self._pieces.cost >= max_cost:
                return self._find_written(text, start)
            part_end = min(start + sections * _SECTION, end)
            if self._pieces.may_match(text[start : part_end + _OVERLAP], language):
                for section_start in range(start, part_end, _SECTION):
                    # Begins at a word: the second half of a word would count as a word.
                    begin = _next_word(text, section_start) if section_start else 0
                    section = text[begin : section_start + _SECTION + _OVERLAP]
                    matches = _matches_in(self._spans_of_terms(section, language), begin)
                    if matches.terms:
                        return matches
            start, sections = part_end, min(sections * 2, _MAX_SECTIONS)
        return _Matches((), 0)

    def _spans_of_terms(self, section: str, language: str) -> list[list[tuple[int, int]]]:
        """For each term the spans of its matches."""
        found: list[list[tuple[int, int]]] = [[] for _ in self._terms]
        pieces = [
            piece
            for piece in _NOT_BLANK.finditer(section)
            if self._pieces.matches(piece[0], language)
        ]
        if not pieces:
            return found
        folded = fold(section)
        written = [form for term in self._terms for form in term.written]
        if any(all(token in folded for token in form.tokens) for form in written):
            self._pieces.cost += len(section) * _OF_POSITION
            tokens = tokens_with_positions(section)
            for spans, term in zip(found, self._terms, strict=True):
                spans += [span for form in term.written for span in _spans(tokens, form)]
        if any(term.marked for term in self._terms):
            others: dict[str, list[tuple[int, int]]] = {}
            for piece in pieces:
                self._pieces.cost += len(piece[0]) * _OF_POSITION
                for token, start, end in marked_tokens(piece[0], language):
                    span = (piece.start() + start, piece.start() + end)
                    others.setdefault(token, []).append(span)
            for spans, term in zip(found, self._terms, strict=True):
                spans += [span for form in term.marked for span in _marked_spans(others, form)]
        return found

    def _find_written(self, text: str, start: int) -> _Matches:
        """The matches around the first word that is written as in the query."""
        lowered = text[start:_MAX_SEARCHED_CHARACTERS].lower()
        forms = [form for term in self._terms for form in term.written]
        places = [place for form in forms if (place := _place(lowered, form)) is not None]
        if not places:
            return _Matches((), 0)
        first = start + min(places)
        begin = _next_word(text, first - _LEAD_CHARACTERS) if first > _LEAD_CHARACTERS else 0
        begin = min(begin, first)
        tokens = tokens_with_positions(text[begin : first + SNIPPET_CHARACTERS])
        found = [
            [span for form in term.written for span in _spans(tokens, form)] for term in self._terms
        ]
        return _matches_in(found, begin)


def _place(lowered: str, form: Form) -> int | None:
    """Where a text in lower case has the words of a form."""
    first = form.tokens[0]
    if first not in lowered:
        return None
    if is_unspaced(first):
        # Each pair begins with the second character of the one before.
        run = "".join([token[0] for token in form.tokens[:-1]]) + form.tokens[-1]
        return place if (place := lowered.find(run)) >= 0 else None
    others = "".join([rf"\W+{re.escape(token)}" for token in form.tokens[1:]])
    end = "" if form.is_prefix else r"(?!\w)"
    # Begins with the word, so that the scan can jump from one to the next.
    found = re.search(rf"{re.escape(first)}(?<!\w{re.escape(first)}){others}{end}", lowered)
    return found.start() if found else None


def _matches_in(found: Sequence[Sequence[tuple[int, int]]], begin: int) -> _Matches:
    spans = [(begin + a, begin + b) for spans in found for a, b in spans]
    return _Matches(_merge_overlaps(spans), sum(map(bool, found)))


def _language(texts: Sequence[str]) -> str:
    return language_of(" ".join([text[:_SECTION] for text in texts]))


class _FormsOfTerm:
    """Those of words as written, and those with a mark."""

    def __init__(self, term: Term) -> None:
        self.written = [Form(term.tokens, is_prefix=term.is_prefix)] if not _is_marked(term) else []
        self.written += [form for form in term.forms if not _is_marked(form)]
        self.marked = [Form(term.tokens)] if _is_marked(term) else []
        self.marked += [form for form in term.forms if _is_marked(form)]


def _is_marked(form: Form | Term) -> bool:
    return form.tokens[0][0] in (OTHER_FORM, STEM)


def _marked_spans(
    others: Mapping[str, Sequence[tuple[int, int]]], form: Form
) -> Iterator[tuple[int, int]]:
    if form.is_prefix:
        for token, spans in others.items():
            if token.startswith(form.tokens[0]):
                yield from spans
    elif all(token in others for token in form.tokens):
        for token in form.tokens:
            yield from others[token]


def _next_word(text: str, start: int) -> int:
    space = _SPACES.search(text, start, start + _OVERLAP)
    return space.end() if space else start


def _spans(tokens: Sequence[PositionedToken], form: Form) -> Iterator[tuple[int, int]]:
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


def _matches(token: str, form: Form, index: int) -> bool:
    term_token = form.tokens[index]
    if form.is_prefix and index == len(form.tokens) - 1:
        return token.startswith(term_token)
    return token == term_token


def _merge_overlaps(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _snippet(text: str, spans: Sequence[tuple[int, int]]) -> str:
    start, end = _snippet_edges(text, spans[0])
    inside = [(a, min(b, end)) for a, b in spans if a < end]
    edges = [start, *(edge for span in inside for edge in span), end]
    parts = [escape(text[a:b], quote=False) for a, b in pairwise(edges)]
    parts[1::2] = [f"<mark>{match}</mark>" for match in parts[1::2]]
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{_SPACES.sub(' ', ''.join(parts)).strip()}{after}"


def _snippet_edges(text: str, first: tuple[int, int]) -> tuple[int, int]:
    """The start and the end of the snippet around its first match, between words if possible."""
    start = max(first[0] - _LEAD_CHARACTERS, 0)
    if start and (space := _SPACES.search(text, start, first[0])):
        start = space.end()
    end = min(max(start + SNIPPET_CHARACTERS, first[1]), len(text))
    if end < len(text) and (space_at := text.rfind(" ", first[1], end)) > 0:
        end = space_at
    return start, end
