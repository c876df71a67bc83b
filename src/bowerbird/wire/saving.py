"""Saves posts and links that a request sends: for /v1/bookmarks and /ingest/v1/bookmarks."""

from bowerbird.library.imports.saving import PreparedSave, SaveResult, Saving, summary
from bowerbird.requests.saving import SaveRequest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.metas import MessageMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import Call, Handler
from bowerbird.wire.writes import Writes, done


def handler(saving: Saving, writes: Writes) -> Handler:
    async def save(call: Call) -> Reply:
        prepared: PreparedSave | None = None

        async def prepare(call: Call, request: SaveRequest) -> None:
            nonlocal prepared
            prepared = await saving.prepare(call.account, request.items, request.labels or ())

        async def effect(transaction: Transaction, call: Call, _: SaveRequest) -> Reply:
            assert prepared is not None
            return _reply(await saving.save(transaction, call.account, prepared))

        return await writes.handler_of(SaveRequest, effect, prepare=prepare)(call)

    return save


def _reply(result: SaveResult) -> Reply:
    return done(result, MessageMeta(summary(result.results)), 207 if result.failed else 200)
