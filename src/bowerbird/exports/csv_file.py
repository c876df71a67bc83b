"""Writes the CSV file: one row per post, safe to open in a spreadsheet."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.exports import posts_file
from bowerbird.exports.csv_cells import (
    CELL_END,
    MAX_EXACT_DIGITS,
    SAFE_STARTS,
    StrayCellEnd,
    escape_cell,
    finish_rows,
    text_cell,
)
from bowerbird.exports.tasks import Report, Task

COLUMNS: Final = (
    *("post_id", "link", "author_username", "author_name", "author_id"),
    *("posted_at", "bookmarked_at", "imported_at", "is_read", "is_archived", "tags"),
    *("text", "article_title", "article_text", "article_link"),
    *("quoted_author", "quoted_text", "quoted_link"),
    *("media_types", "media_links", "conversation_id", "reply_to_post_id", "is_thread"),
    *("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count"),
    *("sort_index", "gone_at", "removed_at", "note", "highlights"),
)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_DIGITS: Final = frozenset("0123456789")
_FROM_1: Final = _DIGITS - {"0"}
_ROUNDED: Final = 10**MAX_EXACT_DIGITS
# The text of this many rows stays in the processor's cache.
_FORMATTED_ROWS: Final = 64
# Cells of most posts, joined.
_TWO_EMPTY: Final = CELL_END
_THREE_EMPTY: Final = CELL_END * 2
_FOUR_EMPTY: Final = CELL_END * 3
_BOOLEANS: Final = ("false", "true")
# Five counts with their separators are shorter than this if none has more than 15 digits.
_SHORT_COUNTS: Final = MAX_EXACT_DIGITS + 1 + 2 * 4

# In JSON: after an even number of backslashes. `CELL_END` is this character.
_NUL: Final = re.compile(rb"(?<!\\)((?:\\\\)*+)\\u0000")


# Structs without gc: the garbage collector need not visit the objects of a page, which form no
# cycles.
class _Article(Struct, frozen=True, gc=False):
    title: str | None = None
    plain_text: str | None = None
    preview_text: str | None = None
    url: str | None = None


class _Quoted(Struct, frozen=True, gc=False):
    author_username: str | None = None
    text: str | None = None
    link: str | None = None


class _Attachment(Struct, frozen=True, gc=False):
    type: str | None = None
    url: str | None = None


class _Metrics(Struct, frozen=True, gc=False):
    favorite_count: int = 0
    retweet_count: int = 0
    reply_count: int = 0
    quote_count: int = 0
    bookmark_count: int = 0


class _Meta(Struct, frozen=True, gc=False):
    tweet_reply_to_tweet_id: str | None = None
    tweet_conversation_id: str = ""
    tweet_is_thread: bool = False
    is_sub_tweet_of_thread: bool = False
    non_real_time_engagement_metrics: _Metrics = _Metrics()


class _Details(Struct, frozen=True, gc=False):
    text: str = ""
    link: str = ""
    posted_at: str = ""
    attachments: list[_Attachment] = []
    article: _Article | None = None
    quoted_tweet: _Quoted | None = None
    meta: _Meta = _Meta()


class _Author(Struct, frozen=True, gc=False):
    name: str = ""


class _Passage(Struct, frozen=True, gc=False):
    quote: str
    comment: str = ""


class Row(Struct, frozen=True, gc=False):
    """The fields of a Bookmark that a row contains."""

    post_id: str
    tweet_details: _Details
    imported_at: str
    sort_index: int
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    author_id: str = ""
    author_username: str = ""
    author_details: _Author = _Author()
    gone_at: str | None = None
    removed_at: str | None = None
    note: str | None = None
    highlights: list[_Passage] = []


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    done = 0
    with Path(task.target).open("wb") as file:
        file.write(_BYTE_ORDER_MARK + finish_rows([CELL_END.join(COLUMNS)], len(COLUMNS)))
        for page in posts_file.read_pages(Path(task.source), Row):
            file.writelines(map(format_rows, _chunks(page)))
            done += len(page)
            send_report(Report(done=done))
    return Report(done=done, is_finished=True)


def _chunks(page: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for first in range(0, len(page), _FORMATTED_ROWS):
        yield page[first : first + _FORMATTED_ROWS]


def format_rows(rows: Sequence[Row]) -> bytes:
    try:
        return finish_rows([_joined_cells(row) for row in rows], len(COLUMNS))
    except StrayCellEnd:
        cleaned = [_without_nul(row) for row in rows]
        return finish_rows([_joined_cells(row) for row in cleaned], len(COLUMNS))


def _without_nul(row: Row) -> Row:
    return msgspec.json.decode(_NUL.sub(rb"\1", msgspec.json.encode(row)), type=Row)


def _joined_cells(row: Row) -> str:
    """The cells of a row, marked where necessary and joined by `CELL_END`.

    Only cells that can need a mark are checked, and those that most posts fill are checked here
    and not in functions, which would take longer than the check.
    """
    details, meta = row.tweet_details, row.tweet_details.meta
    post_id, author_id, conversation_id = row.post_id, row.author_id, meta.tweet_conversation_id
    link, text, posted_at = details.link, details.text, details.posted_at
    username, name = row.author_username, row.author_details.name
    sort_index, article, quoted = row.sort_index, details.article, details.quoted_tweet
    metrics = meta.non_real_time_engagement_metrics
    counts = (
        f"{metrics.favorite_count}\0{metrics.retweet_count}\0{metrics.reply_count}"
        f"\0{metrics.quote_count}\0{metrics.bookmark_count}"
    )
    if len(counts) >= _SHORT_COUNTS or "-" in counts:
        counts = CELL_END.join(map(escape_cell, counts.split(CELL_END)))
    id_cell = _id(post_id)
    return CELL_END.join(
        (
            id_cell,
            link if link[:2] in SAFE_STARTS else escape_cell(link),
            username if username[:2] in SAFE_STARTS else text_cell(username),
            name if name[:2] in SAFE_STARTS else text_cell(name),
            author_id
            if author_id[:1] in _FROM_1 and len(author_id) <= MAX_EXACT_DIGITS
            else escape_cell(author_id),
            posted_at
            if posted_at[4:5] == "-" and posted_at[0] in _DIGITS
            else escape_cell(posted_at),
            row.bookmarked_at,
            row.imported_at,
            _BOOLEANS[row.is_read],
            _BOOLEANS[row.is_archived],
            text_cell(", ".join(row.tags)) if row.tags else "",
            text if text[:2] in SAFE_STARTS else text_cell(text),
            _THREE_EMPTY if article is None else _article(article),
            _THREE_EMPTY if quoted is None else _quoted(quoted),
            _media(details.attachments) if details.attachments else _TWO_EMPTY,
            id_cell if conversation_id == post_id else _id(conversation_id),
            _id(meta.tweet_reply_to_tweet_id) if meta.tweet_reply_to_tweet_id else "",
            _BOOLEANS[meta.tweet_is_thread or meta.is_sub_tweet_of_thread],
            counts,
            f"{sort_index}" if 0 <= sort_index < _ROUNDED else f"'{sort_index}",
            _rest(row)
            if row.note or row.highlights or row.gone_at or row.removed_at
            else _FOUR_EMPTY,
        )
    )


def _id(text: str) -> str:
    is_rounded = len(text) > MAX_EXACT_DIGITS and text.isdecimal()
    return "'" + text if is_rounded else escape_cell(text)


def _article(article: _Article) -> str:
    title, link = article.title or "", article.url or ""
    text = article.plain_text or article.preview_text or ""
    return CELL_END.join((text_cell(title), text_cell(text), escape_cell(link)))


def _quoted(quoted: _Quoted) -> str:
    author, text, link = quoted.author_username or "", quoted.text or "", quoted.link or ""
    return CELL_END.join((text_cell(author), text_cell(text), escape_cell(link)))


def _media(attachments: Sequence[_Attachment]) -> str:
    if len(attachments) == 1:
        type, url = attachments[0].type or "", attachments[0].url or ""
        return escape_cell(type) + CELL_END + escape_cell(url)
    types = ", ".join([attachment.type or "" for attachment in attachments])
    # One link per line: an address may contain commas.
    links = "\n".join([attachment.url for attachment in attachments if attachment.url])
    return escape_cell(types) + CELL_END + escape_cell(links)


def _rest(row: Row) -> str:
    passages = "\n\n".join(map(_highlight, row.highlights))
    return CELL_END.join(
        (
            escape_cell(row.gone_at or ""),
            escape_cell(row.removed_at or ""),
            text_cell(row.note or ""),
            text_cell(passages),
        )
    )


def _highlight(passage: _Passage) -> str:
    return f"{passage.quote}\n({passage.comment})" if passage.comment else passage.quote
