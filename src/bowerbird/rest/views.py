"""/v1/views: Smart Views and the bookmarks they show."""

import msgspec

from bowerbird.library import plans
from bowerbird.library.views import Views
from bowerbird.model.views import View
from bowerbird.storage.database import Transaction
from bowerbird.wire import envelope, query
from bowerbird.wire.answers import AnswerCache, Asked
from bowerbird.wire.calls import Call, Endpoint
from bowerbird.wire.replies import Reply
from bowerbird.wire.writes import Writes, done

PARAMETERS = ("limit", "cursor", "bucket")
_CREATED = 201


def endpoints(views: Views, answers: AnswerCache) -> list[Endpoint]:
    async def asked_of(call: Call, shown: list[View]) -> Asked:
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
        sent = query.names(call.asked.query_string).intersection(PARAMETERS)
        plans.check_list(call.account, sent)
        view = await views.find(call.account, call.path_params["slug"])

        async def build() -> bytes:
            given = query.given(call.asked.query_string, PARAMETERS)
            return envelope.page(await views.bookmarks(call.account, view, given))

        return await answers.answer(call.account, await asked_of(call, [view]), build)

    return [
        Endpoint("GET", "/v1/views", list_views),
        Endpoint("GET", "/v1/views/{slug}", get_view),
        Endpoint("GET", "/v1/views/{slug}/bookmarks", view_bookmarks),
    ]


def write_endpoints(views: Views, writes: Writes) -> list[Endpoint]:
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
        Endpoint("POST", "/v1/views", writes.handler(create)),
        Endpoint("PATCH", "/v1/views/{slug}", writes.handler(update)),
        Endpoint("DELETE", "/v1/views/{slug}", writes.handler(delete)),
    ]
