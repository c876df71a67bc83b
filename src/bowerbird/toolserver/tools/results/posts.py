"""Pages of posts for a model: concise, detailed or ids, and within the maximum size of a result."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta, Struct

from bowerbird.library.bookmarks.results import BookmarkList
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.requests.limits import PAGE_MAX
from bowerbird.toolserver.tools.arguments import vocabulary
from bowerbird.toolserver.tools.results import empty_lists, long_texts, response_size
from bowerbird.toolserver.tools.results.concise_posts import Post, concise
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
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


async def _no_match(listed: BookmarkList) -> list[str]:
    return why_empty(listed, "No post matches.")


async def _nothing(_: BookmarkList) -> list[str]:
    return []


class Pages(Struct, frozen=True, kw_only=True):
    """How to read the pages of a list, and what to say about it."""

    account: Account
    # Of the days in the short form.
    zone: ZoneInfo
    read: List
    # The filters that a result repeats.
    applied: Json
    # Sentences about a list without posts, and about one with posts.
    explain: Callable[[BookmarkList], Awaitable[list[str]]] = _no_match
    remark: Callable[[BookmarkList], Awaitable[list[str]]] = _nothing


class Page(Struct, kw_only=True, omit_defaults=True):
    content_is: str = ""
    # In the requested order: bookmarks, or post_ids for the format ids.
    bookmarks: Annotated[list[Json] | None, Meta(extra={"items": Post})] = None
    post_ids: list[str] | None = None
    count: int
    total_count: int
    next_cursor: str | None
    filters: Json
    # Posts that a search by meaning cannot find yet.
    vector_pending: int = 0
    relaxed: bool = False
    did_you_mean: str | None = None
    truncated: bool
    advice: str = ""


async def page(pages: Pages, response_format: str) -> Page:
    """A page that fits in a result. Its cursor continues after the last post that it contains."""
    listed = await pages.read(None)
    found = listed.count
    filters = response_size.short_filters(vocabulary.in_published_words(pages.applied))
    if response_format == IDS:
        post_ids = [one.post_id for one in _ids(b"[%b]" % listed.body)]
        bookmarks, is_truncated = None, False
    else:
        max_bytes = (
            response_size.MAX_BYTES - response_size.OVERHEAD_BYTES - response_size.size(filters)
        )
        fitted = response_size.fit(forms(listed.body, response_format, pages.zone), max_bytes)
        while not fitted.is_all:
            # Read again with a smaller limit, so that the cursor skips no post that was left out.
            listed = await pages.read(len(fitted.records))
            fitted = response_size.fit(forms(listed.body, response_format, pages.zone), max_bytes)
        post_ids, bookmarks = None, fitted.records
        is_truncated = fitted.is_truncated or any(p.get("truncated") for p in fitted.records)
    sentences = [f"{response_size.TRUNCATED} {_IN_FULL}"] if is_truncated else []
    sentences += [listed.hint] if listed.hint and listed.total_count else []
    sentences += _pending(listed.vector_pending)
    sentences += _more(pages.account, listed, found)
    sentences += await pages.remark(listed) if listed.total_count else await pages.explain(listed)
    return Page(
        content_is="" if bookmarks is None else QUOTED_POSTS,
        bookmarks=bookmarks,
        post_ids=post_ids,
        count=listed.count,
        total_count=listed.total_count,
        # The free plan would refuse it.
        next_cursor=None if pages.account.is_free else listed.next_cursor,
        filters=filters,
        vector_pending=listed.vector_pending,
        relaxed=listed.is_relaxed,
        did_you_mean=listed.did_you_mean or None,
        truncated=listed.count < found or is_truncated,
        advice=" ".join(sentences),
    )


def forms(body: bytes, response_format: str, zone: ZoneInfo) -> list[Json]:
    """The posts of a list, whose body is JSON objects separated by commas."""
    body = b"[%b]" % body
    if response_format == "detailed":
        return [_detailed(post) for post in _whole(json_depth.cut(body))]
    return concise(body, zone)


def _detailed(post: Json) -> Json:
    """All fields. Only get_bookmarks can read on, so there is no offset."""
    short: Json = response_size.truncate_all(post, DETAILED_CHARS)
    if short == post:
        return post
    part = long_texts.part_of(post, 0, DETAILED_CHARS)
    return {**short, "text_length": part["text_length"], "truncated": True}


def _more(account: Account, listed: BookmarkList, found: int) -> list[str]:
    """How to see the posts that are not on the page, as far as the plan allows it."""
    fit = f"Only {listed.count} of {found} posts fit in one result." if listed.count < found else ""
    if not account.is_free:
        # A list of the nearest posts has only one page.
        step = " Continue with next_cursor, or send more filters." if listed.next_cursor else ""
        return [fit + step] if fit else []
    if fit:
        return [f"{fit} Send response_format ids for the ids of all {found}; {_IN_FULL}"]
    if listed.next_cursor is None:
        return []
    if listed.count < PAGE_MAX:
        return [f"Send a higher limit (up to {PAGE_MAX}) to see more posts."]
    return ["The free plan has no second page. Narrow the list with query, or reverse sort_order."]


def _pending(number: int) -> list[str]:
    if not number:
        return []
    what = "1 post" if number == 1 else f"{number:,} posts"
    return [f"{what} cannot be found by meaning yet: vectors are still being built."]


def why_empty(listed: BookmarkList, otherwise: str) -> list[str]:
    """What the list itself says about its being empty, or another sentence."""
    known = [listed.hint] if listed.hint else []
    return [*known, *empty_lists.hidden(listed.hidden)] or [otherwise]
