"""The tools that list and read digests."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.library.digests.digests import LATEST, Digests, rendered
from bowerbird.library.digests.responses import DigestResponse, DigestSummary
from bowerbird.requests.digests import DigestsQuery
from bowerbird.requests.fields import about
from bowerbird.toolserver.tools import digest_preferences
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.results import json_schemas, response_size
from bowerbird.toolserver.tools.results.quoted_text import CONTENT_IS, shown_text
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool, ToolCall, ToolResult

_SUMMARY: Final[dict[str, Json]] = {
    "digest_id": json_schemas.text("Identifies the digest in get_digest."),
    "kind": json_schemas.text("daily or weekly."),
    "title": json_schemas.text("The period in words."),
    "first_day": json_schemas.text("First day of the period."),
    "last_day": json_schemas.text("Last day of the period."),
    "saved_count": json_schemas.count("Posts saved in the period."),
}
_POSTS: Final = json_schemas.array({"type": "object"}, "Short form of the posts.")
_PART: Final = json_schemas.record(
    "Posts.", {"count": json_schemas.count("Number of posts."), "posts": _POSTS}
)

_SECTIONS: Final = ("saved", "unread", "a_year_ago")
# Tried in this order: the maximum length of a text, and the maximum number of labels per post.
_STEPS: Final = ((280, 20), (280, 10), (140, 10), (100, 8))
_QUOTED: Final = f"Content: {CONTENT_IS['content_is']}.\n\n"
_NONE_YET: Final = (
    "There is no digest yet. The user's preferences decide when the next one is written."
)
_LEFT_OUT: Final = "The digest does not fit in one result: texts were truncated, or posts left out."
_ADVICE: Final = f"{_LEFT_OUT} get_bookmarks and list_bookmarks return them."


class ListArguments(DigestsQuery, frozen=True, forbid_unknown_fields=True):
    pass


class GetArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    digest_id: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        about("digest_id from list_digests, or latest."),
    ] = None


LIST: Final = Tool(
    name="list_digests",
    title="List digests",
    description=(
        "Lists the user's digests, newest first. There is one per day or per week, depending on "
        "the user's preferences, which it returns too. get_digest returns the content of a digest."
    ),
    takes=ListArguments,
    returns=json_schemas.record(
        "A page of digests.",
        {
            "digests": json_schemas.array(
                json_schemas.record("A digest.", _SUMMARY), "Newest first."
            ),
            "count": json_schemas.count("Digests on this page."),
            "total_count": json_schemas.count("Digests in total."),
            "next_cursor": json_schemas.NEXT_CURSOR,
            "preferences": {"type": "object"},
            "advice": json_schemas.ADVICE,
        },
        optional=("advice",),
    ),
    describes_result=True,
    hints=READS,
)
GET: Final = Tool(
    name="get_digest",
    title="Read a digest",
    description=(
        "Returns a digest: posts saved in its period by label and author, unread posts worth "
        "reading, posts saved a year ago, and one forgotten post. Without digest_id it returns "
        "the newest digest."
    ),
    takes=GetArguments,
    returns=json_schemas.record(
        "A digest.",
        {
            "content_is": {"type": "string"},
            **_SUMMARY,
            "introduction": json_schemas.text("A summary in a few sentences."),
            "saved": json_schemas.record(
                "Posts saved in the period.",
                {
                    "count": json_schemas.count("Number of posts."),
                    "by_label": json_schemas.array({"type": "object"}, "Counts by label."),
                    "by_author": json_schemas.array({"type": "object"}, "Counts by author."),
                    "posts": _POSTS,
                },
            ),
            "unread": _PART,
            "a_year_ago": _PART,
            "forgotten": {"type": "object", "description": "A post saved long ago."},
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("introduction", "forgotten", "advice"),
    ),
    describes_result=True,
    hints=READS,
)
TOOLS: Final = (LIST, GET)


def bind(digests: Digests) -> list[BoundTool]:
    async def list_digests(call: ToolCall) -> ToolResult:
        values = reading.read(LIST, call, ListArguments)
        page = await digests.list(call.account, values)
        content: Json = {
            "digests": [_summary(one) for one in page.digests],
            "count": len(page.digests),
            "total_count": page.total_count,
            "next_cursor": page.next_cursor,
            "preferences": digest_preferences.shown(await digests.preferences(call.account)),
        }
        return ToolResult(content if page.total_count else {**content, "advice": _NONE_YET})

    async def get_digest(call: ToolCall) -> ToolResult:
        values = reading.read(GET, call, GetArguments)
        found = await digests.get(call.account, values.digest_id or LATEST, "json")
        return ToolResult(_content(found))

    return [BoundTool(LIST, list_digests), BoundTool(GET, get_digest)]


def _summary(digest: DigestSummary) -> Json:
    whole: Json = msgspec.to_builtins(digest)
    return {name: whole[name] for name in _SUMMARY}


def markdown(digest: DigestResponse) -> str:
    """The digest as Markdown, within the maximum size of a result."""
    max_bytes = response_size.MAX_BYTES
    text = f"{_QUOTED}{rendered(digest, 'markdown').markdown}"
    while len(text.encode()) > response_size.MAX_BYTES:
        # Markdown syntax adds to the size of the record.
        max_bytes = max_bytes * 3 // 4
        short = msgspec.convert(_shrink(msgspec.to_builtins(digest), max_bytes), DigestResponse)
        text = f"{_QUOTED}{rendered(short, 'markdown').markdown}\n{_LEFT_OUT}\n"
    return shown_text(text)


def _content(digest: DigestResponse) -> Json:
    fields: Json = msgspec.to_builtins(digest)
    whole = {n: fields[n] for n in GET.returns["properties"] if fields.get(n) is not None}
    short = _shrink(whole, response_size.MAX_BYTES - response_size.OVERHEAD_BYTES)
    if short is whole:
        return {**CONTENT_IS, **whole, "truncated": False}
    kept = {name: value for name, value in short.items() if value is not None}
    return {**CONTENT_IS, **kept, "truncated": True, "advice": _ADVICE}


def _shrink(digest: Json, max_bytes: int) -> Json:
    """The digest itself if it fits, otherwise a shorter one with the same sections."""
    short = digest
    for chars, labels in _STEPS:
        if response_size.size(short) <= max_bytes:
            return short
        short = response_size.truncate_all(digest, chars, labels)
    while response_size.size(short) > max_bytes:
        longest = max((short[name]["posts"] for name in _SECTIONS), key=len)
        if not longest:
            return {**short, "forgotten": None}
        longest.pop()
    return short
