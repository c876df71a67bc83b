"""/v1/bookmarks/{post_id}/similar: what is near to a bookmark by meaning."""

from typing import Final

import msgspec

from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.wire import envelope, query_strings
from bowerbird.wire.answer_cache import AnswerCache
from bowerbird.wire.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call

PARAMETERS: Final = ("limit", "is_unread_only", "hide_archived")


def endpoints(bookmarks: Bookmarks, answers: AnswerCache) -> list[ApiRoute]:
    async def similar_bookmarks(call: Call) -> Reply:
        plans.check_similar(call.account)

        async def build() -> bytes:
            given = query_strings.given(call.asked.query_string, PARAMETERS)
            post_id = call.path_params["post_id"]
            return envelope.page(await bookmarks.similar(call.account, post_id, given))

        vectors = await bookmarks.vectors(call.account)
        asked = msgspec.structs.replace(call.asked, vectors=vectors)
        return await answers.answer(call.account, asked, build)

    return [ApiRoute("GET", "/v1/bookmarks/{post_id}/similar", similar_bookmarks)]
