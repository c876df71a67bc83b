"""The tool that counts posts by one of their properties."""

from typing import ClassVar, Final

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.library.statistics.facets import Facets
from bowerbird.model.accounts import Account
from bowerbird.requests.bookmarks import FacetBy, FacetsQuery, Limit
from bowerbird.requests.filters import WordFilters, sent
from bowerbird.toolserver.tools.arguments import reading, vocabulary
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.left_out import EmptyLists
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS, shown_name
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool


class FacetArguments(WordFilters, frozen=True, kw_only=True):
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}
    UNLISTED: ClassVar = (
        *("is_unread_only", "hide_archived", "unlabelled", "bookmarked_from", "bookmarked_to"),
    )

    by: FacetBy
    limit: Limit = None


class Counts(Struct, kw_only=True, omit_defaults=True):
    content_is: str = ""
    facets: list[Json]
    count: int
    total_count: int
    bookmarks: int
    filters: Json
    advice: str = ""


FACETS: Final = Tool(
    name="facet_bookmarks",
    title="Count saved posts by a property",
    description=(
        "Counts the posts that match by author, label, month and the like, largest count or latest "
        "month first, read and archived posts too. Shows who or what is saved most without reading "
        "a list."
    ),
    takes=FacetArguments,
    returns=Counts,
    hints=READS,
)
TOOLS: Final = (FACETS,)


def bind(services: Services) -> list[BoundTool]:
    async def facet_bookmarks(account: Account, values: FacetArguments) -> Counts:
        given = {**FacetArguments.DEFAULTS, **sent(values)}
        query = FacetsQuery(**given, by=values.by, limit=values.limit)
        found = await services.facets.of(account, query)
        advice = _advice(found, values.limit)
        if not found.posts:
            advice = await EmptyLists(services.bookmarks).of_filters(account, given)
        filters = response_size.short_filters(vocabulary.in_published_words(given))
        return _shown(found, values.by, filters, advice)

    return [reading.bound(FACETS, facet_bookmarks)]


def _shown(found: Facets, by: str, filters: Json, advice: str) -> Counts:
    whole: list[Json] = msgspec.to_builtins(found.facets)
    if by == "label":
        whole = [{**one, "value": shown_name(one["value"])} for one in whole]
    shown = response_size.fit(whole, response_size.RECORDS_BYTES).records if whole else []
    return Counts(
        content_is=QUOTED_POSTS if shown else "",
        facets=shown,
        count=len(shown),
        total_count=found.values,
        bookmarks=found.posts,
        filters=filters,
        advice=advice,
    )


def _advice(found: Facets, limit: int | None) -> str:
    if not found.values:
        return f"{found.posts} posts match, but none of them has such a value."
    sentences = []
    if found.read is not None:
        sentences.append(f"Only the {found.read} posts saved last of {found.posts} were read.")
    # Who sends a limit wants no more values; total_count has their number.
    if limit is None and len(found.facets) < found.values:
        more = found.values - len(found.facets)
        sentences.append(f"{more} more values; send a larger limit to see them.")
    return " ".join(sentences)
