"""Pages of posts for a model: concise or detailed, and within the maximum size of a result."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.results import BookmarkList
from bowerbird.model import json_depth
from bowerbird.toolserver.tools import response_size
from bowerbird.toolserver.tools.tool import Json

CONCISE_CHARS: Final = 280
# get_bookmarks returns longer texts.
DETAILED_CHARS: Final = 2_000

List = Callable[[int | None], Awaitable[BookmarkList]]
"""Reads a page with this limit; None is the limit that the caller sent."""


class _Details(Struct, frozen=True):
    text: str
    link: str
    posted_at: str
    article: dict[str, Any] | None = None


class _Author(Struct, frozen=True):
    name: str


class _Stored(Struct, frozen=True):
    """The fields of a bookmark that the concise form has. Others are not decoded."""

    post_id: str
    tweet_details: _Details
    author_username: str
    author_details: _Author
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    gone_at: str | None = None
    removed_at: str | None = None
    note: str | None = None
    score: float | None = None


_stored: Final = msgspec.json.Decoder(list[_Stored]).decode
_whole: Final = msgspec.json.Decoder(list[Json]).decode


async def page(read: List, applied: Json, response_format: str) -> Json:
    """A page that fits in a result. Its cursor continues after the last post that it contains."""
    listed = await read(None)
    found = listed.count
    filters = response_size.short_filters(applied)
    max_bytes = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES - response_size.size(filters)
    fitted = response_size.fit(forms(listed.body, response_format), max_bytes)
    while not fitted.is_all:
        # Read again with a smaller limit, so that the cursor skips no post that was left out.
        listed = await read(len(fitted.records))
        fitted = response_size.fit(forms(listed.body, response_format), max_bytes)
    content: Json = {
        "bookmarks": fitted.records,
        "count": listed.count,
        "total_count": listed.total_count,
        "next_cursor": listed.next_cursor,
        "filters": filters,
        "truncated": listed.count < found or fitted.is_truncated,
    }
    if listed.vector_pending:
        content["vector_pending"] = listed.vector_pending
    if listed.is_relaxed:
        content["relaxed"] = True
    if listed.did_you_mean:
        content["did_you_mean"] = listed.did_you_mean
    advice = _advice(listed, found, is_truncated=fitted.is_truncated)
    return {**content, "advice": advice} if advice else content


def forms(body: bytes, response_format: str) -> list[Json]:
    """The posts of a list, whose body is JSON objects separated by commas."""
    body = json_depth.cut(b"[%b]" % body)
    if response_format == "detailed":
        return [response_size.truncate_all(post, DETAILED_CHARS) for post in _whole(body)]
    return [concise(stored) for stored in _stored(body)]


def concise(stored: _Stored) -> Json:
    details = stored.tweet_details
    title = (details.article or {}).get("title")
    short: Json = {
        "post_id": stored.post_id,
        "author": stored.author_username,
        "author_name": stored.author_details.name,
        "text": response_size.truncate(details.text, CONCISE_CHARS),
        "link": details.link,
        "posted_at": details.posted_at,
        "bookmarked_at": stored.bookmarked_at,
        "labels": stored.tags or [],
        "is_read": stored.is_read,
        "is_archived": stored.is_archived,
    }
    if stored.gone_at:
        short["gone_at"] = stored.gone_at
    if stored.removed_at:
        short["removed_at"] = stored.removed_at
    if stored.note:
        short["note"] = response_size.truncate(stored.note, CONCISE_CHARS)
    if isinstance(title, str):
        short["title"] = response_size.truncate(title, CONCISE_CHARS)
    if stored.score is not None:
        short["score"] = stored.score
    return short


def _advice(listed: BookmarkList, found: int, *, is_truncated: bool) -> str | None:
    sentences = [response_size.TRUNCATED] if is_truncated else []
    sentences += [listed.hint] if listed.hint else []
    if listed.count < found:
        sentences.append(
            f"Only {listed.count} of {found} posts fit in one result. Continue with next_cursor, "
            "or send more filters."
        )
    elif listed.hidden:
        verb = "post matches" if listed.hidden == 1 else "posts match"
        sentences.append(
            f"{listed.hidden} read or archived {verb}. Send is_unread_only false and "
            "hide_archived false to see them."
        )
    return " ".join(sentences) or None
