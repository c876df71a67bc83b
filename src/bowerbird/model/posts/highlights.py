"""Passages of a post that its owner marked, and where they are in its texts.

Offsets count Unicode code points. The passage itself is stored with them, so that it is found again
when the source changes the text.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

HIGHLIGHTS_MAX: Final = 100
QUOTE_MAX: Final = 2_000
COMMENT_MAX: Final = 2_000
# Of all passages and comments of a post together: every list has them.
TOTAL_MAX: Final = 50_000
_LARGEST: Final = 2**31 - 1
_WORD: Final = re.compile(r"\S+")

Field = Literal["text", "article"]
Quote = Annotated[str, Meta(min_length=1, max_length=QUOTE_MAX)]
Comment = Annotated[str, Meta(max_length=COMMENT_MAX)]
Offset = Annotated[int, Meta(ge=0, le=_LARGEST)]
Span = tuple[int, int]


class HighlightedPassage(Struct, frozen=True, kw_only=True):
    """`start` and `end` are None if the text does not have the passage any more."""

    # "$" alone would allow a line break after it.
    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,40}$(?!\n)")]
    """Identifies the highlight within its post."""
    field: Field = "text"
    """text: the text of the post. article: the text of its article."""
    quote: Quote
    """The passage."""
    start: Offset | None = None
    """Where it starts in that text, in Unicode code points. null if the text has changed and does
    not contain the passage any more."""
    end: Offset | None = None
    """Where it ends: the offset after its last code point, or null."""
    comment: Comment | UnsetType = UNSET
    """The owner's comment; absent if there is none."""
    created_at: str = ""
    """When it was marked: ISO 8601 with an offset."""

    @property
    def where(self) -> tuple[Field, int | None, int | None]:
        return self.field, self.start, self.end


Passages = Annotated[list[HighlightedPassage], Meta(max_length=HIGHLIGHTS_MAX)]


def find(text: str, quote: str, near: int = 0) -> Span | None:
    """The occurrence of a passage nearest to an offset.

    If the text does not have it, white space may differ: browsers and people change it.
    """
    start = _nearest(text, quote, near)
    if start is not None:
        return start, start + len(quote)
    words = [match.span() for match in _WORD.finditer(text)]
    wanted = " ".join(quote.split())
    if not wanted or not words:
        return None
    # The text with single spaces, and where its words start in it.
    folded = " ".join(text[first:last] for first, last in words)
    starts = list(accumulate((last - first + 1 for first, last in words), initial=0))[:-1]
    word = max(bisect_right(words, (near, _LARGEST)) - 1, 0)
    start = _nearest(folded, wanted, starts[word] + max(near - words[word][0], 0))
    if start is None:
        return None
    first, last = (_unfolded(place, starts, words) for place in (start, start + len(wanted) - 1))
    return (first, last + 1) if last + 1 - first <= QUOTE_MAX else None


def _nearest(text: str, passage: str, near: int) -> int | None:
    before, after = text.rfind(passage, 0, near + len(passage)), text.find(passage, near)
    starts = [start for start in (after, before) if start >= 0]
    return min(starts, key=lambda start: abs(start - near), default=None)


def _unfolded(place: int, starts: Sequence[int], words: Sequence[Span]) -> int:
    """Where a character of a folded text is in the text itself."""
    word = bisect_right(starts, place) - 1
    return words[word][0] + place - starts[word]


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The span without white space around it; None if nothing else is in it."""
    passage = text[start:end]
    if not passage.strip():
        return None
    first = start + len(passage) - len(passage.lstrip())
    return first, first + len(passage.strip())


def placed(
    passages: Sequence[HighlightedPassage], texts: Mapping[Field, str]
) -> list[HighlightedPassage]:
    """The passages with their places in the present texts."""
    return [_placed(one, texts[one.field]) for one in passages]


def joined(
    stored: Sequence[HighlightedPassage], sent: Sequence[HighlightedPassage]
) -> list[HighlightedPassage]:
    """Both, each id once. What was sent replaces what was stored; what does not fit is left out."""
    by_id = {one.id: one for one in (*stored, *sent)}
    kept: list[HighlightedPassage] = []
    for one in by_id.values():
        if fits([*kept, one]):
            kept.append(one)
    return kept


def fits(passages: Sequence[HighlightedPassage]) -> bool:
    characters = sum(len(one.quote) + len(one.comment or "") for one in passages)
    return len(passages) <= HIGHLIGHTS_MAX and characters <= TOTAL_MAX


def _placed(passage: HighlightedPassage, text: str) -> HighlightedPassage:
    start, end = passage.start, passage.end
    if start is not None and end is not None and text[start:end] == passage.quote:
        return passage
    span = find(text, passage.quote, start or 0)
    if span is None:
        return msgspec.structs.replace(passage, start=None, end=None)
    quote = text[span[0] : span[1]]
    return msgspec.structs.replace(passage, start=span[0], end=span[1], quote=quote)
