"""The pages on which people create an account."""

from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.sign_in.one_time_links import Entered
from bowerbird.library.sign_in.provider_sign_in import Returned
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in import newcomers
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/sign-up"
# An address may try to create so many accounts within 24 hours.
SIGN_UPS_PER_DAY: Final = 20
_CREATED: Final = "/welcome?said=account-created"
_NOT_CREATED: Final = "No account was created"
_SIGN_IN: Final = (SIGN_IN, "Sign in")


class SignUpPages:
    def __init__(self, parts: SignInParts, pages: VisitPages) -> None:
        self._parts = parts
        self._sign_up = parts.sign_up
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        offer = f"{PATH}/offer"
        return [
            PageRoute("GET", PATH, self.open, Access.ANYONE),
            PageRoute("POST", f"{PATH}/options", self.start, Access.ANYONE, is_json=True),
            PageRoute("POST", PATH, self.create_with_passkey, Access.ANYONE),
            PageRoute("POST", offer, self.create_with_provider, Access.ANYONE),
        ]

    async def open(self, visit: Visit) -> Reply:
        if visit.visitor is not None:
            return self._pages.go("/")
        return await self.show(visit, "")

    async def show(
        self, visit: Visit, invitation: str, *, problem: str = "", status: int = 200
    ) -> Reply:
        """The page with the ways to create an account, if the visitor may create one."""
        if visit.visitor is not None:
            sentence = "You are signed in to an account. To create another one, sign out first."
            return self._pages.problem(visit, 400, _NOT_CREATED, sentence)
        refused = await self.refusal_of(invitation)
        if refused is not None:
            return self.refused(visit, refused)
        return self._pages.show(
            visit,
            "sign_up.html",
            status=status,
            providers=self._parts.providers.for_sign_in,
            invitation=invitation,
            problem=problem,
        )

    async def start(self, visit: Visit) -> Reply:
        self._parts.limits.count(visit.network)
        started = await self._sign_up.start_with_passkey(visit.form.get("invitation", ""))
        visit.keep_attempt(started.attempt)
        return self._pages.json({"publicKey": started.options})

    async def create_with_passkey(self, visit: Visit) -> Reply:
        self._count(visit)
        credential, invitation = visit.form.get("credential", ""), visit.form.get("invitation", "")
        try:
            entered = await self._sign_up.create_with_passkey(
                visit.attempt, credential, visit.where
            )
        except Refusal as refused:
            problem, status = refused.sentence, refused.status
            return await self.show(visit, invitation, problem=problem, status=status)
        return self._enter(visit, entered)

    async def offer(self, visit: Visit, returned: Returned) -> Reply:
        """Asks somebody who has signed in at a provider whether to create an account."""
        title = self._sign_up.title_of(returned)
        try:
            visit.keep_attempt(await self._sign_up.offer(returned))
        except Refusal as refused:
            sentence = f"No account here is connected to your account at {title}. "
            return self._pages.problem(
                visit, 403, "Not signed in", sentence + refused.sentence, _SIGN_IN
            )
        shown = returned.proved.shown
        return self._pages.show(visit, "sign_up_offer.html", provider=title, shown=shown)

    async def create_with_provider(self, visit: Visit) -> Reply:
        """Creates the account that was offered."""
        self._count(visit)
        try:
            entered = await self._sign_up.create_with_provider(visit.attempt, visit.where)
        except Refusal as refused:
            return self.refused(visit, refused)
        return self._enter(visit, entered)

    async def refusal_of(self, invitation: str) -> Refusal | None:
        """Why somebody with this invitation may not create an account; None if they may."""
        try:
            await self._sign_up.require_allowed(invitation)
        except Refusal as refused:
            return refused
        return None

    def refused(self, visit: Visit, refused: Refusal) -> Reply:
        return self._pages.refused(visit, refused, _SIGN_IN, _NOT_CREATED)

    def _count(self, visit: Visit) -> None:
        self._parts.limits.count(visit.network)
        if wait_s := self._parts.daily_limits.count(visit.network, SIGN_UPS_PER_DAY):
            raise Refusal(
                Code.RATE_LIMITED,
                "Too many accounts were created from your network address within 24 hours. "
                "Try again later.",
                {"Retry-After": str(wait_s)},
            )

    def _enter(self, visit: Visit, entered: Entered) -> Reply:
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return self._pages.go(newcomers.path_for(visit, "account-created", _CREATED))
