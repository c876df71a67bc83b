"""The tools that list, search, show, count and mark saved posts."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.access.bodies import Body
from bowerbird.library.bookmarks.bookmarks import BookmarkList, Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, posts, response_size
from bowerbird.toolserver.tools.tool import (
    READS,
    WRITES_AGAIN,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.toolserver.tools.writes import written
from bowerbird.wire.idempotency import IdempotentWrites

_MOST_SHOWN: Final = 20
_MOST_MARKED: Final = 100
_CHARS: Final = 4_000
_PAGING: Final = ("cursor", "limit")

LIST: Final = Tool(
    name="list_bookmarks",
    title="List saved posts",
    description=(
        "Lists the user's saved posts, newest first. Shows only unread posts that are not archived "
        "unless is_unread_only and hide_archived are sent as false. To find posts about something, "
        "search_bookmarks is better. Answers a page; pass next_cursor back as cursor, with the "
        "same filters, for the next one."
    ),
    arguments={
        **json_schemas.flags(unread=True, unarchived=True),
        **json_schemas.FILTERS,
        "q": json_schemas.WORDS,
        **json_schemas.SORT,
        "limit": json_schemas.LIMIT,
        "cursor": json_schemas.CURSOR,
        "response_format": json_schemas.RESPONSE_FORMAT,
    },
    answer=json_schemas.PAGE,
    hints=READS,
)
SEARCH: Final = Tool(
    name="search_bookmarks",
    title="Search saved posts",
    description=(
        "Finds saved posts, best matches first, read and archived ones included. mode keyword "
        "finds the words themselves and always works; semantic finds posts that mean something "
        "similar; hybrid joins both and is the best choice for a question in plain language, where "
        "the account's plan and vector store allow it."
    ),
    arguments={
        "query": json_schemas.text(
            'What to look for. With mode keyword every word must occur: "a phrase" in quotes, '
            "-word to exclude, wo* for a beginning."
        ),
        "mode": json_schemas.choice(
            "How to look for it.", "keyword", "semantic", "hybrid", default="keyword"
        ),
        **json_schemas.flags(unread=False, unarchived=False),
        **json_schemas.FILTERS,
        **json_schemas.SORT,
        "limit": json_schemas.LIMIT,
        "cursor": json_schemas.CURSOR,
        "response_format": json_schemas.RESPONSE_FORMAT,
    },
    required=("query",),
    answer=json_schemas.PAGE,
    hints=READS,
)
GET: Final = Tool(
    name="get_bookmarks",
    title="Show saved posts in full",
    description=(
        "Shows all that is known of up to 20 saved posts: whole text, attachments, article, quoted "
        "post, engagement. Use it for posts whose text was cut in a list. Ids that are not in the "
        "library are named in not_found."
    ),
    arguments={
        "post_ids": json_schemas.ids("Ids of the posts, as the lists show them.", _MOST_SHOWN),
        "max_chars": json_schemas.number("Cut each text at this length.", 280, 20_000, _CHARS),
    },
    required=("post_ids",),
    answer=json_schemas.record(
        "Saved posts in full.",
        {
            "bookmarks": json_schemas.many(json_schemas.POST, "The posts, in the order asked for."),
            "not_found": json_schemas.many({"type": "string"}, "Ids not in the library."),
            "left_out": json_schemas.many(
                {"type": "string"}, "Ids that did not fit in this answer."
            ),
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
        "Counts the posts that match, and tells how many the library holds in all. The same "
        "filters and defaults as list_bookmarks; without arguments it counts what is new."
    ),
    arguments={
        **json_schemas.flags(unread=True, unarchived=True),
        **json_schemas.FILTERS,
        "q": json_schemas.WORDS,
    },
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
        "is_archived, or both; what is not sent stays. Nothing is deleted, and the opposite value "
        "undoes it."
    ),
    arguments={
        "post_ids": json_schemas.ids("Ids of the posts to mark.", _MOST_MARKED),
        "is_read": json_schemas.flag("true marks them read, false unread."),
        "is_archived": json_schemas.flag("true archives them, false brings them back."),
    },
    required=("post_ids",),
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


def offered(bookmarks: Bookmarks, marking: Flags, writes: IdempotentWrites) -> list[BoundTool]:
    async def list_bookmarks(asked: ToolCall) -> ToolResult:
        await bookmarks.check(asked.account, arguments.named(LIST, asked.sent))
        values = arguments.read(LIST, asked.sent)
        given = arguments.given(values)
        applied = {"is_unread_only": True, "hide_archived": True, **_applied(given, values)}
        return await _page(bookmarks, asked, given, applied, values)

    async def search_bookmarks(asked: ToolCall) -> ToolResult:
        mode = asked.sent.get("mode")
        meant = {plans.MEANING} if mode in ("semantic", "hybrid") else set()
        await bookmarks.check(asked.account, {*arguments.named(SEARCH, asked.sent), *meant})
        values = arguments.read(SEARCH, asked.sent)
        given = _searched(values)
        applied = {
            "query": values["query"],
            "mode": values.get("mode", "keyword"),
            **_applied(given, values),
        }
        return await _page(bookmarks, asked, given, applied, values)

    async def get_bookmarks(asked: ToolCall) -> ToolResult:
        values = arguments.read(GET, asked.sent)
        post_ids = list(dict.fromkeys(values["post_ids"]))
        found, not_found = await _found(bookmarks, asked, post_ids)
        if not found:
            raise errors.not_found("bookmark", ", ".join(post_ids[:3]))
        most: int = values.get("max_chars", _CHARS)
        return ToolResult(_in_full(found, not_found, most))

    async def count_bookmarks(asked: ToolCall) -> ToolResult:
        await bookmarks.check(asked.account, arguments.named(COUNT, asked.sent))
        values = arguments.read(COUNT, asked.sent)
        given = arguments.given(values)
        counts = await bookmarks.count(asked.account, given)
        filters = {"is_unread_only": True, "hide_archived": True, **_applied(given, values)}
        return ToolResult(
            {**msgspec.to_builtins(counts), "filters": response_size.filters(filters)}
        )

    async def update_bookmarks(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Any:
            return await marking.update(transaction, asked.account, lambda: renamed(body()))

        return await written(writes, asked, UPDATE, effect)

    return [
        BoundTool(LIST, list_bookmarks),
        BoundTool(SEARCH, search_bookmarks),
        BoundTool(GET, get_bookmarks),
        # As over REST: the plain count is how a client tries its key.
        BoundTool(COUNT, count_bookmarks, counts=lambda sent: bool(arguments.named(COUNT, sent))),
        BoundTool(UPDATE, update_bookmarks),
    ]


def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Under the names that the library reads."""
    return {"tweet_ids" if n == "post_ids" else n: v for n, v in values.items()}


