"""The tools that read, create, change and delete Smart Views."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import BookmarkList
from bowerbird.library.views.views import ViewResponse, Views
from bowerbird.requests.bookmarks import Cursor, Limit
from bowerbird.requests.fields import about
from bowerbird.requests.views import NewView, ViewBookmarksQuery, ViewChange
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, posts, response_size, writes
from bowerbird.toolserver.tools.bookmarks import ResponseFormat
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES,
    BoundTool,
    Json,
    NoArguments,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.idempotency import Idempotency

Slug = Annotated[str, Meta(max_length=100, description="Slug of the view, as list_views shows it.")]


class ViewBookmarksArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: Slug
    bucket: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        about("Slug of one of the view's triage buckets, which narrows it."),
    ] = None
    limit: Limit = None
    cursor: Cursor = None
    response_format: ResponseFormat = None


class CreateViewArguments(NewView, frozen=True, kw_only=True):
    idempotency_key: writes.IdempotencyKey = None


class UpdateViewArguments(ViewChange, frozen=True, kw_only=True):
    slug: Slug
    idempotency_key: writes.IdempotencyKey = None


class DeleteViewArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: Slug


_VIEW: Final = json_schemas.record(
    "A Smart View: a saved query.",
    {
        "slug": json_schemas.said("Names the view in other tools."),
        "name": json_schemas.said("Name of the view."),
        "description": json_schemas.said("What it is for."),
        "base_query": {"type": "object", "description": "The filters its posts match."},
        "triage_buckets": json_schemas.many(
            {"type": "object"}, "Its parts, each with slug, name and query."
        ),
        "count": json_schemas.count("Posts it shows now."),
        **json_schemas.CUT,
    },
    optional=("truncated", "advice"),
)

LIST: Final = Tool(
    name="list_views",
    title="List Smart Views",
    description=(
        "Lists the user's Smart Views, which are saved queries. Each has the number of posts that "
        "it shows now."
    ),
    answer=json_schemas.record(
        "The account's Smart Views.",
        {
            "views": json_schemas.many(_VIEW, "The views, oldest first."),
            "total_count": json_schemas.count("How many views there are."),
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("advice",),
    ),
    hints=READS,
)
BOOKMARKS: Final = Tool(
    name="get_view_bookmarks",
    title="List the posts of a Smart View",
    description=(
        "Lists the saved posts that a Smart View shows, page by page, or those of one of its "
        "triage buckets. list_views returns the slugs."
    ),
    takes=ViewBookmarksArguments,
    answer=json_schemas.PAGE,
    hints=READS,
)
CREATE: Final = Tool(
    name="create_view",
    title="Create a Smart View",
    description=(
        "Creates a Smart View from filters, so that the user can run the same query again. Its "
        "slug is derived from the name. base_query takes the filters of list_bookmarks; dates may "
        "be relative, such as -7d. Needs a paid plan."
    ),
    takes=CreateViewArguments,
    answer=_VIEW,
    hints=WRITES,
)
UPDATE: Final = Tool(
    name="update_view",
    title="Change a Smart View",
    description=(
        "Changes the fields of a Smart View that are sent; each replaces the old value completely. "
        "The slug never changes. Needs a paid plan."
    ),
    takes=UpdateViewArguments,
    answer=_VIEW,
    hints=DESTROYS,
)
DELETE: Final = Tool(
    name="delete_view",
    title="Delete a Smart View",
    description=(
        "Deletes a Smart View permanently and returns it as it was. The posts it showed stay in "
        "the library. Needs a paid plan."
    ),
    takes=DeleteViewArguments,
    answer=_VIEW,
    hints=DESTROYS,
)
TOOLS: Final = (LIST, BOOKMARKS, CREATE, UPDATE, DELETE)


def offered(views: Views, idempotency: Idempotency) -> list[BoundTool]:
    return [*_reading(views), *_changing(views, idempotency)]


def _reading(views: Views) -> list[BoundTool]:
    async def list_views(call: ToolCall) -> ToolResult:
        arguments.read(LIST, call, NoArguments)
        found = await views.all(call.account)
        return ToolResult(
            _listed([_shown(await views.response(call.account, view)) for view in found])
        )

    async def get_view_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(BOOKMARKS, call, ViewBookmarksArguments)
        view = await views.find(call.account, values.slug)
        query = ViewBookmarksQuery(values.limit, values.cursor, values.bucket)

        async def read(limit: int | None) -> BookmarkList:
            page = query if limit is None else msgspec.structs.replace(query, limit=limit)
            return await views.bookmarks(call.account, view, page)

        applied: Json = {"view": view.slug, "base_query": view.base_query}
        if values.bucket:
            applied["bucket"] = values.bucket
        return ToolResult(await posts.page(read, applied, values.response_format or "concise"))

    return [BoundTool(LIST, list_views), BoundTool(BOOKMARKS, get_view_bookmarks)]


def _changing(views: Views, idempotency: Idempotency) -> list[BoundTool]:
    gate = plans.check_writes

    async def create_view(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: CreateViewArguments) -> Json:
            return _shown(await views.create(transaction, call.account, values))

        return await writes.run(idempotency, call, CREATE, CreateViewArguments, effect, gate=gate)

    async def update_view(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: UpdateViewArguments) -> Json:
            return _shown(await views.update(transaction, call.account, values.slug, values))

        return await writes.run(idempotency, call, UPDATE, UpdateViewArguments, effect, gate=gate)

    async def delete_view(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: DeleteViewArguments) -> Json:
            return _shown(await views.delete(transaction, call.account, values.slug))

        return await writes.run(idempotency, call, DELETE, DeleteViewArguments, effect, gate=gate)

    return [
        BoundTool(CREATE, create_view),
        BoundTool(UPDATE, update_view),
        BoundTool(DELETE, delete_view),
    ]


def _shown(view: ViewResponse) -> Json:
    """A view that fits; one that had to be cut says so."""
    whole = short(view)
    made = response_size.shortened(whole, response_size.MOST_BYTES - response_size.AROUND)
    return made if made is whole else {**made, "truncated": True, "advice": response_size.SHORTENED}


def short(view: ViewResponse) -> Json:
    made: Json = msgspec.to_builtins(view)
    return {name: made[name] for name in _VIEW["properties"] if name in made}


def _listed(held: list[Json]) -> Json:
    shown = response_size.fitting(held, response_size.MOST_BYTES - response_size.AROUND)
    made: Json = {
        "views": shown.records,
        "total_count": len(held),
        "truncated": not shown.is_whole or any(view.get("truncated") for view in shown.records),
    }
    if not shown.is_all:
        made["advice"] = (
            f"Only the first {len(shown.records)} of {len(held)} views fit; the others can be read "
            "by their slugs all the same."
        )
    elif made["truncated"]:
        made["advice"] = response_size.SHORTENED
    return made
