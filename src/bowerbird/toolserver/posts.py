"""Posts as a model reads them: short by default, whole when asked, never more than it can hold."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks import BookmarkList
from bowerbird.toolserver.declared import Json

MOST_BYTES: Final = 25_000
CONCISE_CHARS: Final = 280
# Long texts of a list; get_bookmarks shows more of them.
DETAILED_CHARS: Final = 2_000
# What a page says besides its posts.
_AROUND: Final = 1_500

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


class Shown(Struct, frozen=True):
    """Posts that fit, and whether all did."""

    posts: list[Json]
    is_all: bool


_stored: Final = msgspec.json.Decoder(list[_Stored]).decode
_whole: Final = msgspec.json.Decoder(list[Json]).decode
_encode: Final = msgspec.json.Encoder().encode


async def page(read: List, applied: Json, response_format: str) -> Json:
    """A page that fits; its cursor goes on behind the last post it shows."""
    listed = await read(None)
    asked = listed.count
    shown = fitting(forms(listed.body, response_format), MOST_BYTES - _AROUND)
    while not shown.is_all:
        # Read again with as many as fit, so that the cursor skips none of those left out.
        listed = await read(len(shown.posts))
        shown = fitting(forms(listed.body, response_format), MOST_BYTES)
    made: Json = {
        "bookmarks": shown.posts,
        "count": listed.count,
        "total_count": listed.total_count,
        "next_cursor": listed.next_cursor,
        "filters": applied,
        "truncated": listed.count < asked,
    }
    if listed.vector_pending:
        made["vector_pending"] = listed.vector_pending
    advice = _advice(listed, asked)
    return {**made, "advice": advice} if advice else made


def forms(body: bytes, response_format: str) -> list[Json]:
    """The posts of a list's ready JSON."""
    if response_format == "detailed":
        return [cut(post, DETAILED_CHARS) for post in _whole(b"[%b]" % body)]
    return [concise(stored) for stored in _stored(b"[%b]" % body)]


def concise(stored: _Stored) -> Json:
    details = stored.tweet_details
    title = (details.article or {}).get("title")
    made: Json = {
        "post_id": stored.post_id,
        "author": stored.author_username,
        "author_name": stored.author_details.name,
        "text": _short(details.text, CONCISE_CHARS),
        "link": details.link,
        "posted_at": details.posted_at,
        "bookmarked_at": stored.bookmarked_at,
        "labels": stored.tags or [],
        "is_read": stored.is_read,
        "is_archived": stored.is_archived,
    }
    if isinstance(title, str):
        made["title"] = _short(title, CONCISE_CHARS)
    return made


def cut(value: Any, most: int) -> Any:
    """The same with every text cut that is longer."""
    if isinstance(value, str):
        return _short(value, most)
    if isinstance(value, list):
        return [cut(item, most) for item in value]
    if isinstance(value, dict):
        return {name: cut(item, most) for name, item in value.items()}
    return value


def fitting(posts: list[Json], most_bytes: int) -> Shown:
    """As many from the first on as fit; at least one, made shorter where it must be."""
    if len(_encode(posts)) <= most_bytes:
        return Shown(posts, is_all=True)
    room = most_bytes
    kept: list[Json] = []
    for post in posts:
        size = len(_encode(post)) + 1
        if size > room and not kept:
            post = _shortened(post, room)  # noqa: PLW2901 - the shorter one stands for it
            size = len(_encode(post))
        if size > room:
            break
        kept.append(post)
        room -= size
    return Shown(kept, len(kept) == len(posts))


def _shortened(post: Json, room: int) -> Json:
    most = DETAILED_CHARS * 8
    while most > CONCISE_CHARS and len(_encode(post)) > room:
        most //= 2
        post = cut(post, most)
    if len(_encode(post)) <= room:
        return post
    # Thousands of attachments or labels: what names the record is left.
    return {n: type(v)() if isinstance(v, list | dict) else v for n, v in post.items()}


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _advice(listed: BookmarkList, asked: int) -> str | None:
    if listed.count < asked:
        return (
            f"Only {listed.count} of {asked} posts fit in one answer; go on with next_cursor, or "
            "narrow the list."
        )
    return listed.hint
