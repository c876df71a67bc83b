"""The pages on which people create an account, and /welcome: the first steps of a new person.

Who came for one page and had to create an account first goes there afterwards. An invitation or a
sign-in link is opened from an email or a terminal, so the path cannot be in its URL: the browser
remembers it for an hour.
"""

from typing import Final
from urllib.parse import urlencode

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.mailed_links import HOURS
from bowerbird.library.sign_in.mailed_links import PATH as EMAIL_PATH
from bowerbird.library.sign_in.one_time_links import (
    DAYS,
    MINUTES,
    EmailNeeded,
    Entered,
    LinkRefused,
)
from bowerbird.library.sign_in.provider_sign_in import Returned
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in.pages import WELCOME
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.site import ShowPublished
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_AFTER: Final = "after"
_HOUR: Final = 1 / 24
# The only page that people come for without an account.
CONNECT: Final = "/connect"


def remember_connecting(visit: Visit) -> None:
    visit.cookies.append(visit.jar.write(_AFTER, CONNECT, _HOUR))


def is_expected(visit: Visit) -> bool:
    """Whether the browser came for the page that connects an extension."""
    return visit.jar.read(visit.request.headers.get(b"cookie"), _AFTER) == CONNECT


def forget_connecting(visit: Visit) -> None:
    if is_expected(visit):
        visit.cookies.append(visit.jar.remove(_AFTER))


def path_for(visit: Visit, said: str, otherwise: str) -> str:
    return f"{CONNECT}?said={said}" if is_expected(visit) else otherwise


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
            providers=self._parts.providers,
            invitation=invitation,
            problem=problem,
        )

    async def start(self, visit: Visit) -> Reply:
        self._parts.limits.count(visit.network)
        started = await self._sign_up.start_with_passkey(visit.sent("invitation"))
        visit.keep_attempt(started.attempt)
        return self._pages.json({"publicKey": started.options})

    async def create_with_passkey(self, visit: Visit) -> Reply:
        self._count(visit)
        credential, invitation = visit.sent("credential"), visit.sent("invitation")
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
        return self._pages.go(path_for(visit, "account-created", _CREATED))


_STEPS: Final = ("passkey", "posts", "agent")
# Who has seen the page in this browser.
_COOKIE: Final = "welcomed"
_YEAR: Final = 365


def welcome_routes(
    services: Services, parts: SignInParts, pages: VisitPages, show_published: ShowPublished
) -> list[PageRoute]:
    async def start(visit: Visit) -> Reply:
        """Signed-in people go to their own pages, strangers see what this is."""
        return (
            await show_published(visit.request) if visit.visitor is None else pages.go("/library")
        )

    async def show(visit: Visit) -> Reply:
        account, said = visit.account, visit.asked("said")
        seen = visit.jar.read(visit.request.headers.get(b"cookie"), _COOKIE)
        if said and (account.total or seen == str(visit.account_id)):
            # Somebody who comes back. A link may be the only way to sign in that they have.
            return pages.go(f"/account?{urlencode({'said': said})}#methods")
        visit.cookies.append(visit.jar.write(_COOKIE, str(visit.account_id), _YEAR))
        ways = await parts.methods_of(visit)
        done = {
            "passkey": bool(ways.passkeys),
            "posts": account.total > 0,
            "agent": await services.keys.count_live(visit.account_id) > 0,
        }
        first = next((step for step in _STEPS if not done[step]), "")
        step = visit.query.get("step", first)
        return pages.show(
            visit,
            "welcome.html",
            done=done,
            step=step if step in _STEPS else first,
            is_provider=any(each["address"] for each in ways.providers),
        )

    return [PageRoute("GET", "/", start, Access.ANYONE), PageRoute("GET", WELCOME, show)]


LINK: Final = "/link"
_NEXT: Final = f"{WELCOME}?said=signed-in"
_OWNER: Final = "owner"
_ACCOUNT: Final = ("/account", "Your account")


def link_routes(parts: SignInParts, sign_up: SignUpPages, pages: VisitPages) -> list[PageRoute]:
    def shown(
        visit: Visit,
        state: str,
        *,
        token: str = "",
        email: str = "",
        email_error: str = "",
        status: int = 200,
    ) -> Reply:
        return pages.show(
            visit,
            "link.html",
            status=status,
            state=state,
            minutes=MINUTES,
            days=DAYS,
            token=token,
            email=email,
            email_error=email_error,
        )

    async def show(visit: Visit) -> Reply:
        return shown(visit, _state(visit))

    async def redeem(visit: Visit) -> Reply:
        parts.limits.count(visit.network)
        token, email = visit.link_token, visit.sent("email")
        try:
            entered = await parts.links.redeem(token, visit.where, email)
        except LinkRefused:
            if await parts.invitations.is_open(token):
                return await sign_up.show(visit, token)
            return shown(visit, "used", status=410)
        except EmailNeeded:
            # A page of its own, so that "Back" does not ask to send this form again. Without a
            # script it would lose the token.
            by_script = bool(visit.form.get("token"))
            again = f"{LINK}?{_OWNER}=yes#{token}"
            return pages.go(again) if by_script else shown(visit, _OWNER, token=token)
        except EmailRefused as refused:
            problem = refused.sentence
            return shown(visit, _OWNER, token=token, email=email, email_error=problem, status=400)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return pages.go(path_for(visit, "signed-in", _NEXT))

    return [
        PageRoute("GET", LINK, show, Access.ANYONE),
        PageRoute("POST", LINK, redeem, Access.ANYONE),
    ]


def _state(visit: Visit) -> str:
    """What the page is for, as its address says."""
    return next((state for state in (_OWNER, "invitation") if state in visit.query), "ready")


def email_routes(parts: SignInParts, pages: VisitPages) -> list[PageRoute]:
    def shown(visit: Visit, state: str, status: int = 200) -> Reply:
        return pages.show(visit, "link_email.html", status=status, state=state, hours=HOURS)

    async def show(visit: Visit) -> Reply:
        # No redirect to the page for signing in: it would lose the token, which is in the fragment.
        return shown(visit, "ready" if visit.visitor else "signed-out")

    async def confirm(visit: Visit) -> Reply:
        parts.limits.count(visit.network)
        if visit.visitor is None:
            return shown(visit, "signed-out", 403)
        try:
            await parts.emails.confirm(visit.visitor, visit.link_token)
        except LinkRefused:
            return shown(visit, "used", 410)
        except EmailRefused as refused:
            return pages.refused(visit, refused, _ACCOUNT, "Your address was not changed")
        return pages.go("/account?said=email-changed#you")

    return [
        PageRoute("GET", EMAIL_PATH, show, Access.ANYONE),
        PageRoute("POST", EMAIL_PATH, confirm, Access.ANYONE),
    ]
