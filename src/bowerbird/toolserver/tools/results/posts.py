"""Posts for a model: pages of them in three forms, and the short form of a post.

A page fits in a result. The short form has what a model needs to choose posts: a field that is
false, empty, or follows from others is left out.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from html import unescape
from typing import Annotated, Any, Final, Literal, Protocol, TypeVar
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta, Struct

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList, VectorState
from bowerbird.model import instants, json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.posts import media
from bowerbird.model.posts.bookmarks import Metrics, PostDetails
from bowerbird.model.words import Either, WordQuery
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.fields import about
from bowerbird.requests.limits import PAGE_MAX
from bowerbird.toolserver.tools import vocabulary
from bowerbird.toolserver.tools.results import guidance, response_size
from bowerbird.toolserver.tools.results.guidance import EmptyLists
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import Json

TEXT_CHARS: Final = 280
# Who asks for many posts wants to choose among them; the texts of a few of them come later.
FEW: Final = 20
TEXT_CHARS_OF_MANY: Final = 120
_UTC, _UTC_OFFSET = "UTC", "+00:00"
_MARK: Final = re.compile(r"</?mark>")


class _Highlight(Struct, frozen=True):
    html: str


class _Stored(Struct, frozen=True):
    """The fields of a bookmark that the short form has. Others are not decoded."""

    post_id: str
    tweet_details: PostDetails
    author_username: str
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    gone_at: str | None = None
    removed_at: str | None = None
    note: str | None = None
    content_state: str = ""
    content_problem: str = ""
    score: float | None = None
    copies: int = 0
    highlight: _Highlight | None = None


# Garbage collection would look at every post of every page.
class Post(Struct, kw_only=True, omit_defaults=True, gc=False):
    """A post of a result. In the detailed form it has the fields of a bookmark besides these."""

    post_id: str
    author: str = ""
    title: str = ""
    text: str = ""
    text_length: int = 0
    article_length: int = 0
    snippet: str = ""
    link: str = ""
    posted_at: str = ""
    bookmarked_at: str = ""
    labels: list[str] = []
    media: list[str] = []
    is_read: bool = False
    is_archived: bool = False
    gone_at: str = ""
    removed_at: str = ""
    note: str = ""
    content_state: str = ""
    content_problem: str = ""
    score: float | None = None
    # Of these, the short form has the one by which the list is sorted.
    quote_count: int | None = None
    reply_count: int | None = None
    retweet_count: int | None = None
    bookmark_count: int | None = None
    favorite_count: int | None = None
    copies: int = 0
    # Not in the short form.
    next_offset: int = 0
    truncated: bool = False
    tweet_details: Json = {}


_stored: Final = msgspec.json.Decoder(list[_Stored]).decode


def concise(body: bytes, zone: ZoneInfo, sort_by: str | None = None) -> list[Json]:
    """The posts in a JSON array of bookmarks, with days in this time zone, as filters have them."""
    try:
        stored = _stored(body)
    except RecursionError:
        # Measuring the depth of every page would take as long as decoding it.
        stored = _stored(json_depth.cut(body))
    chars = TEXT_CHARS if len(stored) <= FEW else TEXT_CHARS_OF_MANY
    posts = [_short(one, zone, chars) for one in stored]
    if sort_by in Metrics.__struct_fields__:
        for post, one in zip(posts, stored, strict=True):
            counts = one.tweet_details.meta.non_real_time_engagement_metrics
            setattr(post, sort_by, getattr(counts, sort_by))
    short: list[Json] = msgspec.to_builtins(posts)
    return short


def _short(stored: _Stored, zone: ZoneInfo, chars: int) -> Post:
    details = stored.tweet_details
    article = details.article or {}
    text = response_size.truncate(details.text, chars)
    snippet = _snippet(stored.highlight, text)
    if snippet and chars < TEXT_CHARS:
        # The words around the hit say more than the beginning.
        text = response_size.truncate(details.text, chars // 3)
    return Post(
        post_id=stored.post_id,
        author=stored.author_username,
        title=_text(article.get("title")),
        text=text,
        # The ellipsis is enough where a page is to be short.
        text_length=len(details.text) if text != details.text and chars == TEXT_CHARS else 0,
        article_length=len(_body(article)),
        snippet=snippet,
        link=_link(stored),
        posted_at=_day(details.posted_at, zone),
        bookmarked_at=_day(stored.bookmarked_at, zone),
        labels=stored.tags or [],
        media=_media(details),
        is_read=stored.is_read,
        is_archived=stored.is_archived,
        gone_at=_day(stored.gone_at, zone),
        removed_at=_day(stored.removed_at, zone),
        note=_text(stored.note),
        content_state=stored.content_state,
        content_problem=stored.content_problem,
        score=stored.score,
        copies=stored.copies,
    )


def _text(text: object) -> str:
    return response_size.truncate(text, TEXT_CHARS) if isinstance(text, str) else ""


def _body(article: Json) -> str:
    text = article.get("plain_text") or article.get("preview_text")
    return text if isinstance(text, str) else ""


def _link(stored: _Stored) -> str:
    """The link, unless it follows from author and id, as the instructions say."""
    link = stored.tweet_details.link
    usual = f"https://x.com/{stored.author_username}/status/{stored.post_id}"
    return "" if link == usual else link


def _day(text: str | None, zone: ZoneInfo) -> str:
    if not text:
        return ""
    instant = instants.parse(text)
    if instant is None:
        return text
    if zone.key == _UTC and text.endswith(_UTC_OFFSET):
        # As most dates are stored. Without a conversion, and its result is the same.
        return text[:10]
    return instants.local_day(instant, zone).isoformat()


def _media(details: PostDetails) -> list[str]:
    bits = media.bits_of(details)
    return [name for name, bit in media.BITS.items() if bits & bit and name != "text"]


def _snippet(highlight: _Highlight | None, text: str) -> str:
    """Where the searched words occur, if that is not in the text that is shown."""
    if highlight is None:
        return ""
    shown = " ".join(text.split())
    start = highlight.html.partition("</mark>")[0].removeprefix("…")
    return "" if _plain(start) in shown else _plain(highlight.html)


def _plain(html: str) -> str:
    return unescape(_MARK.sub("", html))


IDS: Final = "ids"
# get_bookmarks returns longer texts.
DETAILED_CHARS: Final = 2_000
_IN_FULL: Final = "get_bookmarks returns a post in full."

Q = TypeVar("Q", bound=Struct)
Say = Callable[[BookmarkList], Awaitable[list[str]]]
"""Sentences about a list."""


class _Id(Struct, frozen=True):
    post_id: str


_ids: Final = msgspec.json.Decoder(list[_Id]).decode
_whole: Final = msgspec.json.Decoder(list[Json]).decode


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


async def page(
    bookmarks: Bookmarks,
    account: Account,
    query: Q,
    read: Callable[[Q], Awaitable[BookmarkList]],
    *,
    applied: Json,
    explain: Say,
    remark: Say,
    response_format: str | None = None,
) -> Page:
    """A page that fits in a result. Its cursor continues after the last post that it contains.

    `applied` are the filters that the result repeats. `explain` is about a list without posts, and
    `remark` about one with posts.
    """
    zone = await bookmarks.zone(account)
    response_format = response_format or "concise"
    listed = await read(query)
    found = listed.count
    filters = response_size.short_filters(vocabulary.in_published_words(applied))
    sort_by = applied.get("sort_by")
    if response_format == IDS:
        post_ids = [one.post_id for one in _ids(b"[%b]" % listed.body)]
        shown, is_truncated = None, False
    else:
        max_bytes = response_size.RECORDS_BYTES - response_size.size(filters)
        fitted = response_size.fit(forms(listed.body, response_format, zone, sort_by), max_bytes)
        while not fitted.is_all:
            # Read again with a smaller limit, so that the cursor skips no post that was left out.
            listed = await read(msgspec.structs.replace(query, limit=len(fitted.records)))
            fitted = response_size.fit(
                forms(listed.body, response_format, zone, sort_by), max_bytes
            )
        post_ids, shown = None, fitted.records
        is_truncated = fitted.is_truncated or any(p.get("truncated") for p in fitted.records)
    sentences = [f"{response_size.TRUNCATED} {_IN_FULL}"] if is_truncated else []
    sentences += [listed.hint] if listed.hint and listed.total_count else []
    sentences += _pending(listed.vector_pending)
    sentences += _more(account, listed, found)
    sentences += await (remark if listed.total_count else explain)(listed)
    return Page(
        content_is="" if shown is None else QUOTED_POSTS,
        bookmarks=shown,
        post_ids=post_ids,
        count=listed.count,
        total_count=listed.total_count,
        # The free plan would refuse it.
        next_cursor=None if account.is_free else listed.next_cursor,
        filters=filters,
        vector_pending=listed.vector_pending,
        relaxed=listed.is_relaxed,
        did_you_mean=listed.did_you_mean or None,
        truncated=listed.count < found or is_truncated,
        advice=" ".join(sentences),
    )


def forms(
    body: bytes, response_format: str, zone: ZoneInfo, sort_by: str | None = None
) -> list[Json]:
    """The posts of a list, whose body is JSON objects separated by commas."""
    body = b"[%b]" % body
    if response_format == "detailed":
        return [_detailed(post) for post in _whole(json_depth.cut(body))]
    return concise(body, zone, sort_by)


def _detailed(post: Json) -> Json:
    """All fields. Only get_bookmarks can read on, so there is no offset."""
    short: Json = response_size.truncate_all(post, DETAILED_CHARS)
    if short == post:
        return post
    part = response_size.part_of(post, 0, DETAILED_CHARS)
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
    return [*known, *guidance.hidden(listed.hidden)] or [otherwise]


_NEAR_ONLY: Final = (
    "No post has any of these words; these are only near in meaning, and may have nothing to do "
    "with them."
)
# In the JSON of a post that has a searched word.
_HIGHLIGHT: Final = b',"highlight":{'

ResponseFormat = Annotated[
    Literal["concise", "detailed", "ids"] | None,
    about(
        "detailed: all fields, much longer. ids: post_ids only.",
        parameter={"default": "concise"},
    ),
]


class Paged(Protocol):
    """The arguments of a tool that returns a page."""

    @property
    def limit(self) -> int | None: ...
    @property
    def cursor(self) -> str | None: ...
    @property
    def sort_by(self) -> str | None: ...
    @property
    def sort_order(self) -> str | None: ...


async def listed_page(
    bookmarks: Bookmarks,
    account: Account,
    query: ListQuery,
    applied: Json,
    response_format: str | None,
    *,
    vectors: VectorState | None = None,
    mode: str | None = None,
    remarks: Sequence[str] = (),
) -> Page:
    """`mode` is that of a search, and `remarks` are about the search itself."""

    async def explain(listed: BookmarkList) -> list[str]:
        said = await empty.advice(account, query, listed, mode=mode)
        return [*dict.fromkeys([*remarks, *said])]

    async def remark(listed: BookmarkList) -> list[str]:
        said = [*dict.fromkeys([*remarks, *await empty.by_meaning(account, listed, mode)])]
        if mode == "hybrid" and not await _has_words(bookmarks, account, query, listed):
            said.append(_NEAR_ONLY)
        return said + await guidance.of_list(bookmarks, account, query, listed)

    empty = EmptyLists(bookmarks)

    return await page(
        *(bookmarks, account, query, lambda asked: bookmarks.list(account, asked, vectors)),
        applied=applied,
        explain=explain,
        remark=remark,
        response_format=response_format,
    )


async def _has_words(
    bookmarks: Bookmarks, account: Account, query: ListQuery, listed: BookmarkList
) -> bool:
    """Whether a post of a search by words and meaning has one of the words."""
    if _HIGHLIGHT in listed.body:
        return True
    filter = await bookmarks.filter(account, query)
    words = filter.words
    if words is None or not words.wanted_terms:
        return True
    # Another page may have a post with one of them.
    limits = words.limits.parts if words.limits else ()
    any_word = WordQuery((Either(tuple((term,) for term in words.wanted_terms)), *limits))
    by_words = msgspec.structs.replace(filter, meaning=None, words=any_word)
    return bool(await bookmarks.total(account, by_words))


def paging(values: Paged) -> dict[str, Any]:
    return {"limit": values.limit, "cursor": values.cursor, **sorting(values)}


def sorting(values: Paged) -> dict[str, Any]:
    order = {"sort_by": values.sort_by, "sort_order": values.sort_order}
    return {name: value for name, value in order.items() if value}
