"""Reads what the browser extension twitter-web-exporter writes: JSON, CSV and its database."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from bowerbird.model.bookmarks import Metrics, PostDetails, PostMeta
from bowerbird.sources.found import Completeness, Found, LeftOut, OrderSource, Reason
from bowerbird.sources.parsing import json_records
from bowerbird.sources.parsing.json_records import MalformedFile, Readable
from bowerbird.sources.x import dates, placing, posts, texts
from bowerbird.sources.x.authors import Author, original_image
from bowerbird.sources.x.content import Content
from bowerbird.sources.x.media import MAX_ATTACHMENTS, TYPES
from bowerbird.sources.x.placing import Place
from bowerbird.sources.x.posts import Saved
from bowerbird.sources.x.values import (
    InvalidDocument,
    Object,
    at,
    decode,
    mapping,
    objects,
    post_id,
    post_text,
    present,
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
    try:
        for record in json_records.records(file):
            if record.problem:
                yield _invalid(record.line, record.problem)
                continue
            try:
                row = decode(record.raw)
            except InvalidDocument as error:
                yield _invalid(record.line, str(error))
                continue
            yield _found(row, record.line)
    except MalformedFile as error:
        yield _invalid(error.line, str(error))


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
            yield _found(_row(header, cells or []), number)


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
        name: _json(cell) if name in _JSON_COLUMNS else _unbroken(cell)
        for name, cell in zip(header, cells, strict=False)
    }


def _json(cell: str) -> Any:
    try:
        return decode(cell.encode("utf-8", "replace"))
    except InvalidDocument:
        return None


def _unbroken(cell: str) -> str:
    cell = cell.replace("\0", "")
    return _BREAKS.sub(lambda match: "\n" if match[1] == "n" else "\r", cell)


def _invalid(line: int, sentence: str) -> LeftOut:
    return LeftOut(line=line, reason=Reason.INVALID, sentence=sentence)


def _found(row: object, line: int) -> Found:
    fields = mapping(row)
    number = post_id(fields.get("id"))
    if isinstance(fields.get("metadata"), dict):
        saved = posts.read(fields["metadata"], number)
        if isinstance(saved, Saved):
            return placing.found(saved, line, _BY_POSITION)
    if not number:
        return _invalid(line, f"Record {line} has no id of a post.")
    return placing.found(_flat(fields, number), line, _BY_POSITION)


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
    posted_at = dates.of_post(own_id) or dates.iso(row.get("created_at"))
    read = Content(
        post_id=own_id,
        author=author,
        text=texts.readable(text, {}, hidden),
        posted_at=posted_at,
        attachments=[each for each in map(_attachment, media) if each],
        article=None,
        has_text=isinstance(row.get("full_text"), str),
        is_cut=bool(reposted) or texts.has_link_to_rest(text, hidden),
    )
    completeness = Completeness.PREVIEW if read.is_cut else Completeness.FULL
    return Saved(
        content=read,
        details=_details(row, read),
        completeness=completeness if read.has_text else Completeness.STUB,
        via_repost=number if reposted else "",
    )


def _author(row: Object) -> Author:
    return Author(
        id=post_id(row.get("user_id")),
        username=short_text(row.get("screen_name")),
        name=short_text(row.get("name")),
        profile_image=original_image(web_address(row.get("profile_image_url"))),
    )


def _details(row: Object, read: Content) -> PostDetails:
    quoted = post_id(row.get("quoted_status"))
    link = f"https://x.com/i/status/{quoted}"
    return PostDetails(
        text=read.text,
        link=read.link,
        posted_at=read.posted_at,
        attachments=read.attachments,
        quoted_tweet={"post_id": quoted, "link": link} if quoted else None,
        meta=PostMeta(
            tweet_reply_to_tweet_id=post_id(row.get("in_reply_to")) or None,
            tweet_conversation_id="" if post_id(row.get("in_reply_to")) else read.post_id,
            non_real_time_engagement_metrics=Metrics(
                quote_count=whole_number(row.get("quote_count")) or 0,
                reply_count=whole_number(row.get("reply_count")) or 0,
                retweet_count=whole_number(row.get("retweet_count")) or 0,
                bookmark_count=whole_number(row.get("bookmark_count")) or 0,
                favorite_count=whole_number(row.get("favorite_count")) or 0,
            ),
        ),
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
