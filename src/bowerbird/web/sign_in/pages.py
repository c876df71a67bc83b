"""The page on which people sign in."""

from collections.abc import Mapping, Sequence
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.access.attempt_limits import AttemptLimits
from bowerbird.library.sign_in.passkey_sign_in import PasskeySignIn
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.client_addresses import network_of
from bowerbird.wire.responses.replies import Reply

_PASSKEY: Final = f"{SIGN_IN}/passkey"

# Name and path of a provider.
Providers = Sequence[Mapping[str, str]]


def routes(
    passkeys: PasskeySignIn,
    limits: AttemptLimits,
    pages: VisitPages,
    *,
    sign_up: str,
    providers: Providers = (),
) -> list[PageRoute]:
    """`sign_up` is the setting: closed, invite or open."""

    def shown(visit: Visit, *, problem: str = "", status: int = 200) -> Reply:
        return pages.show(
            visit,
            "sign_in.html",
            status=status,
            providers=providers,
            sign_up=sign_up,
            next=visit.next_path(),
            problem=problem,
        )

    async def show(visit: Visit) -> Reply:
        if visit.visitor is not None:
            return pages.go(visit.next_path())
        return shown(visit)

    async def start(visit: Visit) -> Reply:
        started = await passkeys.start()
        visit.keep_attempt(started.attempt)
        return pages.json({"publicKey": started.options})

    async def finish(visit: Visit) -> Reply:
        limits.count(network_of(visit.where.address))
        credential = visit.form.get("credential", "")
        try:
            entered = await passkeys.finish(visit.attempt, credential, visit.where)
        except Refusal as refused:
            return shown(visit, problem=refused.sentence, status=refused.status)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return pages.go(visit.next_path())

    return [
        PageRoute("GET", SIGN_IN, show, Access.ANYONE),
        PageRoute("POST", f"{_PASSKEY}/options", start, Access.ANYONE, is_json=True),
        PageRoute("POST", _PASSKEY, finish, Access.ANYONE),
    ]
