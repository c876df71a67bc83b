"""The page on which people sign in."""

from collections.abc import Mapping, Sequence
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.access.attempt_limits import AttemptLimits
from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.mailed_links import MailedLinks
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.library.sign_in.passkey_sign_in import PasskeySignIn
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.client_addresses import network_of
from bowerbird.wire.responses.replies import Reply

_PASSKEY: Final = f"{SIGN_IN}/passkey"
_LINK: Final = f"{SIGN_IN}/link"

# Name and path of a provider.
Providers = Sequence[Mapping[str, str]]


class SignInPages:
    def __init__(
        self,
        passkeys: PasskeySignIn,
        mailed: MailedLinks,
        limits: AttemptLimits,
        pages: VisitPages,
        *,
        sign_up: str,
        providers: Providers = (),
    ) -> None:
        """`sign_up` is the setting: closed, invite or open."""
        self._passkeys = passkeys
        self._mailed = mailed
        self._limits = limits
        self._pages = pages
        self._sign_up = sign_up
        self._providers = providers

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", SIGN_IN, self.open, Access.ANYONE),
            PageRoute("POST", f"{_PASSKEY}/options", self.start, Access.ANYONE, is_json=True),
            PageRoute("POST", _PASSKEY, self.finish, Access.ANYONE),
            PageRoute("POST", _LINK, self.send_link, Access.ANYONE),
        ]

    def _shown(self, visit: Visit, *, status: int = 200, **values: str) -> Reply:
        known = {"problem": "", "address": "", "address_error": "", "sent_to": ""}
        return self._pages.show(
            visit,
            "sign_in.html",
            status=status,
            providers=self._providers,
            sign_up=self._sign_up,
            next=visit.next_path(),
            sends_links=self._mailed.is_offered,
            minutes=MINUTES,
            **(known | values),
        )

    async def open(self, visit: Visit) -> Reply:
        if visit.visitor is not None:
            return self._pages.go(visit.next_path())
        return self._shown(visit)

    async def start(self, visit: Visit) -> Reply:
        started = await self._passkeys.start()
        visit.keep_attempt(started.attempt)
        return self._pages.json({"publicKey": started.options})

    async def finish(self, visit: Visit) -> Reply:
        self._limits.count(network_of(visit.where.address))
        credential = visit.form.get("credential", "")
        try:
            entered = await self._passkeys.finish(visit.attempt, credential, visit.where)
        except Refusal as refused:
            return self._shown(visit, problem=refused.sentence, status=refused.status)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return self._pages.go(visit.next_path())

    async def send_link(self, visit: Visit) -> Reply:
        address = visit.form.get("email", "").strip()
        try:
            self._mailed.ask(address, network_of(visit.where.address))
        except Refusal as refused:
            where = "address_error" if isinstance(refused, EmailRefused) else "problem"
            problem = {"address": address, where: refused.sentence}
            return self._shown(visit, status=refused.status, **problem)
        return self._shown(visit, sent_to=address)
