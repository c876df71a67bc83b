"""The tools that list, search, show, count and mark saved posts."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library import plans
from bowerbird.library.bodies import Body
from bowerbird.library.bookmarks import BookmarkList, Bookmarks
from bowerbird.library.marking import Marking
from bowerbird.storage.database import Transaction
from bowerbird.toolserver import arguments, posts, room, schemas
from bowerbird.toolserver.declared import (
    READS,
    WRITES_AGAIN,
    Answer,
    Asked,
    Json,
    Offered,
    Tool,
)
from bowerbird.toolserver.writing import written
from bowerbird.wire.writes import Writes

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
        **schemas.flags(unread=True, unarchived=True),
        **schemas.FILTERS,
        "q": schemas.WORDS,
        **schemas.SORT,
        "limit": schemas.LIMIT,
        "cursor": schemas.CURSOR,
        "response_format": schemas.RESPONSE_FORMAT,
    },
    answer=schemas.PAGE,
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
        "query": schemas.text(
            'What to look for. With mode keyword every word must occur: "a phrase" in quotes, '
            "-word to exclude, wo* for a beginning."
        ),
        "mode": schemas.choice(
            "How to look for it.", "keyword", "semantic", "hybrid", default="keyword"
        ),
        **schemas.flags(unread=False, unarchived=False),
        **schemas.FILTERS,
        **schemas.SORT,
        "limit": schemas.LIMIT,
        "cursor": schemas.CURSOR,
        "response_format": schemas.RESPONSE_FORMAT,
    },
    required=("query",),
    answer=schemas.PAGE,
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
        "post_ids": schemas.ids("Ids of the posts, as the lists show them.", _MOST_SHOWN),
        "max_chars": schemas.number("Cut each text at this length.", 280, 20_000, _CHARS),
    },
    required=("post_ids",),
    answer=schemas.record(
        "Saved posts in full.",
        {
            "bookmarks": schemas.many(schemas.POST, "The posts, in the order asked for."),
            "not_found": schemas.many({"type": "string"}, "Ids not in the library."),
            "left_out": schemas.many({"type": "string"}, "Ids that did not fit in this answer."),
            "truncated": schemas.TRUNCATED,
            "advice": schemas.ADVICE,
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
        **schemas.flags(unread=True, unarchived=True),
        **schemas.FILTERS,
        "q": schemas.WORDS,
    },
    answer=schemas.record(
        "Counts of saved posts.",
        {
            "count": schemas.count("Posts that match."),
            "total": schemas.count("Posts in the library."),
            "unread": schemas.count("Posts not marked read."),
            "archived": schemas.count("Posts that are archived."),
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
        "post_ids": schemas.ids("Ids of the posts to mark.", _MOST_MARKED),
        "is_read": schemas.flag("true marks them read, false unread."),
        "is_archived": schemas.flag("true archives them, false brings them back."),
    },
    required=("post_ids",),
    answer=schemas.record(
        "What was marked.",
        {
            "affected": schemas.count("Posts that changed."),
            "posts": schemas.many(
                schemas.record(
                    "A post's state now.",
                    {
                        "post_id": schemas.said("Id of the post."),
                        "is_read": {"type": "boolean"},
                        "is_archived": {"type": "boolean"},
                    },
                ),
                "The state of each post now.",
            ),
            "not_found": schemas.many({"type": "string"}, "Ids not in the library."),
        },
    ),
    hints=WRITES_AGAIN,
)
TOOLS: Final = (LIST, SEARCH, GET, COUNT, UPDATE)


def offered(bookmarks: Bookmarks, marking: Marking, writes: Writes) -> list[Offered]:
    async def list_bookmarks(asked: Asked) -> Answer:
        await bookmarks.check(asked.account, arguments.named(LIST, asked.sent))
        values = arguments.read(LIST, asked.sent)
        given = arguments.given(values)
        applied = {"is_unread_only": True, "hide_archived": True, **_applied(given, values)}
        return await _page(bookmarks, asked, given, applied, values)

    async def search_bookmarks(asked: Asked) -> Answer:
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

    async def get_bookmarks(asked: Asked) -> Answer:
        values = arguments.read(GET, asked.sent)
        post_ids = list(dict.fromkeys(values["post_ids"]))
        found, not_found = await _found(bookmarks, asked, post_ids)
        if not found:
            raise errors.not_found("bookmark", ", ".join(post_ids[:3]))
        most: int = values.get("max_chars", _CHARS)
        return Answer(_in_full(found, not_found, most))

    async def count_bookmarks(asked: Asked) -> Answer:
        await bookmarks.check(asked.account, arguments.named(COUNT, asked.sent))
        values = arguments.read(COUNT, asked.sent)
        given = arguments.given(values)
        counts = await bookmarks.count(asked.account, given)
        filters = {"is_unread_only": True, "hide_archived": True, **_applied(given, values)}
        return Answer({**msgspec.to_builtins(counts), "filters": room.filters(filters)})

    async def update_bookmarks(asked: Asked) -> Answer:
        async def effect(transaction: Transaction, body: Body) -> Any:
            return await marking.update(transaction, asked.account, lambda: renamed(body()))

        return await written(writes, asked, UPDATE, effect)

    return [
        Offered(LIST, list_bookmarks),
        Offered(SEARCH, search_bookmarks),
        Offered(GET, get_bookmarks),
        # As over REST: the plain count is how a client tries its key.
        Offered(COUNT, count_bookmarks, counts=lambda sent: bool(arguments.named(COUNT, sent))),
        Offered(UPDATE, update_bookmarks),
    ]


def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Under the names that the library reads."""
    return {"tweet_ids" if n == "post_ids" else n: v for n, v in values.items()}


async def _page(
    bookmarks: Bookmarks,
    asked: Asked,
    given: dict[str, str],
    applied: Json,
    values: Mapping[str, Any],
) -> Answer:
    async def read(limit: int | None) -> BookmarkList:
        other = {} if limit is None else {"limit": str(limit)}
        return await bookmarks.list(asked.account, {**given, **other})

    response_format = values.get("response_format", "concise")
    return Answer(await posts.page(read, applied, response_format))


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
    bookmarks: Bookmarks, asked: Asked, post_ids: list[str]
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
    whole: list[Json] = [room.cut(msgspec.json.decode(body), most_chars) for body in found]
    # An id is named once: as not found, as left out, or with its post.
    named = room.size([*not_found, *(post["post_id"] for post in whole)])
    shown = room.fitting(whole, room.MOST_BYTES - room.AROUND // 2 - named)
    left_out = [post["post_id"] for post in whole[len(shown.records) :]]
    made: Json = {
        "bookmarks": shown.records,
        "not_found": not_found,
        "left_out": left_out,
        "truncated": not shown.is_whole,
    }
    advice = [room.SHORTENED] if shown.is_shortened else []
    if left_out:
        advice.append("Call again with the ids in left_out, or with a smaller max_chars.")
    return {**made, "advice": " ".join(advice)} if advice else made
