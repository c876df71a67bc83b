"""/v1/shares: shared lists and private feeds."""

from collections.abc import Awaitable
from typing import Final

from bowerbird.errors import Code
from bowerbird.library.sharing.shares import ShareResponse
from bowerbird.model.labels import Share, Shared
from bowerbird.requests.shares import NewShare, ShareChange
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import created, current_of, done

_CREATED: Final = 201
LIST: Final = Operation(
    route="GET /v1/shares",
    name="listShares",
    summary="List the account's shared lists and private feeds, oldest first.",
    data=ShareResponse,
    is_many=True,
    # The operator and the clock change their state.
    is_tagged=False,
)
CREATE: Final = Operation(
    route="POST /v1/shares",
    name="createShare",
    summary="Share a label or a Smart View, or create a private feed of a list.",
    data=ShareResponse,
    body=NewShare,
    statuses=(_CREATED,),
    refusals=(Code.NOT_FOUND, Code.SUBSCRIPTION_REQUIRED),
)
GET: Final = Operation(
    route="GET /v1/shares/{share_id}",
    name="getShare",
    summary="Get one shared list or private feed.",
    data=ShareResponse,
    is_conditional=True,
)
UPDATE: Final = Operation(
    route="PATCH /v1/shares/{share_id}",
    name="updateShare",
    summary="Change how a list is shared, switch it off, or give it a new address.",
    data=ShareResponse,
    body=ShareChange,
    is_conditional=True,
)
DELETE: Final = Operation(
    route="DELETE /v1/shares/{share_id}",
    name="deleteShare",
    summary="Stop sharing a list. Its address ends at once.",
    data=ShareResponse,
    is_conditional=True,
)


def routes(rest: Rest) -> list[ApiRoute]:
    shares = rest.services.shares

    async def get_share(call: Call) -> Reply:
        share = await shares.find(call.account, call.path_params["share_id"])
        body = envelope.success(await shares.response(call.account, share))
        return await rest.answers.uncached(call.target, body, _state(share))

    def target(call: Call, request: NewShare) -> Awaitable[tuple[Shared, str]]:
        return shares.target(call.account, request)

    async def create(
        transaction: Transaction, call: Call, request: NewShare, target: tuple[Shared, str]
    ) -> Reply:
        share = await shares.create(transaction, call.account, request, target)
        shown = await shares.response_within(transaction, call.account, share)
        return created(shown, f"/v1/shares/{share.share_id}")

    async def update(transaction: Transaction, call: Call, request: ShareChange) -> Reply:
        share_id = call.path_params["share_id"]
        share = await shares.change(transaction, call.account, share_id, request)
        return done(await shares.response_within(transaction, call.account, share))

    async def delete(transaction: Transaction, call: Call) -> Reply:
        share = await shares.delete(transaction, call.account, call.path_params["share_id"])
        return done(await shares.response_within(transaction, call.account, share))

    current = current_of(shares.find, _state)
    return [
        rest.read(LIST, shares.all),
        GET.served_by(get_share),
        rest.effect(CREATE, create, prepare=target),
        rest.effect(UPDATE, update, current=current),
        rest.effect(DELETE, delete, current=current),
    ]


def _state(share: Share) -> State:
    return state_of(share, share.updated_at)
