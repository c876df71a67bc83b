"""Reads the database of twitter-web-exporter, as its export with Dexie writes it.

The database has every post that the person looked at. Its table of captures says which of them
were in the list of saved posts, and with which index.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct

from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.x import content, placing, posts
from bowerbird.sources.x.posts import Missing
from bowerbird.sources.x.values import (
    InvalidDocument,
    Object,
    at,
    decode,
    mapping,
    post_id,
    sequence,
    short_text,
    whole_number,
)

_BOM: Final = b"\xef\xbb\xbf"
# The name of the extension's module for saved posts, and perhaps of one for their folders.
_MODULE: Final = "Bookmark"


class _Table(Struct):
    tableName: str = ""  # noqa: N815 - the spelling of the file
    rows: list[Raw] = []


class _Tables(Struct):
    data: list[Raw] = []


class _Database(Struct):
    data: _Tables


def read_database(data: bytes, now: int) -> Iterator[Found]:
    """Reads a database. `now` is in microseconds."""
    try:
        tables = _tables(data)
    except InvalidDocument as error:
        yield LeftOut(line=1, reason=Reason.INVALID, sentence=str(error))
        return
    if "tweets" not in tables:
        yield LeftOut(line=1, reason=Reason.INVALID, sentence="The file has no table of posts.")
    captures = dict(_captures(tables.get("captures", [])))
    unread = dict(captures)
    line = 0
    for line, raw in enumerate(tables.get("tweets", []), 1):
        row = _row(raw)
        number = content.id_of(content.unwrap(row).tweet)
        unread.pop(number, None)
        if number in captures or at(row, "legacy", "bookmarked") is True:
            yield _found(row, line, captures.get(number), now)
        else:
            yield _not_saved(number, line)
    for line, (number, sort_index) in enumerate(unread.items(), line + 1):  # noqa: B020 - goes on
        sentence = f"The file has no content of post {number}."
        yield _left_out(Missing(number, Reason.UNAVAILABLE, sentence), line, sort_index)


def _found(row: Object, line: int, sort_index: int | None, now: int) -> Found:
    read = posts.read(row)
    if isinstance(read, Missing):
        return _left_out(read, line, sort_index)
    place = placing.place(read, sort_index, now)
    # The rows are in the order of their ids, which says nothing about saving.
    is_placed = place.sort_index is not UNSET
    return placing.found(read, line, place if is_placed else placing.UNPLACED)


def _not_saved(number: str, line: int) -> LeftOut:
    if not number:
        return _left_out(Missing("", Reason.INVALID, f"Row {line} is not a post."), line)
    sentence = f"Post {number} was not in the list of saved posts."
    return _left_out(Missing(number, Reason.NOT_SAVED, sentence), line)


def _left_out(missing: Missing, line: int, sort_index: int | None = None) -> LeftOut:
    return LeftOut(
        line=line,
        reason=missing.reason,
        sentence=missing.sentence,
        post_id=missing.post_id,
        sort_index=sort_index,
    )


def _captures(rows: list[Raw]) -> Iterator[tuple[str, int | None]]:
    for raw in rows:
        row = _row(raw)
        number = post_id(row.get("data_key"))
        if number and short_text(row.get("extension")).startswith(_MODULE):
            yield number, whole_number(row.get("sort_index"))


def _tables(data: bytes) -> dict[str, list[Raw]]:
    """The rows of each table, which are decoded one at a time: the file can be large."""
    tables: dict[str, list[Raw]] = {}
    try:
        database = msgspec.json.decode(data.removeprefix(_BOM), type=_Database)
    except (ValueError, RecursionError):
        raise InvalidDocument("The file is not a complete export of the database.") from None
    for raw in database.data.data:
        try:
            table = msgspec.json.decode(raw, type=_Table)
        except (ValueError, RecursionError):
            continue
        tables.setdefault(table.tableName, []).extend(table.rows)
    return tables


def _row(raw: Raw) -> Object:
    """A row. Dexie writes some as a pair of key and value, below the name `$`."""
    try:
        row = decode(bytes(raw))
    except InvalidDocument:
        return {}
    pair = row if isinstance(row, list) else sequence(at(row, "$"))
    return mapping(pair[1] if len(pair) > 1 else row)
