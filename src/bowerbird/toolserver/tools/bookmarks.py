"""The tools that list, search, show, count and mark saved posts."""

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import BookmarkList, Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.requests import filters, limits
from bowerbird.requests.bookmarks import (
    CountQuery,
    Cursor,
    FlagsRequest,
    Limit,
    ListQuery,
    SortBy,
    SortOrder,
)
from bowerbird.requests.fields import ToolPostIds, about, unique
from bowerbird.requests.filters import BookmarkFilters, WordFilters
from bowerbird.requests.gates import Gate
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, posts, response_size, writes
from bowerbird.toolserver.tools.tool import (
    READS,
    WRITES_AGAIN,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.idempotency import Idempotency

_CHARS: Final = 4_000

ResponseFormat = Annotated[
    Literal["concise", "detailed"] | None,
    about(
        "concise: id, author, 280 characters of text, link, dates, labels, flags. detailed: "
        "everything, five to ten times as long.",
        parameter={"default": "concise"},
    ),
]


class ListArguments(WordFilters, frozen=True, kw_only=True):
    sort_by: SortBy = None
    sort_order: SortOrder = None
    limit: Limit = None
    cursor: Cursor = None
    response_format: ResponseFormat = None


class SearchArguments(BookmarkFilters, frozen=True, kw_only=True):
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}

    query: Annotated[
        str,
        about(
            'What to look for. With mode keyword every word must occur: "a phrase" in quotes, '
            "-word to exclude, wo* for a prefix."
        ),
    ]
    mode: Annotated[
        Literal["keyword", "semantic", "hybrid"] | None,
        about("How to search.", parameter={"default": "keyword"}),
    ] = None
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
            description="Ids of the posts, as the lists show them.",
        ),
    ]
    max_chars: Annotated[
        Annotated[int, Meta(ge=280, le=20_000)] | None,
        about("Cut each text at this length.", parameter={"default": _CHARS}),
    ] = None

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class CountArguments(WordFilters, frozen=True, kw_only=True):
    pass


