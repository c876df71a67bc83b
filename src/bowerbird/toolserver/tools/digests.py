"""The tools that read digests: what was saved in a day or a week, and what is worth reading."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.library.digests.digests import LATEST, Digests, rendered
from bowerbird.library.digests.responses import DigestResponse, DigestSummary
from bowerbird.requests.digests import DigestsQuery
from bowerbird.requests.fields import about
from bowerbird.toolserver.tools import arguments, json_schemas, response_size
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool, ToolCall, ToolResult

_SUMMARY: Final[dict[str, Json]] = {
    "digest_id": json_schemas.said("Names the digest in get_digest."),
    "kind": json_schemas.said("daily or weekly."),
    "title": json_schemas.said("Its days in words."),
    "first_day": json_schemas.said("Of its period."),
    "last_day": json_schemas.said("Of its period."),
    "saved_count": json_schemas.count("Posts saved in the period."),
}
_POSTS: Final = json_schemas.many({"type": "object"}, "Posts in short.")
_PART: Final = json_schemas.record(
    "Posts.", {"count": json_schemas.count("In all."), "posts": _POSTS}
)

_SECTIONS: Final = ("saved", "unread", "a_year_ago")
# The longest text, and the most labels of a post: lists are never longer otherwise.
_STEPS: Final = ((280, 20), (280, 10), (140, 10), (100, 8))
_LEFT_OUT: Final = "Not all of the digest fits in one answer: texts were cut, or posts left out."
_ADVICE: Final = f"{_LEFT_OUT} get_bookmarks and list_bookmarks show them."


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
        "Lists the digests made for the user, the latest first: one a day or a week, as the user "
        "has set it. get_digest shows what is in one."
    ),
    takes=ListArguments,
    answer=json_schemas.record(
        "A page of digests.",
        {
            "digests": json_schemas.many(
                json_schemas.record("A digest.", _SUMMARY), "The latest first."
            ),
            "count": json_schemas.count("How many this page holds."),
            "total_count": json_schemas.count("How many there are."),
            "next_cursor": json_schemas.NEXT_CURSOR,
        },
    ),
    hints=READS,
)
GET: Final = Tool(
    name="get_digest",
    title="Read a digest",
    description=(
        "Shows a digest: what was saved in its period by label and author, unread posts worth "
        "reading, what was saved a year ago, and one forgotten post. The latest, unless digest_id "
        "names another."
    ),
    takes=GetArguments,
    answer=json_schemas.record(
        "A digest.",
        {
            **_SUMMARY,
            "introduction": json_schemas.said("A few sentences about it."),
            "saved": json_schemas.record(
                "What was saved.",
                {
                    "count": json_schemas.count("In all."),
                    "by_label": json_schemas.many({"type": "object"}, "Counts by label."),
                    "by_author": json_schemas.many({"type": "object"}, "Counts by author."),
                    "posts": _POSTS,
                },
            ),
            "unread": _PART,
            "a_year_ago": _PART,
            "forgotten": {"type": "object", "description": "A post saved long ago, in short."},
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("introduction", "forgotten", "advice"),
    ),
    hints=READS,
)
TOOLS: Final = (LIST, GET)


def offered(digests: Digests) -> list[BoundTool]:
    async def list_digests(call: ToolCall) -> ToolResult:
        values = arguments.read(LIST, call, ListArguments)
        page = await digests.list(call.account, values)
        return ToolResult(
            {
                "digests": [_summary(one) for one in page.digests],
                "count": len(page.digests),
                "total_count": page.total_count,
                "next_cursor": page.next_cursor,
            }
        )

    async def get_digest(call: ToolCall) -> ToolResult:
        values = arguments.read(GET, call, GetArguments)
        found = await digests.get(call.account, values.digest_id or LATEST, "json")
        return ToolResult(_shown(found))

    return [BoundTool(LIST, list_digests), BoundTool(GET, get_digest)]


def _summary(digest: DigestSummary) -> Json:
    whole: Json = msgspec.to_builtins(digest)
    return {name: whole[name] for name in _SUMMARY}


def markdown(digest: DigestResponse) -> str:
    """To read, and no longer than an answer may be."""
    text, most = str(rendered(digest, "markdown").markdown), response_size.MOST_BYTES
    while len(text.encode()) > response_size.MOST_BYTES:
        # The marks of Markdown come on top of what the record holds.
        most = most * 3 // 4
        cut = msgspec.convert(_fitted(msgspec.to_builtins(digest), most), DigestResponse)
        text = f"{rendered(cut, 'markdown').markdown}\n{_LEFT_OUT}\n"
    return text


def _shown(digest: DigestResponse) -> Json:
    whole: Json = msgspec.to_builtins(digest)
    known = {n: whole[n] for n in GET.answer["properties"] if whole.get(n) is not None}
    made = _fitted(known, response_size.MOST_BYTES - response_size.AROUND)
    if made is known:
        return {**made, "truncated": False}
    kept = {name: value for name, value in made.items() if value is not None}
    return {**kept, "truncated": True, "advice": _ADVICE}


def _fitted(digest: Json, most_bytes: int) -> Json:
    """The digest itself where it fits; else shorter, with every part that it has."""
    made = digest
    for chars, labels in _STEPS:
        if response_size.size(made) <= most_bytes:
            return made
        made = response_size.cut(digest, chars, labels)
    while response_size.size(made) > most_bytes:
        longest = max((made[name]["posts"] for name in _SECTIONS), key=len)
        if not longest:
            return {**made, "forgotten": None}
        longest.pop()
    return made
