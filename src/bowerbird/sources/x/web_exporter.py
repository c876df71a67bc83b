"""Reads what the browser extension twitter-web-exporter writes: JSON, CSV and its database.

The database, as an export with Dexie, has every post that the person looked at. Its table of
captures says which of them were in the list of saved posts, and with which index.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import UNSET

from bowerbird.model.arrival import OrderSource
from bowerbird.model.posts.bookmarks import PostMeta
from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.parsing.json_records import Readable
from bowerbird.sources.parsing.json_values import PART, Unreadable, at, read_records, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.x.content import (
    MAX_ATTACHMENTS,
    TYPES,
    Author,
    Content,
    has_link_to_rest,
    id_of,
    original_image,
    readable,
    unwrap,
)
from bowerbird.sources.x.posts import (
    UNPLACED,
    Place,
    Saved,
    found_post,
    metrics_of,
    place_of,
    read_post,
    saved_post,
)
from bowerbird.sources.x.values import (
    InvalidDocument,
    Object,
    date_of_post,
    decode,
    decoded,
    iso_date,
    mapping,
    objects,
    post_id,
    post_text,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
)

_BOM: Final = b"\xef\xbb\xbf"
_BY_POSITION: Final = Place(source=OrderSource.FILE_POSITION)
_CELL: Final = re.compile(r'(?:"([^"]*+(?:""[^"]*+)*+)"|([^",]*+))(,|\Z)')
_JSON_COLUMNS: Final = frozenset({"media", "media_tags", "metadata"})
# The extension writes line breaks as two characters.
_BREAKS: Final = re.compile(r"\\([nr])")
_REPOST: Final = re.compile(r"RT @([A-Za-z0-9_]{1,50}): ")


def read_json(file: Readable) -> Iterator[Found]:
    """Reads a JSON export. The order of its records is that of saving, the latest first."""
    for _, line, row in read_records(file, decode):
        yield _invalid(line, str(row)) if isinstance(row, Unreadable) else _found(line, row)


def read_csv(lines: Iterable[bytes]) -> Iterator[Found]:
    """Reads a CSV export. Each record is one line, because line breaks in it are escaped."""
    header: list[str] | None = None
    for number, raw in enumerate(lines, 1):
        text = raw.removeprefix(_BOM).decode("utf-8", "replace").rstrip("\r\n")
        cells = _cells(text)
        if header is None:
            header = cells or []
        elif text and cells is None:
            yield _invalid(number, "The line is not valid CSV: a quotation mark is missing.")
        elif text:
            yield _found(number, _row(header, cells or []))


def _cells(line: str) -> list[str] | None:
    cells = []
    position = 0
    while match := _CELL.match(line, position):
        quoted, plain, end = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        position = match.end()
        if not end:
            return cells
    return None


def _row(header: list[str], cells: list[str]) -> Object:
    return {
        name: decoded(cell) if name in _JSON_COLUMNS else _unbroken(cell)
        for name, cell in zip(header, cells, strict=False)
    }


def _unbroken(cell: str) -> str:
    cell = cell.replace("\0", "")
    return _BREAKS.sub(lambda match: "\n" if match[1] == "n" else "\r", cell)


def _invalid(line: int, sentence: str) -> LeftOut:
    return LeftOut(line=line, reason=Reason.INVALID, sentence=sentence)


def _found(line: int, row: object) -> Found:
    fields = mapping(row)
    number = post_id(fields.get("id"))
    if isinstance(fields.get("metadata"), dict):
        saved = read_post(fields["metadata"], number)
        if isinstance(saved, Saved):
            return found_post(saved, line, _BY_POSITION)
    if not number:
        return _invalid(line, f"Record {line} has no id of a post.")
    return found_post(_flat(fields, number), line, _BY_POSITION)


def _flat(row: Object, number: str) -> Saved:
    """Reads a record without X's own data. It has shortened links, and only ids of other posts."""
    reposted = post_id(row.get("retweeted_status"))
    text = post_text(row.get("full_text"))
    author = _author(row)
    if reposted:
        # The author of the record is the person who reposted.
        original = _REPOST.match(text)
        author = Author(username=original[1]) if original else Author()
        text = text[original.end() :] if original else text
    media = objects(row.get("media"))[:MAX_ATTACHMENTS]
    hidden = {short_text(medium.get("url")) for medium in media} - {""}
    own_id = reposted or number
    # The date is in the time zone and format that the person chose; the one in the id is exact.
    posted_at = date_of_post(own_id) or iso_date(row.get("created_at"))
    read = Content(
        post_id=own_id,
        author=author,
        text=readable(text, {}, hidden),
        posted_at=posted_at,
        attachments=[each for each in map(_attachment, media) if each],
        article=None,
        has_text=isinstance(row.get("full_text"), str),
        is_cut=bool(reposted) or has_link_to_rest(text, hidden),
    )
    quoted = post_id(row.get("quoted_status"))
    reply_to = post_id(row.get("in_reply_to"))
    return saved_post(
        read,
        {"post_id": quoted, "link": f"https://x.com/i/status/{quoted}"} if quoted else None,
        PostMeta(
            tweet_reply_to_tweet_id=reply_to or None,
            tweet_conversation_id="" if reply_to else read.post_id,
            non_real_time_engagement_metrics=metrics_of(row),
        ),
        via_repost=number if reposted else "",
    )


