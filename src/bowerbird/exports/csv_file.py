"""Writes the CSV file: one row per post, safe to open in a spreadsheet.

A leading apostrophe marks a cell as text; a program removes it to get the exact value. We mark
every cell that a spreadsheet would compute or round, and texts that it would read as a number, a
date, a time, a percentage or a price. Counts and the dates that the service writes stay unmarked.

Where commas separate decimals, a spreadsheet splits the file at semicolons, and some split it at
tabs. The quotes do not protect a cell then, so the parts of a text are marked in the same way.
"""

import re
import string
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.exports import tasks
from bowerbird.exports.tasks import Report, Task

# Separates the cells of a row until its quotes are doubled. No cell may contain it.
_CELL_END: Final = "\0"
_BETWEEN: Final = '","'

# These signs begin a formula. Some spreadsheets accept their wide and small forms too, and skip
# blanks before them. Numbers of 16 or more digits would be rounded. A cell that begins with an
# apostrophe gets a second one, so that removing one always restores the value.
_FORMULA_SIGNS: Final = "=+-@＝＋－＠﹦﹢﹣﹫−"  # noqa: RUF001 - looking alike is the point
_BLANK: Final = r"[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
_is_risky: Final = re.compile(
    rf"'|[\t\r\n]|{_BLANK}*[{re.escape(_FORMULA_SIGNS)}]|{_BLANK}*\d{{16,}}{_BLANK}*\Z"
).match
# Texts that a spreadsheet reads as a number, a date, a time, a percentage or a price: "007",
# "1e10", "1/2", "3-4", "50%", "12:30", "$5", "May 1". It matches a few others, which is harmless.
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_looks_like_a_value: Final = re.compile(
    rf"(?=\D*\d)(?:[\d\s.,:/%()$€£¥₹₩₽¢+-]|(?:{_MONTHS})[a-z]*+"
    r"|e(?=[+-]?\d)|[ap]\.?m\.?|t(?=\d)|z)++|true|false",
    re.IGNORECASE,
).fullmatch
MAX_VALUE_CHARACTERS: Final = 40
_has_leading_zeros: Final = re.compile(r"0+[0-9]+").fullmatch
_DIGITS: Final = frozenset(string.digits)
MAX_EXACT_DIGITS: Final = 15

# Two letters with which a number or a date can begin. "e" and "t" are not enough for that: a digit
# must follow.
_VALUE_STARTS: Final = {start[:2] for start in (*_MONTHS.split("|"), "am", "pm", "true", "false")}
SAFE_STARTS: Final = frozenset(
    start
    for start in ("", *map("".join, product(string.ascii_letters, repeat=2)))
    if start.lower() not in _VALUE_STARTS and start[:1] not in ("z", "Z")
)
"""The first two characters of cells that need no mark, whatever follows.

Most cells begin with two letters, and looking these up is ten times faster than the patterns.
"""

# The beginning of a part, if a spreadsheet splits the file at semicolons or tabs: quotes may come
# before the sign then, and a line break begins a new row. They match parts without a sign too, so
# that a long run of blanks is read once. One pattern per separator: a search for one character is
# faster than a search for any of four.
_PARTS: Final = {
    separator: re.compile(
        rf"{separator}(?:(?!{_CELL_END}){_BLANK}|\")*+('*+[{re.escape(_FORMULA_SIGNS)}])?"
    )
    for separator in ";\t\r\n"
}
# Most parts begin with a word, and finding that out is faster than the patterns above.
_is_unusual_line: Final = re.compile(r"\n(?! *+[\w\n])").search
_is_unusual_clause: Final = re.compile(r";(?! *+[\w;])").search


class NulInCell(ValueError):  # noqa: N818 - it says what is wrong
    """A cell contains the character with which we separate cells."""


def text_cell(cell: str) -> str:
    """Marks a text that people wrote also if it looks like a number or a date."""
    if cell[:2] in SAFE_STARTS:
        return cell
    if len(cell) <= MAX_VALUE_CHARACTERS and _looks_like_a_value(cell):
        return "'" + cell
    return escape_cell(cell)


def escape_cell(cell: str) -> str:
    if cell[:2] in SAFE_STARTS:
        return cell
    if _has_leading_zeros(cell):
        return "'" + cell
    if cell[:1] in _DIGITS and (len(cell) <= MAX_EXACT_DIGITS or not cell.strip().isdecimal()):
        return cell
    return "'" + cell if _is_risky(cell) else cell


def finished(cells: Sequence[str]) -> bytes:
    """A row as in RFC 4180, with every cell in quotes. Raises NulInCell."""
    row = _BETWEEN.join(cells)
    if _CELL_END in row:
        raise NulInCell
    if (
        row.count('"') > 2 * len(cells) - 2
        or ("\n" in row and _is_unusual_line(row))
        or (";" in row and _is_unusual_clause(row))
        or "\t" in row
        or "\r" in row
    ):
        row = _with_marked_parts(_CELL_END.join(cells)).replace('"', '""')
        row = row.replace(_CELL_END, _BETWEEN)
    return f'"{row}"\r\n'.encode()


