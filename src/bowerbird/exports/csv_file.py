"""Writes the CSV file: one row per post, safe to open in a spreadsheet."""

import re
import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.exports import posts_file
from bowerbird.exports.csv_cells import (
    MAX_EXACT_DIGITS,
    MAX_VALUE_CHARACTERS,
    SAFE_STARTS,
    NulInCell,
    escape_cell,
    finished,
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
# Less than a block that would be mapped, and cleared, for each write.
_WRITE_BYTES: Final = 1 << 16
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_DIGITS: Final = frozenset("0123456789")
_FROM_1: Final = _DIGITS - {"0"}
_LETTERS: Final = frozenset(string.ascii_letters)
_ROUNDED: Final = 10**MAX_EXACT_DIGITS
# Looking up a small number is faster than formatting it.
_SMALL: Final = 2_048
_DECIMALS: Final = tuple(map(str, range(_SMALL)))

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
        for page in posts_file.read_pages(Path(task.source), Row):
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
    """The cells of a row, marked where necessary.

    Only cells that can need a mark are checked, and those that most posts fill are checked here
    and not in functions, which would take longer than the check.
    """
    details, meta = row.tweet_details, row.tweet_details.meta
    post_id, author_id, conversation_id = row.post_id, row.author_id, meta.tweet_conversation_id
    link, text, posted_at = details.link, details.text, details.posted_at
    username, name = row.author_username, row.author_details.name
    sort_index = row.sort_index
    title = article_text = article_link = quoted_author = quoted_text = quoted_link = ""
    media_types = media_links = gone_at = removed_at = note = highlights = ""
    if details.article is not None:
        title, article_text, article_link = _article(details.article)
    if details.quoted_tweet is not None:
        quoted_author, quoted_text, quoted_link = _quoted(details.quoted_tweet)
    if details.attachments:
        media_types, media_links = _media(details.attachments)
    if row.note or row.highlights or row.gone_at or row.removed_at:
        gone_at, removed_at, note, highlights = _rest(row)
    metrics = meta.non_real_time_engagement_metrics
    favorites, retweets = metrics.favorite_count, metrics.retweet_count
    replies, quotes, saves = metrics.reply_count, metrics.quote_count, metrics.bookmark_count
    id_cell = (
        "'" + post_id
        if len(post_id) > MAX_EXACT_DIGITS and post_id.isdecimal()
        else escape_cell(post_id)
    )
    return (
        id_cell,
        link if link[:1] in _LETTERS else escape_cell(link),
        username if username[:2] in SAFE_STARTS else text_cell(username),
        name if name[:2] in SAFE_STARTS else text_cell(name),
        author_id
        if author_id[:1] in _FROM_1 and len(author_id) <= MAX_EXACT_DIGITS
        else escape_cell(author_id),
        posted_at if posted_at[4:5] == "-" and posted_at[0] in _DIGITS else escape_cell(posted_at),
        row.bookmarked_at,
        row.imported_at,
        "true" if row.is_read else "false",
        "true" if row.is_archived else "false",
        text_cell(", ".join(row.tags)) if row.tags else "",
        text if len(text) > MAX_VALUE_CHARACTERS and text[0].isalpha() else text_cell(text),
        title,
        article_text,
        article_link,
        quoted_author,
        quoted_text,
        quoted_link,
        media_types,
        media_links,
        id_cell if conversation_id == post_id else _id(conversation_id),
        _id(meta.tweet_reply_to_tweet_id) if meta.tweet_reply_to_tweet_id else "",
        "true" if meta.tweet_is_thread or meta.is_sub_tweet_of_thread else "false",
        _DECIMALS[favorites] if 0 <= favorites < _SMALL else _count(favorites),
        _DECIMALS[retweets] if 0 <= retweets < _SMALL else _count(retweets),
        _DECIMALS[replies] if 0 <= replies < _SMALL else _count(replies),
        _DECIMALS[quotes] if 0 <= quotes < _SMALL else _count(quotes),
        _DECIMALS[saves] if 0 <= saves < _SMALL else _count(saves),
        f"{sort_index}" if 0 <= sort_index < _ROUNDED else f"'{sort_index}",
        gone_at,
        removed_at,
        note,
        highlights,
    )


def _count(number: int) -> str:
    return f"{number}" if 0 <= number < _ROUNDED else f"'{number}"


def _id(text: str) -> str:
    is_rounded = len(text) > MAX_EXACT_DIGITS and text.isdecimal()
    return "'" + text if is_rounded else escape_cell(text)


def _article(article: _Article) -> tuple[str, str, str]:
    title, link = article.title or "", article.url or ""
    text = article.plain_text or article.preview_text or ""
    return text_cell(title), text_cell(text), escape_cell(link)


def _quoted(quoted: _Quoted) -> tuple[str, str, str]:
    author, text, link = quoted.author_username or "", quoted.text or "", quoted.link or ""
    return (
        author if author[:2] in SAFE_STARTS else text_cell(author),
        text if len(text) > MAX_VALUE_CHARACTERS and text[0].isalpha() else text_cell(text),
        link if link[:1] in _LETTERS else escape_cell(link),
    )


def _media(attachments: Sequence[_Attachment]) -> tuple[str, str]:
    if len(attachments) == 1:
        (attachment,) = attachments
        type, url = attachment.type or "", attachment.url or ""
        return (
            type if type[:1] in _LETTERS else escape_cell(type),
            url if url[:1] in _LETTERS else escape_cell(url),
        )
    types = ", ".join([attachment.type or "" for attachment in attachments])
    # One link per line: an address may contain commas.
    links = "\n".join([attachment.url for attachment in attachments if attachment.url])
    return escape_cell(types), escape_cell(links)


def _rest(row: Row) -> tuple[str, str, str, str]:
    passages = "\n\n".join(map(_highlight, row.highlights))
    return (
        escape_cell(row.gone_at or ""),
        escape_cell(row.removed_at or ""),
        text_cell(row.note or ""),
        text_cell(passages),
    )


def _highlight(passage: _Passage) -> str:
    return f"{passage.quote}\n({passage.comment})" if passage.comment else passage.quote
