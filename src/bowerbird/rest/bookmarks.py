"""GET /v1/bookmarks, /v1/bookmarks/count and /v1/bookmarks/{post_id}."""

from collections.abc import Collection
from typing import Any

from bowerbird.library import plans
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.parameters import FILTER_PARAMETERS, LIST_PARAMETERS
from bowerbird.wire import envelope, query
from bowerbird.wire.answers import AnswerCache
from bowerbird.wire.replies import Reply
from bowerbird.wire.surface import Call, Endpoint


def endpoints(bookmarks: Bookmarks, answers: AnswerCache) -> list[Endpoint]:
    async def list_bookmarks(call: Call) -> Reply:
        async def build() -> bytes:
            given = _given(call, LIST_PARAMETERS)
            page = await bookmarks.list(call.account, given)
            meta: dict[str, Any] = {
                "next_cursor": page.next_cursor,
                "limit": page.limit,
                "total_count": page.total_count,
                "count": page.count,
            }
            if page.hint is not None:
                meta["hint"] = page.hint
            return envelope.success_of_many(page.body, meta)

        return await answers.answer(call.account, call.asked, build)

    async def count_bookmarks(call: Call) -> Reply:
        async def build() -> bytes:
            given = _given(call, FILTER_PARAMETERS)
            return envelope.success(await bookmarks.count(call.account, given))

        return await answers.answer(call.account, call.asked, build)

    async def get_bookmark(call: Call) -> Reply:
        async def build() -> bytes:
            return envelope.success_of_one(
                await bookmarks.get(call.account, call.path_params["post_id"])
            )

        return await answers.answer(call.account, call.asked, build)

    return [
        Endpoint("GET", "/v1/bookmarks", list_bookmarks),
        # The plain call is how a client tries its key; that is not charged.
        Endpoint("GET", "/v1/bookmarks/count", count_bookmarks, counts=bool),
        Endpoint("GET", "/v1/bookmarks/{post_id}", get_bookmark),
    ]


def _given(call: Call, known: Collection[str]) -> dict[str, str]:
    # The plan speaks before the parameters' shape: who cannot filter need not mend a filter.
    plans.check_list(call.account, query.names(call.asked.query_string).intersection(known))
    return query.given(call.asked.query_string, known)
