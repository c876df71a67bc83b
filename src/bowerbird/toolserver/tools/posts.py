"""Pages of posts for a model: concise, detailed or ids, and within the maximum size of a result."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.bookmarks import BookmarkList
from bowerbird.model import json_depth
from bowerbird.toolserver.tools import long_texts, response_size, vocabulary
from bowerbird.toolserver.tools.concise_posts import concise
from bowerbird.toolserver.tools.quoted_text import CONTENT_IS
from bowerbird.toolserver.tools.tool import Json

IDS: Final = "ids"
# get_bookmarks returns longer texts.
DETAILED_CHARS: Final = 2_000
_IN_FULL: Final = "get_bookmarks returns a post in full."

List = Callable[[int | None], Awaitable[BookmarkList]]
"""Reads a page with this limit; None is the limit that the caller sent."""


class _Id(Struct, frozen=True):
    post_id: str


_ids: Final = msgspec.json.Decoder(list[_Id]).decode
_whole: Final = msgspec.json.Decoder(list[Json]).decode


async def page(read: List, applied: Json, response_format: str) -> Json:
    """A page that fits in a result. Its cursor continues after the last post that it contains."""
    listed = await read(None)
    found = listed.count
    filters = response_size.short_filters(vocabulary.in_published_words(applied))
    if response_format == IDS:
        shown: Json = {"post_ids": [one.post_id for one in _ids(b"[%b]" % listed.body)]}
        is_truncated = False
    else:
        max_bytes = (
            response_size.MAX_BYTES - response_size.OVERHEAD_BYTES - response_size.size(filters)
        )
        fitted = response_size.fit(forms(listed.body, response_format), max_bytes)
        while not fitted.is_all:
            # Read again with a smaller limit, so that the cursor skips no post that was left out.
            listed = await read(len(fitted.records))
            fitted = response_size.fit(forms(listed.body, response_format), max_bytes)
        shown = {**CONTENT_IS, "bookmarks": fitted.records}
        is_truncated = fitted.is_truncated or any(p.get("truncated") for p in fitted.records)
    content: Json = {
        **shown,
        "count": listed.count,
        "total_count": listed.total_count,
        "next_cursor": listed.next_cursor,
        "filters": filters,
        "truncated": listed.count < found or is_truncated,
    }
    if listed.vector_pending:
        content["vector_pending"] = listed.vector_pending
    if listed.is_relaxed:
        content["relaxed"] = True
    if listed.did_you_mean:
        content["did_you_mean"] = listed.did_you_mean
    advice = _advice(listed, found, is_truncated=is_truncated)
    return {**content, "advice": advice} if advice else content


def forms(body: bytes, response_format: str) -> list[Json]:
    """The posts of a list, whose body is JSON objects separated by commas."""
    body = json_depth.cut(b"[%b]" % body)
    if response_format == "detailed":
        return [_detailed(post) for post in _whole(body)]
    return concise(body)


def _detailed(post: Json) -> Json:
    """All fields. Only get_bookmarks can read on, so there is no offset."""
    short: Json = response_size.truncate_all(post, DETAILED_CHARS)
    if short == post:
        return post
    part = long_texts.part_of(post, 0, DETAILED_CHARS)
    return {**short, "text_length": part["text_length"], "truncated": True}


def _advice(listed: BookmarkList, found: int, *, is_truncated: bool) -> str | None:
    sentences = [f"{response_size.TRUNCATED} {_IN_FULL}"] if is_truncated else []
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
