"""What pages call each filter, and filters that somebody types: `from:ada since:2026-01`."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from bowerbird.model import instants
from bowerbird.model.posts import media
from bowerbird.model.words import DUPLICATE, GONE, HIGHLIGHT, NOTE, REPLY, TRASH, Condition, Field
from bowerbird.requests.filters import BookmarkQuery, readers
from bowerbird.search.queries import query_fields, query_language
from bowerbird.search.queries.query_pieces import Kind, Piece, pieces


class FilterNames(NamedTuple):
    # In the form of a Smart View.
    name: str
    # Above a list; "" if it has no chip of this name.
    chip: str = ""
    # In the form of exports, where that differs from the name.
    exported: str = ""


# Chips are in this order.
_NAMES: Final = {
    "media_type": FilterNames("Type", "type"),
    "author": FilterNames("Author", "author"),
    "tag": FilterNames("Label", "label"),
    "label": FilterNames("Labels", "labels", "Several labels, with commas"),
    "language": FilterNames("Language", "language", "Language, such as en"),
    "network": FilterNames("Network", "network"),
    "unlabelled": FilterNames("Without labels", "without a label", "Without a label"),
    "has_note": FilterNames("With a note", "with a note"),
    "has": FilterNames("With", "with", "With, such as highlight"),
    "is_gone": FilterNames("Gone", "gone from its network", "Gone from its network"),
    "is_reply": FilterNames("Replies", "a reply", "Replies only"),
    "is_thread": FilterNames("Threads", "of a thread", "Threads only"),
    "is_duplicate": FilterNames("Duplicates", "with a copy", "Duplicates only"),
    "min_words": FilterNames("Words, at least", "words, at least"),
    "max_words": FilterNames("Words, at most", "words, at most"),
    "min_likes": FilterNames("Likes, at least", "likes, at least"),
    "linked_site": FilterNames("With a link to", "with a link to"),
    "posted_from": FilterNames("Posted from", "posted after"),
    "posted_to": FilterNames("Posted until", "posted before"),
    "bookmarked_from": FilterNames("Saved from", "saved after"),
    "bookmarked_to": FilterNames("Saved until", "saved before"),
    "updated_since": FilterNames("Changed since", "changed since"),
    "q": FilterNames("Words"),
    "vector_search_term": FilterNames("Near in meaning to"),
    "label_match": FilterNames("Labels: all or any", exported="Labels needed"),
    "is_unread_only": FilterNames("Read and unread", exported="Unread posts only"),
    "hide_archived": FilterNames("Archived posts", exported="Without archived posts"),
    "is_archived_only": FilterNames("Archived only", exported="Archived posts only"),
}
# A filter without words of its own is called by its name.
NAMES: Final = {
    **_NAMES,
    **{
        name: FilterNames(name.replace("_", " ").capitalize(), name.replace("_", " "))
        for name in readers(BookmarkQuery)
        if name not in _NAMES
    },
}
CHIPS: Final = {name: words.chip for name, words in NAMES.items() if words.chip}


_NAMED: Final = {Field.AUTHOR: "author", Field.LABEL: "tag"}
_VALUES: Final = {Field.LANGUAGE: "language", Field.SITE: "network", Field.LIKES: "min_likes"}
_FLAGS: Final = {
    NOTE: "has_note",
    GONE: "is_gone",
    REPLY: "is_reply",
    DUPLICATE: "is_duplicate",
}
_MIDNIGHT: Final = "T00:00:00.000000+00:00"


def taken(text: str) -> tuple[str, dict[str, str]]:
    """The search without the fields that are filters of a list, and these filters.

    Fields that are excluded, in parentheses or beside an OR remain, and a second of the same kind.
    """
    text = query_language.straight(text)
    filters: dict[str, str] = {}
    rest, end = "", 0
    for piece, start, stop in _fields(text):
        name, value = _filter(piece)
        if value and name not in filters:
            filters[name] = value
            rest, end = rest + text[end:start], stop
    return " ".join((rest + text[end:]).split()) if filters else text, filters


def without_state(text: str) -> str:
    """The search without the states that it asks for, such as is:read."""
    rest = _without(text, lambda found: found.is_flag)
    return text if rest is None else rest


def in_trash(text: str) -> str | None:
    """The rest of a search for posts in the trash; None if it is no such search."""
    return _without(text, lambda found: (found.field, found.value) == (Field.IS, TRASH))


def _without(text: str, is_left_out: Callable[[Condition], bool]) -> str | None:
    """The search without some fields; None if it has none of them."""
    rest, end = "", 0
    for piece, start, stop in _fields(text := query_language.straight(text)):
        assert piece.field is not None
        found = query_fields.condition(piece.field, piece.text, None)
        if found is not None and is_left_out(found):
            rest, end = rest + text[end:start], stop
    return " ".join((rest + text[end:]).split()) if end else None


def state(text: str) -> str:
    """The state that a search asks for; "" if it asks for none."""
    found = (one for one in query_language.parse(text).conditions if one.is_flag)
    return next((one.value for one in found if not one.is_excluded), "")


def _fields(text: str) -> Iterator[tuple[Piece, int, int]]:
    """The fields that every post has to match, with their place in the text."""
    found, depth = list(pieces(text)), 0
    for index, piece in enumerate(found):
        depth += (piece.kind is Kind.OPEN) - (piece.kind is Kind.CLOSE)
        beside = found[max(index - 1, 0) : index + 2]
        is_either = any(each.kind is Kind.OR for each in beside)
        if piece.kind is Kind.FIELD and not (depth or piece.is_excluded or is_either):
            value = piece.written.index(":") + 1
            start = piece.span[0] - value - (piece.written[value : value + 1] == '"')
            yield piece, start, start + len(piece.written)


def _filter(piece: Piece) -> tuple[str, str]:
    """The parameter of a list and its value; "" if it has none for this field."""
    assert piece.field is not None
    found = query_fields.condition(piece.field, piece.text, None)
    name, value = "", ""
    # A list has no filter for the posts of a site and links to it, nor for a label and a hashtag.
    is_either = query_fields.address(piece.field, piece.text) or query_fields.hashtag(piece.written)
    if found is None or is_either:
        pass
    elif found.field in _VALUES:
        name, value = _VALUES[found.field], found.value
    elif found.field in _NAMED:
        name, value = _NAMED[found.field], " ".join(piece.text.split())
    elif found.field is Field.WORDS:
        name, value = _length(found)
    elif found.field in (Field.HAS, Field.IS):
        name, value = _kind(found.value)
    elif found.field is Field.AFTER:
        name, value = "posted_from", _day(found.instant, found.value, 0)
    elif found.field is Field.BEFORE:
        # The day itself is not before it.
        name, value = "posted_to", _day(found.instant, found.value, -1)
    return name, value


def _kind(value: str) -> tuple[str, str]:
    # The media type is a card of a link, without addresses in the text.
    if value in (HIGHLIGHT, "link"):
        return "has", value
    if value in media.BITS:
        return "media_type", value
    return _FLAGS.get(value, ""), "true" if value in _FLAGS else ""


def _length(condition: Condition) -> tuple[str, str]:
    """The bound of a length. One with both bounds stays in the search."""
    least, most = condition.bounds
    if least is not None and most is not None:
        return "", ""
    return ("min_words", str(least)) if least is not None else ("max_words", str(most))


def _day(instant: int | None, written: str, moved: int) -> str:
    if instant is None and instants.is_day(written):
        return instants.beside(written, moved) or ""
    if instant is None:
        # A list has no filter for last month.
        return written if instants.is_relative(written) else ""
    moment = instants.with_offset(instant)
    if not moment.endswith(_MIDNIGHT):
        return moment
    return (instants.beside(moment[:10], moved) if moved else None) or moment[:10]
