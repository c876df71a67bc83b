"""/v1/bookmarks/changes: changes of many bookmarks, their progress and their undo."""

from collections.abc import Callable
from typing import Final

import msgspec

from bowerbird.errors import Code
from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bulk.requests import BulkChange, BulkRequests, Prepared
from bowerbird.requests.bulk import BulkRequest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, done

_ACCEPTED: Final = 202
_RETRY_AFTER: Final = (b"retry-after", b"1")
_PATH: Final = "/v1/bookmarks/changes"

CREATE: Final = Operation(
    method="POST",
    path=_PATH,
    name="changeBookmarks",
    summary="Change every bookmark that matches. Can be undone as a whole for an hour.",
    data=BulkChange,
    body=BulkRequest,
    statuses=(200, _ACCEPTED),
    headers={"Location": False, "Retry-After": False},
    refusals=(
        Code.NOT_FOUND,
        Code.COUNT_MISMATCH,
        Code.FILTER_NOT_ALLOWED,
        Code.VECTOR_SEARCH_NOT_ALLOWED,
    ),
)
GET: Final = Operation(
    method="GET",
    path=f"{_PATH}/{{change_id}}",
    name="getChange",
    summary="Get the progress of a change of many bookmarks.",
    data=BulkChange,
    headers={"Retry-After": False},
    is_tagged=False,
    counts=lambda _: False,
    refusals=(Code.NOT_FOUND,),
)
UNDO: Final = Operation(
    method="POST",
    path=f"{_PATH}/{{change_id}}/undo",
    name="undoChange",
    summary="Undo a change of many bookmarks within an hour. What was changed since stays.",
    data=BulkChange,
    statuses=(200, _ACCEPTED),
    headers={"Location": False, "Retry-After": False},
    refusals=(Code.NOT_FOUND,),
)
OPERATIONS: Final = (CREATE, GET, UNDO)


def routes(bulk: BulkRequests, writes: Writes, wake: Callable[[], None]) -> list[ApiRoute]:
    """`wake` is called once a change is committed, for a worker in the same process."""

    async def create(call: Call) -> Reply:
        prepared: list[Prepared] = []

        async def prepare(call: Call, request: BulkRequest) -> None:
            prepared.append(await bulk.prepare(call.account, request))

        async def start(
            transaction: Transaction, call: Call, request: BulkRequest
        ) -> Reply | Unfinished[Reply]:
            step = await bulk.start(transaction, call.account, request, prepared[0])
            return turns.then(step, _reply)

        reply = await writes.handler_of(BulkRequest, start, prepare=prepare)(call)
        wake()
        return reply

    async def get(call: Call) -> Reply:
        change = await bulk.get(call.account, call.path_params["change_id"])
        reply = done(change)
        return _with_headers(reply, [_RETRY_AFTER]) if change.is_open else reply

    async def undo(transaction: Transaction, call: Call) -> Reply | Unfinished[Reply]:
        step = await bulk.undo(transaction, call.account, call.path_params["change_id"])
        return turns.then(step, _reply)

    keyed = writes.handler(undo)

    async def undo_and_wake(call: Call) -> Reply:
        reply = await keyed(call)
        wake()
        return reply

    return [CREATE.served_by(create), GET.served_by(get), UNDO.served_by(undo_and_wake)]


def _reply(change: BulkChange) -> Reply:
    """202 if a job does the rest."""
    if not change.is_open:
        return done(change)
    location = (b"location", f"{_PATH}/{change.change_id}".encode())
    return _with_headers(done(change, status=_ACCEPTED), [location, _RETRY_AFTER])


def _with_headers(reply: Reply, headers: list[tuple[bytes, bytes]]) -> Reply:
    return msgspec.structs.replace(reply, headers=[*reply.headers, *headers])
