"""/v1/account: what an account may know of itself."""

from bowerbird.library.account_state import AccountState
from bowerbird.wire import envelope
from bowerbird.wire.answers import AnswerCache
from bowerbird.wire.calls import Call, Endpoint
from bowerbird.wire.replies import Reply


def endpoints(state: AccountState, answers: AnswerCache) -> list[Endpoint]:
    async def get_account(call: Call) -> Reply:
        return answers.unkept(call.asked, envelope.success(await state.shown(call.account)))

    # Whoever looks how many calls are left has not used one by that.
    return [Endpoint("GET", "/v1/account", get_account, counts=lambda _: False)]
