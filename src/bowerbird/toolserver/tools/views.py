"""The tools that read, make, change and delete Smart Views."""

from typing import Any, Final

import msgspec

from bowerbird.library.access import plans
from bowerbird.library.access.bodies import Body
from bowerbird.library.bookmarks.bookmarks import BookmarkList
from bowerbird.library.views.views import ViewResponse, Views
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, posts, response_size
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.toolserver.tools.writes import written
from bowerbird.wire.idempotency import IdempotentWrites

_PAGING: Final = ("limit", "cursor", "bucket")
_MOST_BUCKETS: Final = 20
_SLUG: Final = json_schemas.text("Slug of the view, as list_views shows it.", 100)
_QUERY: Final[Json] = {
    "type": "object",
    "description": (
        "Filters that a post must match, as list_bookmarks takes them. Dates may also be relative, "
        "such as -7d. Read posts are shown unless is_unread_only is true; archived ones are hidden "
        "unless hide_archived is false."
    ),
    # Described once, where list_bookmarks takes them.
    "properties": {
        "is_unread_only": {"type": "boolean"},
        "hide_archived": {"type": "boolean"},
        "media_type": {"type": "string", "enum": json_schemas.FILTERS["media_type"]["enum"]},
        **{name: {"type": "string"} for name in json_schemas.FILTERS if name != "media_type"},
        "q": {"type": "string"},
    },
}
_PART: Final[Json] = {"type": "object", "description": "Filters as in base_query, beyond them."}
_FIELDS: Final[dict[str, Json]] = {
    "name": json_schemas.text("Name of the view.", 100),
    "base_query": _QUERY,
    "description": json_schemas.text("What the view is for.", 1_000),
    "default_sort": {
        "type": "object",
        "description": "Order of the view's posts.",
        "properties": json_schemas.SORT,
        "required": ["sort_by"],
    },
    "triage_buckets": {
        "type": "array",
        "maxItems": _MOST_BUCKETS,
        "description": "Named parts of the view, each narrowed by a query of its own.",
        "items": {
            "type": "object",
            "properties": {
                "name": json_schemas.text("Name of the part.", 100),
                "slug": json_schemas.text(
                    "Short name for addresses; made from the name if absent.", 60
                ),
                "query": _PART,
            },
            "required": ["name"],
        },
    },
}
_VIEW: Final = json_schemas.record(
    "A Smart View: a list that remembers its question.",
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
        "Lists the user's Smart Views: saved questions whose answer changes with the library. Each "
        "comes with the number of posts it shows now."
    ),
    arguments={},
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
        "triage buckets. list_views tells the slugs."
    ),
    arguments={
        "slug": _SLUG,
        "bucket": json_schemas.text(
            "Slug of one of the view's triage buckets, which narrows it.", 100
        ),
        "limit": json_schemas.LIMIT,
        "cursor": json_schemas.CURSOR,
        "response_format": json_schemas.RESPONSE_FORMAT,
    },
    required=("slug",),
    answer=json_schemas.PAGE,
    hints=READS,
)
CREATE: Final = Tool(
    name="create_view",
    title="Make a Smart View",
    description=(
        "Makes a Smart View from filters, so that the user can come back to the same question. Its "
        "slug is made from the name. Needs a paid plan."
    ),
    arguments={**_FIELDS, "idempotency_key": json_schemas.IDEMPOTENCY_KEY},
    required=("name",),
    answer=_VIEW,
    hints=WRITES,
)
UPDATE: Final = Tool(
    name="update_view",
    title="Change a Smart View",
    description=(
        "Changes the fields of a Smart View that are sent; a field that is sent replaces the old "
        "one whole. The slug stays, also under a new name. Needs a paid plan."
    ),
    arguments={"slug": _SLUG, **_FIELDS, "idempotency_key": json_schemas.IDEMPOTENCY_KEY},
    required=("slug",),
    answer=_VIEW,
    hints=DESTROYS,
)
DELETE: Final = Tool(
    name="delete_view",
    title="Delete a Smart View",
    description=(
        "Deletes a Smart View for good and answers with what it was. The posts it showed stay in "
        "the library. Needs a paid plan."
    ),
    arguments={"slug": _SLUG},
    required=("slug",),
    answer=_VIEW,
    hints=DESTROYS,
)
TOOLS: Final = (LIST, BOOKMARKS, CREATE, UPDATE, DELETE)


def offered(views: Views, writes: IdempotentWrites) -> list[BoundTool]:
    return [*_reading(views), *_changing(views, writes)]


def _reading(views: Views) -> list[BoundTool]:
    async def list_views(asked: ToolCall) -> ToolResult:
        arguments.read(LIST, asked.sent)
        held = await views.held(asked.account)
        return ToolResult(
            _listed([_shown(await views.shown(asked.account, view)) for view in held])
        )

    async def get_view_bookmarks(asked: ToolCall) -> ToolResult:
        sent = {name for name in _PAGING if asked.sent.get(name) not in (None, "")}
        plans.check_list(asked.account, sent)
        values = arguments.read(BOOKMARKS, asked.sent)
        view = await views.find(asked.account, values["slug"])
        given = {name: str(values[name]) for name in sent}

        async def read(limit: int | None) -> BookmarkList:
            other = {} if limit is None else {"limit": str(limit)}
            return await views.bookmarks(asked.account, view, {**given, **other})

        applied: Json = {"view": view.slug, "base_query": view.base_query}
        if "bucket" in given:
            applied["bucket"] = given["bucket"]
        return ToolResult(await posts.page(read, applied, values.get("response_format", "concise")))

    return [BoundTool(LIST, list_views), BoundTool(BOOKMARKS, get_view_bookmarks)]


def _changing(views: Views, writes: IdempotentWrites) -> list[BoundTool]:
    async def create_view(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            return _shown(await views.create(transaction, asked.account, lambda: _fields(body())))

        return await written(writes, asked, CREATE, effect)

    async def update_view(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            slug = _slug(asked)
            return _shown(
                await views.update(transaction, asked.account, slug, lambda: _fields(body()))
            )

        return await written(writes, asked, UPDATE, effect)

    async def delete_view(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            plans.check_writes(asked.account)
            return _shown(await views.delete(transaction, asked.account, body()["slug"]))

        return await written(writes, asked, DELETE, effect)

    return [
        BoundTool(CREATE, create_view),
        BoundTool(UPDATE, update_view),
        BoundTool(DELETE, delete_view),
    ]


def _slug(asked: ToolCall) -> str:
    """The slug before the plan has spoken; whatever it is, the arguments are read after that."""
    slug = asked.sent.get("slug")
    return slug if isinstance(slug, str) else ""


def _fields(values: dict[str, Any]) -> dict[str, Any]:
    """The body of a view: what is neither its address nor a key."""
    return {n: v for n, v in values.items() if n not in ("slug", "idempotency_key")}


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
