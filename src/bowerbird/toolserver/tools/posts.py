"""Posts as a model reads them: short by default, whole when asked, never more than it can hold."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.bookmarks import BookmarkList
from bowerbird.toolserver.tools import response_size
from bowerbird.toolserver.tools.tool import Json

CONCISE_CHARS: Final = 280
# Long texts of a list; get_bookmarks shows more of them.
DETAILED_CHARS: Final = 2_000

List = Callable[[int | None], Awaitable[BookmarkList]]
"""A page of the same list with another limit, or with the limit that was asked for."""


class _Details(Struct, frozen=True):
    text: str
    link: str
    posted_at: str
    article: dict[str, Any] | None = None


class _Author(Struct, frozen=True):
    name: str


class _Stored(Struct, frozen=True):
    """What the concise form needs of a bookmark; the rest is not read."""

    post_id: str
    tweet_details: _Details
    author_username: str
    author_details: _Author
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool


_stored: Final = msgspec.json.Decoder(list[_Stored]).decode
_whole: Final = msgspec.json.Decoder(list[Json]).decode


async def page(read: List, applied: Json, response_format: str) -> Json:
    """A page that fits; its cursor goes on behind the last post it shows."""
    listed = await read(None)
    asked = listed.count
    filters = response_size.filters(applied)
    most = response_size.MOST_BYTES - response_size.AROUND - response_size.size(filters)
    shown = response_size.fitting(forms(listed.body, response_format), most)
    while not shown.is_all:
        # Read again with as many as fit, so that the cursor skips none of those left out.
        listed = await read(len(shown.records))
        shown = response_size.fitting(forms(listed.body, response_format), most)
    made: Json = {
        "bookmarks": shown.records,
        "count": listed.count,
        "total_count": listed.total_count,
        "next_cursor": listed.next_cursor,
        "filters": filters,
        "truncated": listed.count < asked or shown.is_shortened,
    }
    if listed.vector_pending:
        made["vector_pending"] = listed.vector_pending
    advice = _advice(listed, asked, is_shortened=shown.is_shortened)
    return {**made, "advice": advice} if advice else made


def forms(body: bytes, response_format: str) -> list[Json]:
    """The posts of a list's ready JSON."""
    if response_format == "detailed":
        return [response_size.cut(post, DETAILED_CHARS) for post in _whole(b"[%b]" % body)]
    return [concise(stored) for stored in _stored(b"[%b]" % body)]


def concise(stored: _Stored) -> Json:
    details = stored.tweet_details
    title = (details.article or {}).get("title")
    made: Json = {
        "post_id": stored.post_id,
        "author": stored.author_username,
        "author_name": stored.author_details.name,
        "text": response_size.short(details.text, CONCISE_CHARS),
        "link": details.link,
        "posted_at": details.posted_at,
        "bookmarked_at": stored.bookmarked_at,
        "labels": stored.tags or [],
        "is_read": stored.is_read,
        "is_archived": stored.is_archived,
    }
    if isinstance(title, str):
        made["title"] = response_size.short(title, CONCISE_CHARS)
    return made


def _advice(listed: BookmarkList, asked: int, *, is_shortened: bool) -> str | None:
    said = [response_size.SHORTENED] if is_shortened else []
    if listed.count < asked:
        said.append(
            f"Only {listed.count} of {asked} posts fit in one answer; go on with next_cursor, or "
            "narrow the list."
        )
    elif listed.hidden:
        verb = "post matches" if listed.hidden == 1 else "posts match"
        said.append(
            f"{listed.hidden} read or archived {verb}; send is_unread_only false and "
            "hide_archived false to see them."
        )
    return " ".join(said) or None
