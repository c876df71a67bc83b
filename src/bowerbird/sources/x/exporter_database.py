"""Reads the database of twitter-web-exporter, as its export with Dexie writes it.

The database has every post that the person looked at. Its table of captures says which of them
were in the list of saved posts, and with which index.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET

from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.parsing.json_values import Unreadable
from bowerbird.sources.parsing.json_walk import PART, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.x import content, placing, posts
from bowerbird.sources.x.posts import Missing
from bowerbird.sources.x.values import (
    InvalidDocument,
    Object,
    at,
    mapping,
    post_id,
    sequence,
    short_text,
    whole_number,
)

# The name of the extension's module for saved posts, and perhaps of one for their folders.
_MODULE: Final = "Bookmark"
# Where the number of a table is in the path data.data[number].
_TABLE: Final = 2


def read_database(file: SeekableFile, now: int) -> Iterator[Found]:
    """Reads a database, in parts: it can be large. `now` is in microseconds."""
    try:
        names = _table_names(file)
    except InvalidDocument as error:
        yield LeftOut(line=1, reason=Reason.INVALID, sentence=str(error))
        return
    if "tweets" not in names.values():
        yield LeftOut(line=1, reason=Reason.INVALID, sentence="The file has no table of posts.")
        return
    captures = dict(_captures(_rows(file, names, "captures")))
    unread = dict(captures)
    line = 0
    for line, row in enumerate(_rows(file, names, "tweets"), 1):
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


def _captures(rows: Iterator[Object]) -> Iterator[tuple[str, int | None]]:
    for row in rows:
        number = post_id(row.get("data_key"))
        if number and short_text(row.get("extension")).startswith(_MODULE):
            yield number, whole_number(row.get("sort_index"))


def _table_names(file: SeekableFile) -> dict[str | int, str]:
    """The name of each table by its number. Reads the whole file, so that its end is known."""
    names = {}
    for part in walk(Utf8File(file), {"data": {"data": [{"tableName": PART}]}}):
        if isinstance(part.value, Unreadable):
            raise InvalidDocument("The file is not a complete export of the database.")
        names[part.path[_TABLE]] = short_text(part.value)
    return names


def _rows(file: SeekableFile, names: dict[str | int, str], table: str) -> Iterator[Object]:
    for part in walk(Utf8File(file), {"data": {"data": [{"rows": [PART]}]}}):
        if names.get(part.path[_TABLE]) == table:
            yield _row(part.value)


def _row(row: object) -> Object:
    """A row. Dexie writes some as a pair of key and value, below the name `$`."""
    pair = row if isinstance(row, list) else sequence(at(row, "$"))
    return mapping(pair[1] if len(pair) > 1 else row)
