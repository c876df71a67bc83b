"""Creates a snippet of a post's text with the search terms marked.

It folds and splits the text exactly as the index does, so it marks what the search matched.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from msgspec import Struct

from bowerbird.model.words import Term, WordQuery
from bowerbird.search.token_folding import fold
from bowerbird.search.token_positions import PositionedToken, tokens_with_positions
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
    terms = query.wanted_terms
    best: tuple[str, str, _Matches] | None = None
    for name, text in fields:
        matches = _find_matches(text, terms)
        if matches.terms and (best is None or matches.terms > best[2].terms):
            best = (name, text, matches)
        if best and best[2].terms == len(terms):
            break
    return None if best is None else Highlight(best[0], _snippet(best[1], best[2].spans))


def _find_matches(text: str, terms: Sequence[Term]) -> _Matches:
    """The matches in the first section that has any; later ones are outside the snippet."""
    for start in range(0, min(len(text), _MAX_SEARCHED_CHARACTERS), _SECTION):
        # Begins at a word, because the second half of a word would count as a word.
        begin = start if start == 0 else _next_word(text, start)
        section = text[begin : start + _SECTION + _OVERLAP]
        folded = fold(section)
        # A cheap test first: computing positions takes a hundred times as long.
        if not any(term.tokens[0] in folded for term in terms):
            continue
        tokens = tokens_with_positions(section)
        found = [list(_spans(tokens, term)) for term in terms]
        if any(found):
            spans = [(begin + a, begin + b) for spans in found for a, b in spans]
            return _Matches(_merge_overlaps(spans), sum(map(bool, found)))
    return _Matches((), 0)


def _next_word(text: str, start: int) -> int:
    space = _SPACES.search(text, start, start + _OVERLAP)
    return space.end() if space else start


def _spans(tokens: Sequence[PositionedToken], term: Term) -> Iterator[tuple[int, int]]:
    length = len(term.tokens)
    for first, token in enumerate(tokens):
        if not _matches(token.text, term, 0):
            continue
        run = tokens[first : first + length]
        if len(run) == length and all(_matches(one.text, term, n) for n, one in enumerate(run)):
            yield token.start, _end(tokens, first + length - 1, term)


def _end(tokens: Sequence[PositionedToken], last: int, term: Term) -> int:
    """The end of a match.

    Scripts without spaces are indexed as pairs of characters. A query of one character matches a
    pair, but only that character is marked.
    """
    token, term_token = tokens[last], term.tokens[-1]
    is_half = len(term_token) < len(token.text) and is_unspaced(token.text)
    return tokens[last + 1].start if is_half else token.end


def _matches(token: str, term: Term, index: int) -> bool:
    term_token = term.tokens[index]
    if term.is_prefix and index == len(term.tokens) - 1:
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
