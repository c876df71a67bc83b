"""Shows where a post holds what was searched for: a cut of its text with the hits marked.

Reads the text with the same fold and the same tokens as the index, so that what is marked is
what was found.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from msgspec import Struct

from bowerbird.model.words import Term, WordQuery
from bowerbird.search.positions import Placed, placed_tokens
from bowerbird.search.token_folding import fold
from bowerbird.search.tokens import is_unspaced

SNIPPET_CHARACTERS: Final = 240
_LEAD_CHARACTERS: Final = 60
# Where an article is searched for its hits at once; a phrase may run on into the next stretch.
_STRETCH: Final = 600
_OVERLAP: Final = 300
_LAST_SEARCHED: Final = 200_000
_SPACES: Final = re.compile(r"\s+")


class Highlight(Struct, frozen=True):
    """`html` is escaped text in which only the hits are marked up."""

    field: str
    html: str


class _Hits(Struct, frozen=True):
    """Where in a text the terms stand, in order and without overlaps."""

    spans: Sequence[tuple[int, int]]
    terms: int


def highlight(fields: Sequence[tuple[str, str]], query: WordQuery) -> Highlight | None:
    """The field that holds most of the terms, cut around its first hit; None without any hit."""
    wanted = [term for term in query.terms if not term.is_excluded]
    best: tuple[str, str, _Hits] | None = None
    for name, text in fields:
        hits = _hits(text, wanted)
        if hits.terms and (best is None or hits.terms > best[2].terms):
            best = (name, text, hits)
        if best and best[2].terms == len(wanted):
            break
    return None if best is None else Highlight(best[0], _marked(best[1], best[2].spans))


def _hits(text: str, terms: Sequence[Term]) -> _Hits:
    """The hits of the first stretch that holds any; later ones would lie outside the cut."""
    for start in range(0, min(len(text), _LAST_SEARCHED), _STRETCH):
        # Begins at a word, so that no tail of one is taken for a word.
        begin = start if start == 0 else _next_word(text, start)
        stretch = text[begin : start + _STRETCH + _OVERLAP]
        folded = fold(stretch)
        # Finding places takes a hundred times as long as seeing that there are none.
        if not any(term.tokens[0] in folded for term in terms):
            continue
        tokens = placed_tokens(stretch)
        found = [list(_spans(tokens, term)) for term in terms]
        if any(found):
            spans = [(begin + a, begin + b) for spans in found for a, b in spans]
            return _Hits(_joined(spans), sum(map(bool, found)))
    return _Hits((), 0)


def _next_word(text: str, start: int) -> int:
    space = _SPACES.search(text, start, start + _OVERLAP)
    return space.end() if space else start


def _spans(tokens: Sequence[Placed], term: Term) -> Iterator[tuple[int, int]]:
    length = len(term.tokens)
    for first, token in enumerate(tokens):
        if not _agrees(token.text, term, 0):
            continue
        run = tokens[first : first + length]
        if len(run) == length and all(_agrees(one.text, term, n) for n, one in enumerate(run)):
            yield token.start, _end(tokens, first + length - 1, term)


def _end(tokens: Sequence[Placed], last: int, term: Term) -> int:
    """Of a single character of an unspaced script only that one is marked, not its pair."""
    token, wanted = tokens[last], term.tokens[-1]
    is_half = len(wanted) < len(token.text) and is_unspaced(token.text)
    return tokens[last + 1].start if is_half else token.end


def _agrees(text: str, term: Term, place: int) -> bool:
    wanted = term.tokens[place]
    if term.is_prefix and place == len(term.tokens) - 1:
        return text.startswith(wanted)
    return text == wanted


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    start, end = _cut(text, spans[0])
    shown = [(a, min(b, end)) for a, b in spans if a < end]
    edges = [start, *(edge for span in shown for edge in span), end]
    parts = [escape(text[a:b], quote=False) for a, b in pairwise(edges)]
    parts[1::2] = [f"<mark>{hit}</mark>" for hit in parts[1::2]]
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{_SPACES.sub(' ', ''.join(parts)).strip()}{after}"


def _cut(text: str, first: tuple[int, int]) -> tuple[int, int]:
    """Where the shown part begins and ends: between words, where the text has any."""
    start = max(first[0] - _LEAD_CHARACTERS, 0)
    if start and (space := _SPACES.search(text, start, first[0])):
        start = space.end()
    end = min(max(start + SNIPPET_CHARACTERS, first[1]), len(text))
    if end < len(text) and (space_at := text.rfind(" ", first[1], end)) > 0:
        end = space_at
    return start, end