class UpdateArguments(FlagsRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: ToolPostIds

    def __post_init__(self) -> None:
        super().__post_init__()
        unique(self, "post_ids")


LIST: Final = Tool(
    name="list_bookmarks",
    title="List saved posts",
    description=(
        "Lists the user's saved posts, newest first. Shows only unread posts that are not archived "
        "unless is_unread_only and hide_archived are sent as false. To find posts about something, "
        "use search_bookmarks instead. Returns a page; pass next_cursor back as cursor, with the "
        "same filters, for the next one."
    ),
    takes=ListArguments,
    answer=json_schemas.PAGE,
    hints=READS,
)
SEARCH: Final = Tool(
    name="search_bookmarks",
    title="Search saved posts",
    description=(
        "Finds saved posts, best matches first, including read and archived ones. mode keyword "
        "finds the words themselves and always works; semantic finds posts with a similar "
        "meaning; hybrid combines both and is best for a question in plain language, if "
        "the account's plan and vector store allow it."
    ),
    takes=SearchArguments,
    answer=json_schemas.PAGE,
    hints=READS,
)
GET: Final = Tool(
    name="get_bookmarks",
    title="Show saved posts in full",
    description=(
        "Shows everything about up to 20 saved posts: full text, attachments, article, quoted "
        "post, engagement. Use it for posts whose text was cut in a list. Ids that are not in the "
        "library are returned in not_found."
    ),
    takes=GetArguments,
    answer=json_schemas.record(
        "Saved posts in full.",
        {
            "bookmarks": json_schemas.many(json_schemas.POST, "The posts, in the order requested."),
            "not_found": json_schemas.many({"type": "string"}, "Ids not in the library."),
            "left_out": json_schemas.many({"type": "string"}, "Ids that did not fit."),
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("advice",),
    ),
    hints=READS,
)
COUNT: Final = Tool(
    name="count_bookmarks",
    title="Count saved posts",
    description=(
        "Counts the posts that match, and returns how many the library has in total. Filters and "
        "defaults are those of list_bookmarks; without arguments it counts what is new."
    ),
    takes=CountArguments,
    answer=json_schemas.record(
        "Counts of saved posts.",
        {
            "count": json_schemas.count("Posts that match."),
            "total": json_schemas.count("Posts in the library."),
            "unread": json_schemas.count("Posts not marked read."),
            "archived": json_schemas.count("Posts that are archived."),
            "filters": {"type": "object", "description": "The filters that were applied."},
        },
    ),
    hints=READS,
)
UPDATE: Final = Tool(
    name="update_bookmarks",
    title="Mark saved posts read or archived",
    description=(
        "Marks up to 100 saved posts as read or unread, archived or not. Send is_read, "
        "is_archived, or both; a flag that is not sent stays. Nothing is deleted, and the opposite "
        "value undoes it."
    ),
    takes=UpdateArguments,
    answer=json_schemas.record(
        "What was marked.",
        {
            "affected": json_schemas.count("Posts that changed."),
            "posts": json_schemas.many(
                json_schemas.record(
                    "A post's state now.",
                    {
                        "post_id": json_schemas.said("Id of the post."),
                        "is_read": {"type": "boolean"},
                        "is_archived": {"type": "boolean"},
                    },
                ),
                "The state of each post now.",
            ),
            "not_found": json_schemas.many({"type": "string"}, "Ids not in the library."),
        },
    ),
    hints=WRITES_AGAIN,
)
TOOLS: Final = (LIST, SEARCH, GET, COUNT, UPDATE)


def offered(bookmarks: Bookmarks, flags: Flags, idempotency: Idempotency) -> list[BoundTool]:
    async def list_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(LIST, call, ListArguments)
        sent = filters.sent(values)
        query = ListQuery(**sent, **_paging(values))
        applied = {**ListArguments.DEFAULTS, **sent, **_sorting(values)}
        return await _page(bookmarks, call, query, applied, values.response_format)

    async def search_bookmarks(call: ToolCall) -> ToolResult:
        is_meant = call.sent.get("mode") in ("semantic", "hybrid")
        gates = {"mode": Gate.MEANING} if is_meant else {}
        values = arguments.read(SEARCH, call, SearchArguments, **gates)
        query, applied = _searched(values)
        return await _page(bookmarks, call, query, applied, values.response_format)

    async def get_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(GET, call, GetArguments)
        found, not_found = await _found(bookmarks, call, values.post_ids)
        if not found:
            raise errors.not_found("bookmark", ", ".join(values.post_ids[:3]))
        return ToolResult(_in_full(found, not_found, values.max_chars or _CHARS))

    async def count_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(COUNT, call, CountArguments)
        sent = filters.sent(values)
        counts = await bookmarks.count(call.account, CountQuery(**sent))
        applied = response_size.filters({**CountArguments.DEFAULTS, **sent})
        return ToolResult({**msgspec.to_builtins(counts), "filters": applied})

    async def update_bookmarks(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: UpdateArguments) -> Json:
            marked = await flags.update(transaction, call.account, values.post_ids, values)
            made: Json = msgspec.to_builtins(marked)
            return made

        return await writes.run(idempotency, call, UPDATE, UpdateArguments, effect)

    return [
        BoundTool(LIST, list_bookmarks),
        BoundTool(SEARCH, search_bookmarks),
        BoundTool(GET, get_bookmarks),
        # As over REST: the plain count is how clients check a key.
        BoundTool(COUNT, count_bookmarks, counts=lambda sent: bool(arguments.named(sent))),
        BoundTool(UPDATE, update_bookmarks),
    ]


async def _page(
    bookmarks: Bookmarks,
    call: ToolCall,
    query: ListQuery,
    applied: Json,
    response_format: str | None,
) -> ToolResult:
    async def read(limit: int | None) -> BookmarkList:
        page = query if limit is None else msgspec.structs.replace(query, limit=limit)
        return await bookmarks.list(call.account, page)

    return ToolResult(await posts.page(read, applied, response_format or "concise"))


def _searched(values: SearchArguments) -> tuple[ListQuery, Json]:
    text, mode = values.query.strip(), values.mode or "keyword"
    if not text:
        raise errors.invalid("query", "is empty")
    sent = {**SearchArguments.DEFAULTS, **filters.sent(values)}
    sorting = _sorting(values)
    if mode == "keyword":
        sorting = {"sort_by": "relevance", **sorting}
    query = ListQuery(
        **sent,
        **{**_paging(values), **sorting},
        q=None if mode == "semantic" else text,
        vector_search_term=None if mode == "keyword" else text,
    )
    return query, {"query": values.query, "mode": mode, **sent, **sorting}


def _paging(values: ListArguments | SearchArguments) -> dict[str, Any]:
    return {"limit": values.limit, "cursor": values.cursor, **_sorting(values)}


def _sorting(values: ListArguments | SearchArguments) -> dict[str, Any]:
    sorting = {"sort_by": values.sort_by, "sort_order": values.sort_order}
    return {name: value for name, value in sorting.items() if value}


async def _found(
    bookmarks: Bookmarks, call: ToolCall, post_ids: list[str]
) -> tuple[list[bytes], list[str]]:
    found: list[bytes] = []
    missing: list[str] = []
    for post_id in post_ids:
        try:
            found.append(await bookmarks.get(call.account, post_id))
        except Refusal as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
            missing.append(post_id)
    return found, missing


def _in_full(found: list[bytes], not_found: list[str], most_chars: int) -> Json:
    whole: list[Json] = [response_size.cut(msgspec.json.decode(body), most_chars) for body in found]
    # An id is named once: as not found, as left out, or with its post.
    named = response_size.size([*not_found, *(post["post_id"] for post in whole)])
    shown = response_size.fitting(
        whole, response_size.MOST_BYTES - response_size.AROUND // 2 - named
    )
    left_out = [post["post_id"] for post in whole[len(shown.records) :]]
    made: Json = {
        "bookmarks": shown.records,
        "not_found": not_found,
        "left_out": left_out,
        "truncated": not shown.is_whole,
    }
    advice = [response_size.SHORTENED] if shown.is_shortened else []
    if left_out:
        advice.append("Call again with the ids in left_out, or with a smaller max_chars.")
    return {**made, "advice": " ".join(advice)} if advice else made
