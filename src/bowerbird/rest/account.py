"""/v1/account: the account's plan, limits and counts."""

from typing import Final

from bowerbird.library.accounts.account_state import AccountResponse, AccountState
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation

GET: Final = Operation(
    route="GET /v1/account",
    name="getAccount",
    summary="Get plan, limits, calls, counts and the state of the vector store. Free of charge.",
    data=AccountResponse,
    # Looking at the number of calls left does not use one.
    counts=lambda _: False,
)
OPERATIONS: Final = (GET,)


def routes(state: AccountState, answers: AnswerCache) -> list[ApiRoute]:
    async def get_account(call: Call) -> Reply:
        return await answers.uncached(
            call.target, envelope.success(await state.to_response(call.account))
        )

    return [GET.served_by(get_account)]
