"""The tools that list, show, count and mark saved posts."""

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.requests import filters, limits
from bowerbird.requests.bookmarks import (
    CountQuery,
    Cursor,
    Limit,
    ListQuery,
    SortBy,
    SortOrder,
)
from bowerbird.requests.fields import about, unique
from bowerbird.requests.filters import WordFilters
from bowerbird.search.queries import query_language
from bowerbird.toolserver.tools import searching
from bowerbird.toolserver.tools.arguments import reading, vocabulary
from bowerbird.toolserver.tools.results import left_out, listing, response_size
from bowerbird.toolserver.tools.results.left_out import EmptyLists
from bowerbird.toolserver.tools.results.listing import ResponseFormat
from bowerbird.toolserver.tools.results.posts import Page, Post
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool

_CHARS: Final = 4_000
_OFFSET_MAX: Final = 10_000_000


class ListArguments(WordFilters, frozen=True, kw_only=True):
    UNLISTED: ClassVar = ("sort_order",)

    sort_by: SortBy = None
    sort_order: SortOrder = None
    limit: Limit = None
    cursor: Cursor = None
    response_format: ResponseFormat = None


class GetArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: Annotated[
        list[Annotated[str, Meta(pattern=r"^[0-9]{1,40}$")]],
        Meta(
            min_length=1,
            max_length=limits.TOOL_FULL_POSTS_MAX,
            description="Ids of the posts.",
        ),
    ]
    max_chars: Annotated[
        Annotated[int, Meta(ge=280, le=20_000)] | None,
        about("Maximum length of each text.", parameter={"default": _CHARS}),
    ] = None
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=_OFFSET_MAX)] | None,
        about("next_offset of a post, to read on in its texts.", parameter={"default": 0}),
    ] = None

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class CountArguments(WordFilters, frozen=True, kw_only=True):
    pass


class FullPosts(Struct, kw_only=True, omit_defaults=True):
    content_is: str
    bookmarks: Annotated[list[Json], Meta(extra={"items": Post})]
    # Ids that are not in the library, and ids of posts that did not fit.
    not_found: list[str]
    left_out: list[str]
    truncated: bool
    advice: str = ""


class Counts(Struct, kw_only=True, omit_defaults=True):
    count: int
    total: int
    # Archived ones too.
    unread: int
    archived: int
    filters: Json
    advice: str = ""


LIST: Final = Tool(
    name="list_bookmarks",
    title="List saved posts",
    description=(
        "Lists the user's saved posts, newest first: new ones only, unless is_unread_only and "
        "hide_archived are false. To find posts about a subject, use search_bookmarks."
    ),
    takes=ListArguments,
    returns=Page,
    hints=READS,
)
GET: Final = Tool(
    name="get_bookmarks",
    title="Show saved posts in full",
    description=(
        "Returns up to 20 saved posts with all fields: full text, note, highlights, article, "
        "quoted post, counts. A post with truncated true has longer texts: send its next_offset as "
        "offset to read on."
    ),
    takes=GetArguments,
    returns=FullPosts,
    hints=READS,
)
COUNT: Final = Tool(
    name="count_bookmarks",
    title="Count saved posts",
    description=(
        "Counts the posts that match, and all in the library. Without arguments it counts unread "
        "posts that are not archived; unread in the result includes archived posts."
    ),
    takes=CountArguments,
    returns=Counts,
    hints=READS,
)
TOOLS: Final = (LIST, searching.SEARCH, GET, COUNT, searching.SIMILAR)


def bind(services: Services) -> list[BoundTool]:
    bookmarks = services.bookmarks

    async def list_bookmarks(account: Account, values: ListArguments) -> Page:
        sent = filters.sent(values)
        query = ListQuery(**sent, **listing.paging(values))
        applied = {**filters.flags_of(values), **sent, **listing.sorting(values)}
        return await listing.page(bookmarks, account, query, applied, values.response_format)

    async def get_bookmarks(account: Account, values: GetArguments) -> FullPosts:
        found, not_found = await _found(bookmarks, account, values.post_ids)
        if not found:
            raise errors.not_found("post", ", ".join(values.post_ids[:3]))
        return _details(found, not_found, values)

    async def count_bookmarks(account: Account, values: CountArguments) -> Counts:
        sent = filters.sent(values)
        query = CountQuery(**sent)
        counts = await bookmarks.count(account, query)
        applied = response_size.short_filters(
            vocabulary.in_published_words({**filters.flags_of(values), **sent})
        )
        if not counts.count:
            advice = [await EmptyLists(bookmarks).of_filters(account, sent)]
        else:
            advice = [
                *query_language.parse((values.q or "").strip()).hints,
                *await left_out.of_query(bookmarks, account, query, counts.count),
            ]
        found = msgspec.structs.asdict(counts)
        return Counts(**found, filters=applied, advice=" ".join(advice))

    return [
        reading.bound(LIST, list_bookmarks),
        searching.search_tool(bookmarks),
        reading.bound(GET, get_bookmarks),
        # Without arguments it is free, as in REST: clients use it to check a key.
        reading.bound(COUNT, count_bookmarks, counts=lambda sent: bool(reading.named(sent))),
        searching.similar_tool(bookmarks),
    ]


async def _found(
    bookmarks: Bookmarks, account: Account, post_ids: list[str]
) -> tuple[list[bytes], list[str]]:
    found: list[bytes] = []
    missing: list[str] = []
    for post_id in post_ids:
        try:
            found.append((await bookmarks.get_with_content(account, post_id))[0])
        except Refusal as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
            missing.append(post_id)
    return found, missing


def _details(found: list[bytes], not_found: list[str], values: GetArguments) -> FullPosts:
    offset, max_chars = values.offset or 0, values.max_chars or _CHARS
    posts: list[Json] = [msgspec.json.decode(json_depth.cut(body)) for body in found]
    # Each id occurs once: in not_found, in left_out, or with its post.
    ids_size = response_size.size([*not_found, *(post["post_id"] for post in posts)])
    max_bytes = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES // 2 - ids_size
    first, *others = posts
    parts = [response_size.fitting_part(first, offset, max_chars, max_bytes - len("[]"))]
    parts += [response_size.part_of(post, offset, max_chars) for post in others]
    fitted = response_size.fit(parts, max_bytes)
    left_out = [post["post_id"] for post in posts[len(fitted.records) :]]
    is_cut = any(post["truncated"] for post in fitted.records)
    advice = [response_size.TRUNCATED] if is_cut or fitted.is_truncated else []
    if any("next_offset" in post for post in fitted.records):
        advice.append("Send the id of a post and its next_offset as offset to read on.")
    if left_out:
        advice.append("Call again with the ids in left_out, or with a smaller max_chars.")
    if offset and all(post["text_length"] <= offset for post in fitted.records):
        longest = max(post["text_length"] for post in fitted.records)
        advice.append(f"offset is past the end: the longest text has {longest:,} characters.")
    return FullPosts(
        content_is=QUOTED_POSTS,
        bookmarks=fitted.records,
        not_found=not_found,
        left_out=left_out,
        truncated=is_cut or not fitted.is_complete,
        advice=" ".join(advice),
    )
