"""Signing in with providers, proving with them, and connecting them."""

from collections.abc import Awaitable
from typing import Final
from urllib.parse import quote, urlsplit

from bowerbird.errors import Refusal
from bowerbird.library.sign_in.provider_sign_in import Purpose
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS, Attempt
from bowerbird.model.accounts import SignedIn
from bowerbird.openid.sign_in import ProviderProblem
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.sign_in.sign_up import SignUpPages
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PROVE, SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_PAGE: Final = "/account"
_BACK: Final = ("/account#methods", "Back to your account")
# What was not done, and the next step.
_FAILURES: Final = {
    Purpose.SIGN_IN: ("Not signed in", (SIGN_IN, "Sign in")),
    Purpose.PROOF: ("Not confirmed", (PROVE, "Try again")),
    Purpose.CONNECTION: ("Not connected", _BACK),
}


class ProviderPages:
    def __init__(self, parts: SignInParts, sign_up: SignUpPages, pages: VisitPages) -> None:
        self._parts = parts
        self._sign_in = parts.provider_sign_in
        self._sign_up = sign_up
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        def disconnect(visit: Visit) -> Awaitable[None]:
            return self._parts.identities.disconnect(visit.signed_in, visit.sent("provider"))

        connect = f"{_PAGE}/providers/{{provider}}/connect"
        return [
            PageRoute("POST", f"{SIGN_IN}/{{provider}}", self.start_sign_in, Access.ANYONE),
            PageRoute("GET", f"{SIGN_IN}/{{provider}}/return", self.finish, Access.ANYONE),
            PageRoute("POST", f"{PROVE}/{{provider}}", self.start_proof, page=_PAGE),
            PageRoute("POST", connect, self.start_connection, Access.PROVED, _PAGE),
            PageRoute(
                *("POST", f"{_PAGE}/providers/disconnect", disconnect, Access.PROVED, _PAGE),
                back=_BACK,
                heading="The provider was not disconnected",
                done=f"{_PAGE}?said=provider-disconnected#methods",
            ),
        ]

    async def start_sign_in(self, visit: Visit) -> Reply:
        if visit.visitor is not None:
            return self._pages.go(visit.next_path())
        invitation = visit.sent("invitation")
        if invitation:
            refused = await self._sign_up.refusal_of(invitation)
            if refused is not None:
                return self._sign_up.refused(visit, refused)
        return await self._start(visit, Purpose.SIGN_IN, invitation=invitation)

    async def start_proof(self, visit: Visit) -> Reply:
        return await self._start(visit, Purpose.PROOF, visitor=visit.signed_in)

    async def start_connection(self, visit: Visit) -> Reply:
        return await self._start(visit, Purpose.CONNECTION, visitor=visit.signed_in)

    async def _start(
        self,
        visit: Visit,
        purpose: Purpose,
        *,
        visitor: SignedIn | None = None,
        invitation: str = "",
    ) -> Reply:
        self._parts.limits.count(visit.network)
        if visitor is not None:
            self._parts.limits.count_account(visitor.account.account_id)
        provider, path = visit.named("provider"), visit.next_path()
        if not self._pages.is_at_site(visit):
            # The provider returns the browser to the configured address, where it has no cookie.
            sentence = f"Open {self._pages.site} to sign in with a provider."
            return self._failed(visit, purpose, sentence, path)
        try:
            begun = await self._sign_in.begin(
                provider, purpose, visitor=visitor, next=path, invitation=invitation
            )
        except ProviderProblem as problem:
            return self._failed(visit, purpose, problem.sentence, path)
        visit.keep_attempt(begun.attempt)
        return self._pages.show(
            visit,
            "continue.html",
            provider=begun.title,
            url=begun.url,
            host=urlsplit(begun.url).netloc,
        )

    async def finish(self, visit: Visit) -> Reply:
        provider = visit.named("provider")
        try:
            attempt = await self._sign_in.resume(provider, visit.attempt)
        except Refusal as refused:
            return self._failed(visit, Purpose.SIGN_IN, refused.sentence, "")
        # Not before: pages of other sites can open this path, but without the attempt.
        self._parts.limits.count(visit.network)
        purpose = Purpose(attempt.purpose)
        try:
            return await self._finish(visit, attempt, purpose)
        except (Refusal, ProviderProblem) as problem:
            return self._failed(visit, purpose, problem.sentence, attempt.next)

    async def _finish(self, visit: Visit, attempt: Attempt, purpose: Purpose) -> Reply:
        if purpose is not Purpose.SIGN_IN and visit.visitor is None:
            return self._pages.go(f"{SIGN_IN}?next={_PAGE}")
        returned = await self._sign_in.finish(attempt, visit.query)
        if purpose is Purpose.CONNECTION:
            await self._sign_in.connect(returned, visit.signed_in)
            visit.end_attempt()
            return self._pages.go(f"{_PAGE}?said=provider-connected#methods")
        if purpose is Purpose.PROOF:
            token = await self._sign_in.prove(returned, visit.signed_in, visit.where)
            visit.renew(token, ABSOLUTE_DAYS)
            return self._pages.go(visit.after_proof(attempt.next or "/"))
        entered = await self._sign_in.enter(returned, visit.where)
        if entered is None:
            return await self._sign_up.offer(visit, returned)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return self._pages.go(attempt.next or "/")

    def _failed(self, visit: Visit, purpose: Purpose, sentence: str, path: str) -> Reply:
        heading, action = _FAILURES[purpose]
        if purpose is Purpose.PROOF:
            action = (f"{action[0]}?next={quote(path or '/', safe='/')}", action[1])
        return self._pages.problem(visit, 400, heading, sentence, action)
