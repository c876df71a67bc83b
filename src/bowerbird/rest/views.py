"""/v1/views: Smart Views and the bookmarks they show."""

import msgspec

from bowerbird.library.access import plans
from bowerbird.library.views.views import Views
from bowerbird.model.views import View
from bowerbird.storage.database import Transaction
from bowerbird.wire import envelope, query_strings
from bowerbird.wire.answer_cache import AnswerCache, RequestTarget
from bowerbird.wire.idempotency import IdempotentWrites, done
from bowerbird.wire.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call

PARAMETERS = ("limit", "cursor", "bucket")
_CREATED = 201


def endpoints(views: Views, answers: AnswerCache) -> list[ApiRoute]:
    async def asked_of(call: Call, shown: list[View]) -> RequestTarget:
        vectors = await views.vectors(call.account, shown)
        return msgspec.structs.replace(call.asked, minute=views.minute(shown), vectors=vectors)

    async def list_views(call: Call) -> Reply:
        held = await views.held(call.account)

        async def build() -> bytes:
            return envelope.success([await views.shown(call.account, view) for view in held])

        return await answers.answer(call.account, await asked_of(call, held), build)

    async def get_view(call: Call) -> Reply:
        view = await views.find(call.account, call.path_params["slug"])

        async def build() -> bytes:
            return envelope.success(await views.shown(call.account, view))

        return await answers.answer(call.account, await asked_of(call, [view]), build)

    async def view_bookmarks(call: Call) -> Reply:
        # The plan speaks first, as it does for the list.
        sent = query_strings.names(call.asked.query_string).intersection(PARAMETERS)
        plans.check_list(call.account, sent)
        view = await views.find(call.account, call.path_params["slug"])

        async def build() -> bytes:
            given = query_strings.given(call.asked.query_string, PARAMETERS)
            return envelope.page(await views.bookmarks(call.account, view, given))

        return await answers.answer(call.account, await asked_of(call, [view]), build)

    return [
        ApiRoute("GET", "/v1/views", list_views),
        ApiRoute("GET", "/v1/views/{slug}", get_view),
        ApiRoute("GET", "/v1/views/{slug}/bookmarks", view_bookmarks),
    ]


def write_endpoints(views: Views, writes: IdempotentWrites) -> list[ApiRoute]:
    async def create(transaction: Transaction, call: Call) -> Reply:
        made = await views.create(transaction, call.account, call.json)
        reply = done(made, status=_CREATED)
        location = (b"location", f"/v1/views/{made.slug}".encode())
        return msgspec.structs.replace(reply, headers=[*reply.headers, location])

    async def update(transaction: Transaction, call: Call) -> Reply:
        slug = call.path_params["slug"]
        return done(await views.update(transaction, call.account, slug, call.json))

    async def delete(transaction: Transaction, call: Call) -> Reply:
        return done(await views.delete(transaction, call.account, call.path_params["slug"]))

    return [
        ApiRoute("POST", "/v1/views", writes.handler(create)),
        ApiRoute("PATCH", "/v1/views/{slug}", writes.handler(update)),
        ApiRoute("DELETE", "/v1/views/{slug}", writes.handler(delete)),
    ]
