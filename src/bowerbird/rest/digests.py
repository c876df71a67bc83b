"""/v1/digests: what was saved in a day or a week, and how the account wants to hear of it."""

import msgspec

from bowerbird.library.digests.digests import Digests
from bowerbird.storage.database import Transaction
from bowerbird.wire import envelope, query_strings
from bowerbird.wire.answer_cache import AnswerCache
from bowerbird.wire.idempotency import IdempotentWrites, done
from bowerbird.wire.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call

PARAMETERS = ("limit", "cursor")
ONE_PARAMETERS = ("format",)


def endpoints(digests: Digests, answers: AnswerCache) -> list[ApiRoute]:
    async def list_digests(call: Call) -> Reply:
        async def build() -> bytes:
            given = query_strings.given(call.asked.query_string, PARAMETERS)
            page = await digests.list(call.account, given)
            meta = {
                "next_cursor": page.next_cursor,
                "limit": page.limit,
                "total_count": page.total_count,
                "count": len(page.digests),
            }
            return envelope.success(page.digests, meta)

        return await answers.answer(call.account, call.asked, build)

    async def get_digest(call: Call) -> Reply:
        async def build() -> bytes:
            given = query_strings.given(call.asked.query_string, ONE_PARAMETERS)
            digest_id = call.path_params["digest_id"]
            found = await digests.get(call.account, digest_id, given.get("format"))
            return envelope.success(found)

        return await answers.answer(call.account, call.asked, build)

    async def get_preferences(call: Call) -> Reply:
        async def build() -> bytes:
            return envelope.success(await digests.preferences(call.account))

        # The next digest's moment changes as time goes by.
        asked = msgspec.structs.replace(call.asked, minute=digests.minute())
        return await answers.answer(call.account, asked, build)

    return [
        ApiRoute("GET", "/v1/digests", list_digests),
        ApiRoute("GET", "/v1/digests/preferences", get_preferences),
        ApiRoute("GET", "/v1/digests/{digest_id}", get_digest),
    ]


def write_endpoints(digests: Digests, writes: IdempotentWrites) -> list[ApiRoute]:
    async def update_preferences(transaction: Transaction, call: Call) -> Reply:
        return done(await digests.update_preferences(transaction, call.account, call.json))

    return [
        ApiRoute("PATCH", "/v1/digests/preferences", writes.handler(update_preferences)),
    ]
