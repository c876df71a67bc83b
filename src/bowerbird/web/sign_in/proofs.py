"""The page on which a signed-in person proves again who they are, before a change that matters."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PROVE, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

# What people want to do on a page that asks for a proof.
_CHANGES: Final = {
    "/keys": "create a key",
    "/account": "change how you sign in",
    "/account/delete": "delete your account",
}


def routes(parts: SignInParts, pages: VisitPages) -> list[PageRoute]:
    sign_in, limits = parts.passkey_sign_in, parts.limits

    async def shown(visit: Visit, *, problem: str = "", status: int = 200) -> Reply:
        path = visit.next_path()
        return pages.show(
            visit,
            "reauthenticate.html",
            status=status,
            change=_CHANGES.get(path.partition("?")[0], "continue"),
            # What the command line calls the account.
            account=visit.signed_in.email or visit.account_id,
            has_passkey=bool(await parts.passkeys.all(visit.account_id)),
            providers=await parts.providers.for_proof(visit),
            sends_links=parts.mailed.is_offered and bool(visit.signed_in.email),
            next=path,
            problem=problem,
        )

    async def show(visit: Visit) -> Reply:
        if parts.sessions.is_proved(visit.signed_in):
            return pages.go(visit.next_path())
        return await shown(visit)

    async def start(visit: Visit) -> Reply:
        started = await sign_in.start_proof(visit.signed_in)
        visit.keep_attempt(started.attempt)
        return pages.json({"publicKey": started.options})

    async def finish(visit: Visit) -> Reply:
        limits.count(visit.network)
        limits.count_account(visit.account_id)
        credential = visit.form.get("credential", "")
        try:
            token = await sign_in.finish_proof(
                visit.signed_in, visit.attempt, credential, visit.where
            )
        except Refusal as refused:
            return await shown(visit, problem=refused.sentence, status=refused.status)
        visit.renew(token, ABSOLUTE_DAYS)
        return pages.go(visit.after_proof(visit.next_path()))

    return [
        PageRoute("GET", PROVE, show),
        PageRoute("POST", f"{PROVE}/options", start, is_json=True),
        PageRoute("POST", PROVE, finish),
    ]
