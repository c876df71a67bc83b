"""The tools that list, search, show, count and mark saved posts."""

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.results import BookmarkList, VectorState
from bowerbird.model import json_depth
from bowerbird.requests import filters, limits
from bowerbird.requests.bookmarks import (
    CountQuery,
    Cursor,
    Limit,
    ListQuery,
    SortBy,
    SortOrder,
    UpdateRequest,
)
from bowerbird.requests.fields import InvalidField, ToolPostIds, about, unique
from bowerbird.requests.filters import BookmarkFilters, WordFilters
from bowerbird.requests.gates import Gate
from bowerbird.search import query_language
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, posts, response_size, writes
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
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
        "concise: id, author, 280 characters of text, link, dates, labels, flags, "
        "note. detailed: all fields, much longer.",
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
            'Text to search for. In mode keyword every word must occur; "a phrase", -word to '
            "exclude, wo* for a prefix, a OR b, ( ), author:ada, label:x, "
            "has:video|image|link|note, is:read|unread|archived, before:2026-01-31, after:-7d."
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
            description="Ids of the posts.",
        ),
    ]
    max_chars: Annotated[
        Annotated[int, Meta(ge=280, le=20_000)] | None,
        about("Maximum length of each text.", parameter={"default": _CHARS}),
    ] = None

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class CountArguments(WordFilters, frozen=True, kw_only=True):
    pass


