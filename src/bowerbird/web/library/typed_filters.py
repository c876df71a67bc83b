"""Filters that somebody types into the search box: `from:ada since:2026-01 has:image`."""

import re
from collections.abc import Iterator
from typing import Final

from bowerbird.model import instants
from bowerbird.model.words import NOTE, Field
from bowerbird.search.queries import query_fields, query_language
from bowerbird.search.queries.query_pieces import Kind, Piece, pieces

_NAMES: Final = {Field.AUTHOR: "author", Field.LABEL: "tag"}
_VALUES: Final = {Field.LANGUAGE: "language", Field.SITE: "network"}
_MIDNIGHT: Final = "T00:00:00.000000+00:00"
# What other search engines call the fields. Quoted text stays as it is.
_OTHER_NAMES: Final = {name: own for name, own in query_fields.INSTEAD.items() if own}
_NAMED: Final = re.compile(rf'"[^"]*"?|(?<!\S)((?ai:{"|".join(_OTHER_NAMES)})):(?=[^\s/:])')


def taken(text: str) -> tuple[str, dict[str, str]]:
    """The search without the fields that are filters of a list, and these filters.

    Fields that are excluded, in parentheses or beside an OR remain, and a second of the same kind.
    """
    text = query_language.straight(text)
    text = _NAMED.sub(lambda found: _OTHER_NAMES[found[1].lower()] if found[1] else found[0], text)
    filters: dict[str, str] = {}
    rest, end = "", 0
    for piece, start, stop in _fields(text):
        name, value = _filter(piece)
        if value and name not in filters:
            filters[name] = value
            rest, end = rest + text[end:start], stop
    return " ".join((rest + text[end:]).split()) if filters else text, filters


def without_state(text: str) -> str:
    """The search without is:read, is:unread and is:archived."""
    rest, end = "", 0
    for piece, start, stop in _fields(text := query_language.straight(text)):
        if piece.field is Field.IS:
            rest, end = rest + text[end:start], stop
    return " ".join((rest + text[end:]).split()) if end else text


def state(text: str) -> str:
    """The state that a search asks for; "" if it asks for none."""
    found = (one for one in query_language.parse(text).conditions if one.field is Field.IS)
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
    if found is None or piece.field is Field.IS:
        return "", ""
    if piece.field in _VALUES:
        return _VALUES[piece.field], found.value
    if piece.field in _NAMES:
        return _NAMES[piece.field], " ".join(piece.text.split())
    if piece.field is Field.HAS:
        return ("has_note", "true") if found.value == NOTE else ("media_type", found.value)
    if piece.field is Field.AFTER:
        return "posted_from", _day(found.instant, found.value, 0)
    # The day itself is not before it.
    return "posted_to", _day(found.instant, found.value, -1)


def _day(instant: int | None, written: str, moved: int) -> str:
    if instant is None:
        return written
    moment = instants.with_offset(instant)
    if not moment.endswith(_MIDNIGHT):
        return moment
    return (instants.beside(moment[:10], moved) if moved else None) or moment[:10]
