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
from bowerbird.search.index_forms import other_tokens
from bowerbird.search.languages import language_of
from bowerbird.search.token_folding import fold
from bowerbird.search.token_positions import (
    PositionedToken,
    other_tokens_with_positions,
    tokens_with_positions,
)
from bowerbird.search.tokens import is_unspaced

SNIPPET_CHARACTERS: Final = 240
_LEAD_CHARACTERS: Final = 60
# Long texts are searched in sections. Sections overlap, because a phrase may cross the border.
_SECTION: Final = 600
_OVERLAP: Final = 300
_MAX_SEARCHED_CHARACTERS: Final = 200_000
_SPACES: Final = re.compile(r"\s+")


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
    terms = [_FormsOfTerm(term) for term in query.wanted_terms]
    best: tuple[str, str, _Matches] | None = None
    language = _language([text for _, text in fields])
    for name, text in fields:
        matches = _find_matches(text, terms, language)
        if matches.terms and (best is None or matches.terms > best[2].terms):
            best = (name, text, matches)
        if best and best[2].terms == len(terms):
            break
    return None if best is None else Highlight(best[0], _snippet(best[1], best[2].spans))


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


def _find_matches(text: str, terms: Sequence[_FormsOfTerm], language: str) -> _Matches:
    """The matches in the first section that has any; later ones are outside the snippet."""
    for start in range(0, min(len(text), _MAX_SEARCHED_CHARACTERS), _SECTION):
        # Begins at a word, because the second half of a word would count as a word.
        begin = start if start == 0 else _next_word(text, start)
        section = text[begin : start + _SECTION + _OVERLAP]
        found = _spans_of_terms(section, terms, language)
        if any(found):
            spans = [(begin + a, begin + b) for spans in found for a, b in spans]
            return _Matches(_merge_overlaps(spans), sum(map(bool, found)))
    return _Matches((), 0)


def _spans_of_terms(
    section: str, terms: Sequence[_FormsOfTerm], language: str
) -> list[list[tuple[int, int]]]:
    """For each term the spans of its matches."""
    found: list[list[tuple[int, int]]] = [[] for _ in terms]
    folded = fold(section)
    # Cheap tests first: computing positions takes a hundred times as long.
    if any(form.tokens[0] in folded for term in terms for form in term.written):
        tokens = tokens_with_positions(section)
        for spans, term in zip(found, terms, strict=True):
            spans += [span for form in term.written for span in _spans(tokens, form)]
    marked = [form for term in terms for form in term.marked]
    if marked and _may_match(marked, section, folded, language):
        others: dict[str, list[tuple[int, int]]] = {}
        for token in other_tokens_with_positions(section, language):
            others.setdefault(token.text, []).append((token.start, token.end))
        for spans, term in zip(found, terms, strict=True):
            spans += [span for form in term.marked for span in _marked_spans(others, form)]
    return found


def _may_match(marked: Sequence[Form], section: str, folded: str, language: str) -> bool:
    if any(form.is_prefix for form in marked):
        return True
    words = folded.replace("#", " ").replace("@", " ").split()
    others = other_tokens([section], words, language)
    return any(token in others for form in marked for token in form.tokens)


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
    for first, token in enumerate(tokens):
        if not _matches(token.text, form, 0):
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