def _author(row: Object) -> Author:
    return Author(
        id=post_id(row.get("user_id")),
        username=short_text(row.get("screen_name")),
        name=short_text(row.get("name")),
        profile_image=original_image(web_address(row.get("profile_image_url"))),
    )


def _attachment(medium: Object) -> Object | None:
    kind = TYPES.get(short_text(medium.get("type")), "")
    thumbnail = web_address(medium.get("thumbnail"))
    url = web_address(medium.get("original")) or thumbnail
    if not kind or not url:
        return None
    return present(
        type=kind,
        url=url,
        preview_image=thumbnail if kind != "image" else None,
        alt_text=short_text(at(medium, "ext_alt_text")),
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
        yield _invalid(1, str(error))
        return
    if "tweets" not in names.values():
        yield _invalid(1, "The file has no table of posts.")
        return
    captures = dict(_captures(_rows(file, names, "captures")))
    unread = dict(captures)
    line = 0
    for line, row in enumerate(_rows(file, names, "tweets"), 1):
        number = id_of(unwrap(row).tweet)
        unread.pop(number, None)
        if number in captures or at(row, "legacy", "bookmarked") is True:
            yield _found_row(row, line, captures.get(number), now)
        else:
            yield _not_saved(number, line)
    for line, (number, sort_index) in enumerate(unread.items(), line + 1):  # noqa: B020 - goes on
        yield LeftOut(
            line=line,
            reason=Reason.UNAVAILABLE,
            sentence=f"The file has no content of post {number}.",
            post_id=number,
            sort_index=sort_index,
        )


def _found_row(row: Object, line: int, sort_index: int | None, now: int) -> Found:
    read = read_post(row)
    if isinstance(read, LeftOut):
        return read.at(line, sort_index)
    place = place_of(read, sort_index, now)
    # The rows are in the order of their ids, which says nothing about saving.
    is_placed = place.sort_index is not UNSET
    return found_post(read, line, place if is_placed else UNPLACED)


def _not_saved(number: str, line: int) -> LeftOut:
    if not number:
        return _invalid(line, f"Row {line} is not a post.")
    sentence = f"Post {number} was not in the list of saved posts."
    return LeftOut(line=line, reason=Reason.NOT_SAVED, sentence=sentence, post_id=number)


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
            yield _table_row(part.value)


def _table_row(row: object) -> Object:
    """A row. Dexie writes some as a pair of key and value, below the name `$`."""
    pair = row if isinstance(row, list) else sequence(at(row, "$"))
    return mapping(pair[1] if len(pair) > 1 else row)
