"""/v1/shares: shared lists and private feeds."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.sharing.shares import ShareResponse
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Share, Shared
from bowerbird.requests.shares import NewShare, ShareChange
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import created, current_of, result_of

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

    def shown_after(change: Callable[..., Awaitable[Share]]) -> Callable[..., Awaitable[Any]]:
        async def changed(transaction: Transaction, account: Account, *given: Any) -> Any:
            share = await change(transaction, account, *given)
            return await shares.response_within(transaction, account, share)

        return changed

    def new(share: ShareResponse) -> Reply:
        return created(share, f"/v1/shares/{share.id}")

    current = current_of(shares.find, _state)

    def find(account: Account, request: NewShare) -> Awaitable[tuple[Shared, str] | Refusal]:
        return result_of(shares.target(account, request))

    return [
        rest.read(LIST, shares.all),
        GET.served_by(get_share),
        rest.write(CREATE, shown_after(shares.create), prepare=find, reply=new),
        rest.write(UPDATE, shown_after(shares.change), current=current),
        rest.write(DELETE, shown_after(shares.delete), current=current),
    ]


def _state(share: Share) -> State:
    return state_of(share, share.updated_at)
