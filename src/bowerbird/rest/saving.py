"""POST /v1/bookmarks: saves posts and links."""

from typing import Final

from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.imports.saving import PreparedSave, SaveResult, Saving, summary
from bowerbird.requests import limits
from bowerbird.requests.saving import SaveRequest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.metas import MessageMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, done

SAVE: Final = Operation(
    method="POST",
    path="/v1/bookmarks",
    name="saveBookmarks",
    summary=(
        f"Save up to {limits.SAVED_MAX} posts or links, each with its own result; 207 if any "
        "failed. Does not count as a call."
    ),
    data=SaveResult,
    meta=MessageMeta,
    body=SaveRequest,
    statuses=(200, 207),
    counts=lambda _: False,
)
OPERATIONS: Final = (SAVE,)


def routes(saving: Saving, writes: Writes) -> list[ApiRoute]:
    async def save(call: Call) -> Reply:
        prepared: PreparedSave | None = None

        async def prepare(call: Call, request: SaveRequest) -> None:
            nonlocal prepared
            prepared = await saving.prepare(call.account, request.items, request.labels or ())

        async def effect(
            transaction: Transaction, call: Call, _: SaveRequest
        ) -> Reply | Unfinished[Reply]:
            assert prepared is not None
            return turns.then(await saving.save(transaction, call.account, prepared), _reply)

        return await writes.handler_of(SaveRequest, effect, prepare=prepare)(call)

    return [SAVE.served_by(save)]


def _reply(result: SaveResult) -> Reply:
    return done(result, MessageMeta(summary(result)), 207 if result.failed else 200)