class UpdateArguments(UpdateRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: ToolPostIds

    def __post_init__(self) -> None:
        super().__post_init__()
        unique(self, "post_ids")
        if self.note is not UNSET and len(self.post_ids) > 1:
            raise InvalidField("note", "needs exactly one of post_ids")


LIST: Final = Tool(
    name="list_bookmarks",
    title="List saved posts",
    description=(
        "Lists the user's saved posts, newest first. By default it leaves out read and archived "
        "posts; send is_unread_only false and hide_archived false to include them. To find posts "
        "about a subject, use search_bookmarks. For the next page, send next_cursor as cursor with "
        "the same filters."
    ),
    takes=ListArguments,
    returns=json_schemas.PAGE,
    hints=READS,
)
SEARCH: Final = Tool(
    name="search_bookmarks",
    title="Search saved posts",
    description=(
        "Finds saved posts, best matches first, including read and archived ones. Mode keyword "
        "finds the words themselves and is always available; semantic finds posts with a similar "
        "meaning; hybrid combines both and is best for a question in plain language. semantic and "
        "hybrid need a paid plan and a complete vector store."
    ),
    takes=SearchArguments,
    returns=json_schemas.PAGE,
    hints=READS,
)
GET: Final = Tool(
    name="get_bookmarks",
    title="Show saved posts in full",
    description=(
        "Returns up to 20 saved posts with all fields: full text, note, attachments, article, "
        "quoted post, engagement. Use it for posts whose text is truncated in a list."
    ),
    takes=GetArguments,
    returns=json_schemas.record(
        "Saved posts in full.",
        {
            "bookmarks": json_schemas.array(json_schemas.POST, "In the requested order."),
            "not_found": json_schemas.array({"type": "string"}, "Ids not in the library."),
            "left_out": json_schemas.array({"type": "string"}, "Ids that did not fit."),
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
        "Counts the posts that match, and all posts in the library. Filters and defaults are those "
        "of list_bookmarks: without arguments it counts unread posts that are not archived."
    ),
    takes=CountArguments,
    returns=json_schemas.record(
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
    title="Mark saved posts, or change a note",
    description=(
        "Marks up to 100 saved posts as read or unread, archived or not, or replaces the note of "
        "one post; get_bookmarks shows it. A field that is not sent does not change."
    ),
    takes=UpdateArguments,
    returns=json_schemas.record(
        "The changed posts.",
        {
            "affected": json_schemas.count("Posts that changed."),
            "posts": json_schemas.array(
                json_schemas.record(
                    "A post.",
                    {
                        "post_id": json_schemas.text("Id of the post."),
                        "is_read": {"type": "boolean"},
                        "is_archived": {"type": "boolean"},
                    },
                ),
                "As they are now.",
            ),
            "not_found": json_schemas.array({"type": "string"}, "Ids not in the library."),
        },
    ),
    # The note before is not kept.
    hints=DESTROYS,
)
TOOLS: Final = (LIST, SEARCH, GET, COUNT, UPDATE)


def bind(bookmarks: Bookmarks, flags: Flags, idempotency: Idempotency) -> list[BoundTool]:
    async def list_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(LIST, call, ListArguments)
        sent = filters.sent(values)
        query = ListQuery(**sent, **_paging(values))
        applied = {**filters.flags_of(values), **sent, **_sorting(values)}
        return await _page(bookmarks, call, query, applied, values.response_format)

    async def get_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(GET, call, GetArguments)
        found, not_found = await _found(bookmarks, call, values.post_ids)
        if not found:
            raise errors.not_found("bookmark", ", ".join(values.post_ids[:3]))
        return ToolResult(_details(found, not_found, values.max_chars or _CHARS))

    async def count_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(COUNT, call, CountArguments)
        sent = filters.sent(values)
        counts = await bookmarks.count(call.account, CountQuery(**sent))
        applied = response_size.short_filters({**filters.flags_of(values), **sent})
        return ToolResult({**msgspec.to_builtins(counts), "filters": applied})

    async def update_bookmarks(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: UpdateArguments) -> Json:
            marked = await flags.update(
                transaction, call.account, values.post_ids, values, values.note
            )
            content: Json = msgspec.to_builtins(marked)
            return content

        return await writes.run(idempotency, call, UPDATE, UpdateArguments, effect)

    return [
        BoundTool(LIST, list_bookmarks),
        _search_tool(bookmarks),
        BoundTool(GET, get_bookmarks),
        # Without arguments it is free, as in REST: clients use it to check a key.
        BoundTool(COUNT, count_bookmarks, counts=lambda sent: bool(arguments.named(sent))),
        BoundTool(UPDATE, update_bookmarks),
    ]


def _search_tool(bookmarks: Bookmarks) -> BoundTool:
    async def search_bookmarks(call: ToolCall) -> ToolResult:
        by_meaning = call.sent.get("mode") in ("semantic", "hybrid")
        gates = {"mode": Gate.MEANING} if by_meaning else {}
        arguments.check_plan(call.account, SearchArguments, call.sent, gates)
        vectors = None
        if by_meaning:
            vectors = await bookmarks.vector_state(call.account)
            await bookmarks.require_vectors(call.account, vectors)
        values = arguments.read(SEARCH, call, SearchArguments)
        query, applied = _search(values)
        return await _page(bookmarks, call, query, applied, values.response_format, vectors=vectors)

    return BoundTool(SEARCH, search_bookmarks)


async def _page(
    bookmarks: Bookmarks,
    call: ToolCall,
    query: ListQuery,
    applied: Json,
    response_format: str | None,
    *,
    vectors: VectorState | None = None,
) -> ToolResult:
    async def read(limit: int | None) -> BookmarkList:
        page = query if limit is None else msgspec.structs.replace(query, limit=limit)
        return await bookmarks.list(call.account, page, vectors)

    return ToolResult(await posts.page(read, applied, response_format or "concise"))


def _meant(text: str, mode: str) -> str | None:
    if mode == "keyword":
        return None
    # In hybrid mode, q has the fields and operators.
    return query_language.plain_text(text) or None if mode == "hybrid" else text


def _search(values: SearchArguments) -> tuple[ListQuery, Json]:
    """The query of a search, and the filters that its result repeats."""
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
        vector_search_term=_meant(text, mode),
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


def _details(found: list[bytes], not_found: list[str], max_chars: int) -> Json:
    whole: list[Json] = [
        response_size.truncate_all(msgspec.json.decode(json_depth.cut(body)), max_chars)
        for body in found
    ]
    # Each id occurs once: in not_found, in left_out, or with its post.
    ids_size = response_size.size([*not_found, *(post["post_id"] for post in whole)])
    fitted = response_size.fit(
        whole, response_size.MAX_BYTES - response_size.OVERHEAD_BYTES // 2 - ids_size
    )
    left_out = [post["post_id"] for post in whole[len(fitted.records) :]]
    content: Json = {
        "bookmarks": fitted.records,
        "not_found": not_found,
        "left_out": left_out,
        "truncated": not fitted.is_complete,
    }
    advice = [response_size.TRUNCATED] if fitted.is_truncated else []
    if left_out:
        advice.append("Call again with the ids in left_out, or with a smaller max_chars.")
    return {**content, "advice": " ".join(advice)} if advice else content
