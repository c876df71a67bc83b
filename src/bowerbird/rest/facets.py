"""/v1/bookmarks/facets: how many bookmarks match, by one of their properties."""

from typing import Final

from msgspec import UNSET

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.statistics.facets import Facet, FacetCounts
from bowerbird.requests.bookmarks import FacetsQuery
from bowerbird.rest.bookmarks import admit, moving, vectors_for
from bowerbird.wire import query_strings
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import FacetMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation

FACETS: Final = Operation(
    route="GET /v1/bookmarks/facets",
    name="countBookmarksBy",
    summary="Count the bookmarks that match by author, label, month, linked site or media.",
    data=Facet,
    is_many=True,
    meta=FacetMeta,
    query=FacetsQuery,
)
OPERATIONS: Final = (FACETS,)


def routes(facets: FacetCounts, bookmarks: Bookmarks, answers: AnswerCache) -> list[ApiRoute]:
    async def count_by(call: Call) -> Reply:
        vectors = await vectors_for(call, bookmarks)

        async def build() -> bytes:
            await admit(call, FacetsQuery, bookmarks, vectors)
            query = query_strings.read(call.target.query_string, FacetsQuery)
            found = await facets.of(call.account, query, vectors)
            meta = FacetMeta(
                by=query.by,
                count=len(found.facets),
                total_count=found.values,
                bookmarks=found.posts,
                bookmarks_read=UNSET if found.read is None else found.read,
            )
            return envelope.success(found.facets, meta)

        return await answers.answer(call.account, moving(call, vectors, bookmarks), build)

    return [FACETS.served_by(count_by)]