async def _page(
    bookmarks: Bookmarks,
    asked: ToolCall,
    given: dict[str, str],
    applied: Json,
    values: Mapping[str, Any],
) -> ToolResult:
    async def read(limit: int | None) -> BookmarkList:
        other = {} if limit is None else {"limit": str(limit)}
        return await bookmarks.list(asked.account, {**given, **other})

    response_format = values.get("response_format", "concise")
    return ToolResult(await posts.page(read, applied, response_format))


def _searched(values: Mapping[str, Any]) -> dict[str, str]:
    query, mode = values["query"].strip(), values.get("mode", "keyword")
    if not query:
        raise errors.invalid("query", "is empty")
    given = {"is_unread_only": "false", "hide_archived": "false", **arguments.given(values)}
    if mode != "semantic":
        given["q"] = query
    if mode != "keyword":
        given[plans.MEANING] = query
    else:
        given.setdefault("sort_by", "relevance")
    return given


def _applied(given: Mapping[str, str], values: Mapping[str, Any]) -> Json:
    """What narrows and orders the list, as it was sent or as it is by default."""
    texts = {"false": False, "true": True}
    named = {n: v for n, v in given.items() if n not in (*_PAGING, plans.MEANING)}
    shown = {name: values.get(name, texts.get(text, text)) for name, text in named.items()}
    return {name: value for name, value in shown.items() if name != "q" or "query" not in values}


async def _found(
    bookmarks: Bookmarks, asked: ToolCall, post_ids: list[str]
) -> tuple[list[bytes], list[str]]:
    found: list[bytes] = []
    missing: list[str] = []
    for post_id in post_ids:
        try:
            found.append(await bookmarks.get(asked.account, post_id))
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
