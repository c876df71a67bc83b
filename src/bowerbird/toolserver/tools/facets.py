"""The tool that counts posts by one of their properties."""

from typing import ClassVar, Final

import msgspec

from bowerbird.library.statistics.facets import FacetCounts, Facets
from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.facets import FacetBy, FacetsQuery
from bowerbird.requests.filters import WordFilters, sent
from bowerbird.toolserver.tools import arguments, json_schemas, response_size
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool, ToolCall, ToolResult


class FacetArguments(WordFilters, frozen=True, kw_only=True):
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}

    by: FacetBy
    limit: Limit = None


FACETS: Final = Tool(
    name="facet_bookmarks",
    title="Count saved posts by author, label, month, site or media",
    description=(
        "Counts the posts that match by author, label, month, linked site or type of media, "
        "largest count first and latest month first. Includes read and archived posts unless the "
        "filters leave them out. Use it instead of reading a list to find out who or what is "
        "saved most."
    ),
    takes=FacetArguments,
    returns=json_schemas.record(
        "The counts.",
        {
            "facets": {"type": "array"},
            "count": {"type": "integer"},
            "total_count": {"type": "integer"},
            "bookmarks": {"type": "integer"},
            "advice": {"type": "string"},
        },
        optional=("advice",),
    ),
    hints=READS,
)
TOOLS: Final = (FACETS,)


def bind(facets: FacetCounts) -> list[BoundTool]:
    async def facet_bookmarks(call: ToolCall) -> ToolResult:
        values = arguments.read(FACETS, call, FacetArguments)
        given = {**FacetArguments.DEFAULTS, **sent(values)}
        query = FacetsQuery(**given, by=values.by, limit=values.limit)
        return ToolResult(_shown(await facets.of(call.account, query)))

    return [BoundTool(FACETS, facet_bookmarks)]


def _shown(found: Facets) -> Json:
    whole: list[Json] = msgspec.to_builtins(found.facets)
    most = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES
    shown = response_size.fit(whole, most).records if whole else []
    content: Json = {
        "facets": shown,
        "count": len(shown),
        "total_count": found.values,
        "bookmarks": found.posts,
    }
    advice = _advice(found, len(shown))
    return {**content, "advice": advice} if advice else content


def _advice(found: Facets, shown: int) -> str:
    if not found.posts:
        return "No post matches. Call again with fewer filters."
    if not found.values:
        return f"{found.posts} posts match, but none of them has such a value."
    sentences = []
    if found.read is not None:
        sentences.append(f"Only the {found.read} posts saved last of {found.posts} were read.")
    if shown < found.values:
        sentences.append(f"{found.values - shown} more values; send a larger limit to see them.")
    return " ".join(sentences)
