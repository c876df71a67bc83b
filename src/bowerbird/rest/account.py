"""/v1/account: what an account may know of itself."""

from bowerbird.library.accounts.account_state import AccountState
from bowerbird.wire import envelope
from bowerbird.wire.answer_cache import AnswerCache
from bowerbird.wire.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call


def endpoints(state: AccountState, answers: AnswerCache) -> list[ApiRoute]:
    async def get_account(call: Call) -> Reply:
        return answers.unkept(call.asked, envelope.success(await state.to_response(call.account)))

    # Whoever looks how many calls are left has not used one by that.
    return [ApiRoute("GET", "/v1/account", get_account, counts=lambda _: False)]
