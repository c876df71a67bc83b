"""The CSV file: a row a post, as spreadsheets open it without harm or loss.

A cell that begins with an apostrophe is text for certain; without that first character it is the
exact value. Everything a spreadsheet would compute or round is marked so.
"""

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from bowerbird.exports import posts_file
from bowerbird.exports.tasks import Report, Task
from bowerbird.model.bookmarks import Bookmark

COLUMNS: Final = (
    *("post_id", "link", "author_username", "author_name", "author_id"),
    *("posted_at", "bookmarked_at", "imported_at", "is_read", "is_archived", "tags"),
    *("text", "article_title", "article_text", "article_link"),
    *("quoted_author", "quoted_text", "quoted_link"),
    *("media_types", "media_links", "conversation_id", "reply_to_post_id", "is_thread"),
    *("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count"),
    "sort_index",
)

# Signs begin a formula, in some spreadsheets also wide or small ones, and after blanks that a
# reader trims. Numbers of 16 digits and more would be rounded. Apostrophes keep the mark unique.
_MARKED: Final = re.compile(
    r"'|[\t\r\n]|[\s\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠﹢﹣﹦﹫−]|\d{16,}\Z"
)
_is_marked: Final = _MARKED.match


def write(task: Task, say: Callable[[Report], None]) -> Report:
    done = 0
    with Path(task.target).open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        rows.writerow(COLUMNS)
        for page in posts_file.pages(Path(task.source), Bookmark):
            rows.writerows(map(row, page))
            done += len(page)
            say(Report(done=done))
    return Report(done=done, is_made=True)


def row(bookmark: Bookmark) -> list[str]:
    details = bookmark.tweet_details
    meta, metrics = details.meta, details.meta.non_real_time_engagement_metrics
    cells = [
        bookmark.post_id,
        details.link,
        bookmark.author_username,
        bookmark.author_details.name,
        bookmark.author_id,
        details.posted_at,
        bookmark.bookmarked_at,
        bookmark.imported_at,
        "true" if bookmark.is_read else "false",
        "true" if bookmark.is_archived else "false",
        ", ".join(bookmark.tags) if bookmark.tags else "",
        details.text,
        *_article(details.article),
        *_quoted(details.quoted_tweet),
        *_media(details.attachments),
        meta.tweet_conversation_id,
        meta.tweet_reply_to_tweet_id or "",
        "true" if meta.tweet_is_thread or meta.is_sub_tweet_of_thread else "false",
        str(metrics.favorite_count),
        str(metrics.retweet_count),
        str(metrics.reply_count),
        str(metrics.quote_count),
        str(metrics.bookmark_count),
        str(bookmark.sort_index),
    ]
    return ["'" + cell if _is_marked(cell) else cell for cell in cells]


def _article(article: dict[str, Any] | None) -> Iterable[str]:
    if article is None:
        return ("", "", "")
    text = _text(article, "plain_text") or _text(article, "preview_text")
    return (_text(article, "title"), text, _text(article, "url"))


def _quoted(quoted: dict[str, Any] | None) -> Iterable[str]:
    if quoted is None:
        return ("", "", "")
    return (_text(quoted, "author_username"), _text(quoted, "text"), _text(quoted, "link"))


def _media(attachments: list[dict[str, Any]]) -> Iterable[str]:
    if not attachments:
        return ("", "")
    # A link a line: addresses may hold commas.
    return (
        ", ".join([_text(attachment, "type") for attachment in attachments]),
        "\n".join([url for attachment in attachments if (url := _text(attachment, "url"))]),
    )


def _text(found: dict[str, Any], name: str) -> str:
    """Fields of open objects have their known type, are null, or are not there."""
    return found.get(name) or ""
