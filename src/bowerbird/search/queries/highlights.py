"""Creates a snippet of a post's text with the search terms marked."""

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Final

from msgspec import Struct

from bowerbird.model.words import Form, WordQuery
from bowerbird.search.queries.term_spans import Span, TermSpans
from bowerbird.search.words.languages import language_of_texts
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
# Fields that say nothing about the language of a post.
_NAMES: Final = ("author_username", "author_details.name", "attachments.domain")
_SPACES: Final = re.compile(r"\s+")
_MARKUP: Final = re.compile("[&<>]")


class Highlight(Struct, frozen=True):
    """`html` is escaped text; its only markup is `<mark>` around the matches."""

    field: str
    html: str


class _Matches(Struct, frozen=True):
    """The positions of the matches, sorted and without overlaps, and how many terms match."""

    spans: Sequence[Span]
    terms: int


_NO_MATCHES: Final = _Matches((), 0)


def highlight(fields: Sequence[tuple[str, str]], query: WordQuery) -> Highlight | None:
    """A snippet of the field that matches most terms, around its first match; None without one."""
    return Highlighter(query, posts=1).highlight(fields)


class Highlighter:
    """Creates the snippets of a page of posts, and limits the time that these take together.

    Pass short posts first: each may use an equal part of the time that is left.
    """

    def __init__(self, query: WordQuery, posts: int) -> None:
        self._terms = TermSpans(query.wanted_terms)
        self._pieces = self._terms.pieces
        self._posts_left = posts

    @property
    def cost(self) -> float:
        """About how many microseconds the page took so far."""
        return self._pieces.cost

    def highlight(self, fields: Sequence[tuple[str, str]]) -> Highlight | None:
        terms = self._terms
        left = max(_MAX_COST - self._pieces.cost, 0)
        max_cost = self._pieces.cost + left / max(self._posts_left, 1)
        self._posts_left -= 1
        best: tuple[str, str, _Matches] | None = None
        language = ""
        if self._pieces.has_other_forms:
            language = language_of_texts(
                [text for name, text in fields if not name.endswith(_NAMES)]
            )
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
            # The first part is one section, which is searched as a whole.
            if not start or self._pieces.may_match(text[start : part_end + _OVERLAP], language):
                for section_start in range(start, part_end, _SECTION):
                    # Begins at a word: the second half of a word would count as a word.
                    begin = _next_word(text, section_start) if section_start else 0
                    section = text[begin : section_start + _SECTION + _OVERLAP]
                    matches = _matches_in(self._terms.in_section(section, language), begin)
                    if matches.terms:
                        return matches
            start, sections = part_end, min(sections * 2, _MAX_SECTIONS)
        return _NO_MATCHES

    def _find_written(self, text: str, start: int) -> _Matches:
        """The matches around the first word that is written as in the query."""
        lowered = text[start:_MAX_SEARCHED_CHARACTERS].lower()
        forms = self._terms.written
        places = [place for form in forms if (place := _place(lowered, form)) is not None]
        if not places:
            return _NO_MATCHES
        first = start + min(places)
        begin = _next_word(text, first - _LEAD_CHARACTERS) if first > _LEAD_CHARACTERS else 0
        begin = min(begin, first)
        found = self._terms.of_written(text[begin : first + SNIPPET_CHARACTERS])
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


def _matches_in(found: Sequence[Sequence[Span]], begin: int) -> _Matches:
    if not any(found):
        return _NO_MATCHES
    spans = [(begin + a, begin + b) for spans in found for a, b in spans]
    return _Matches(merge_overlaps(spans), sum(map(bool, found)))


def _next_word(text: str, start: int) -> int:
    space = _SPACES.search(text, start, start + _OVERLAP)
    return space.end() if space else start


def merge_overlaps(spans: Sequence[Span]) -> Sequence[Span]:
    if len(spans) == 1:
        return spans
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _snippet(text: str, spans: Sequence[Span]) -> str:
    start, end = _snippet_edges(text, spans[0])
    inside = [(a, min(b, end)) for a, b in spans if a < end]
    edges = [start, *(edge for span in inside for edge in span), end]
    parts = [text[a:b] for a, b in pairwise(edges)]
    if _MARKUP.search(text, start, end):
        parts = [escape(part, quote=False) for part in parts]
    parts[1::2] = [f"<mark>{match}</mark>" for match in parts[1::2]]
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{' '.join(''.join(parts).split())}{after}"


def _snippet_edges(text: str, first: Span) -> Span:
    """The start and the end of the snippet around its first match, between words if possible."""
    start = max(first[0] - _LEAD_CHARACTERS, 0)
    if start and (space := _SPACES.search(text, start, first[0])):
        start = space.end()
    end = min(max(start + SNIPPET_CHARACTERS, first[1]), len(text))
    if end < len(text) and (space_at := text.rfind(" ", first[1], end)) > 0:
        end = space_at
    return start, end