def _with_marked_parts(row: str) -> str:
    # A set, because the same sign may follow a tab and a line break. -1: a part without a sign.
    places = {
        part.start(1)
        for separator, pattern in _PARTS.items()
        if separator in row
        for part in pattern.finditer(row)
    } - {-1}
    if not places:
        return row
    edges = [0, *sorted(places), len(row)]
    return "'".join([row[start:end] for start, end in pairwise(edges)])


COLUMNS: Final = (
    *("post_id", "link", "author_username", "author_name", "author_id"),
    *("posted_at", "bookmarked_at", "imported_at", "is_read", "is_archived", "tags"),
    *("text", "article_title", "article_text", "article_link"),
    *("quoted_author", "quoted_text", "quoted_link"),
    *("media_types", "media_links", "conversation_id", "reply_to_post_id", "is_thread"),
    *("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count"),
    *("sort_index", "gone_at", "removed_at", "note", "highlights"),
)
# Less than a block that would be mapped, and cleared, for each write.
_WRITE_BYTES: Final = 1 << 16
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_ROUNDED: Final = 10**MAX_EXACT_DIGITS

# In JSON: after an even number of backslashes.
_NUL: Final = re.compile(rb"(?<!\\)((?:\\\\)*+)\\u0000")


# Structs without gc: the garbage collector need not visit the objects of a page, which form no
# cycles. The decoder finds fields faster if they are in the order in which they are stored.
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
    quote_count: int = 0
    reply_count: int = 0
    retweet_count: int = 0
    bookmark_count: int = 0
    favorite_count: int = 0


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


class Row(Struct, frozen=True, gc=False, kw_only=True):
    """The fields of a Bookmark that a row contains."""

    post_id: str
    tweet_details: _Details
    author_id: str = ""
    author_username: str = ""
    author_details: _Author = _Author()
    imported_at: str
    sort_index: int
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    gone_at: str | None = None
    removed_at: str | None = None
    note: str | None = None
    highlights: list[_Passage] = []


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    done = 0
    with Path(task.target).open("wb", buffering=_WRITE_BYTES) as file:
        file.write(_BYTE_ORDER_MARK + finished(COLUMNS))
        for page in tasks.read_pages(Path(task.source), Row):
            file.writelines(map(format_row, page))
            done += len(page)
            send_report(Report(done=done))
    return Report(done=done, is_finished=True)


def format_row(row: Row) -> bytes:
    try:
        return finished(_cells(row))
    except NulInCell:
        return finished(_cells(_without_nul(row)))


def _without_nul(row: Row) -> Row:
    return msgspec.json.decode(_NUL.sub(rb"\1", msgspec.json.encode(row)), type=Row)


def _cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, marked where necessary."""
    details, meta = row.tweet_details, row.tweet_details.meta
    article, quoted, attachments = details.article, details.quoted_tweet, details.attachments
    counts = meta.non_real_time_engagement_metrics
    return (
        _id(row.post_id),
        escape_cell(details.link),
        text_cell(row.author_username),
        text_cell(row.author_details.name),
        escape_cell(row.author_id),
        escape_cell(details.posted_at),
        row.bookmarked_at,
        row.imported_at,
        "true" if row.is_read else "false",
        "true" if row.is_archived else "false",
        text_cell(", ".join(row.tags)) if row.tags else "",
        text_cell(details.text),
        *(_of_article(article) if article else _NONE),
        *(_of_quoted(quoted) if quoted else _NONE),
        escape_cell(", ".join([one.type or "" for one in attachments])) if attachments else "",
        # One link per line: an address may contain commas.
        escape_cell("\n".join([one.url for one in attachments if one.url])) if attachments else "",
        _id(meta.tweet_conversation_id),
        _id(meta.tweet_reply_to_tweet_id) if meta.tweet_reply_to_tweet_id else "",
        "true" if meta.tweet_is_thread or meta.is_sub_tweet_of_thread else "false",
        _count(counts.favorite_count),
        _count(counts.retweet_count),
        _count(counts.reply_count),
        _count(counts.quote_count),
        _count(counts.bookmark_count),
        _count(row.sort_index),
        escape_cell(row.gone_at) if row.gone_at else "",
        escape_cell(row.removed_at) if row.removed_at else "",
        text_cell(row.note) if row.note else "",
        text_cell("\n\n".join(map(_highlight, row.highlights))) if row.highlights else "",
    )


# Most posts have neither an article nor a quoted post, and an empty cell needs no check.
_NONE: Final = ("", "", "")


def _of_article(article: _Article) -> tuple[str, str, str]:
    text = article.plain_text or article.preview_text or ""
    return text_cell(article.title or ""), text_cell(text), escape_cell(article.url or "")


def _of_quoted(quoted: _Quoted) -> tuple[str, str, str]:
    author, text = quoted.author_username or "", quoted.text or ""
    return text_cell(author), text_cell(text), escape_cell(quoted.link or "")


def _count(number: int) -> str:
    return f"{number}" if 0 <= number < _ROUNDED else f"'{number}"


def _id(text: str) -> str:
    is_rounded = len(text) > MAX_EXACT_DIGITS and text.isdecimal()
    return "'" + text if is_rounded else escape_cell(text)


def _highlight(passage: _Passage) -> str:
    return f"{passage.quote}\n({passage.comment})" if passage.comment else passage.quote
