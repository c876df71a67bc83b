"""The page on which people sign in."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_PASSKEY: Final = f"{SIGN_IN}/passkey"
_LINK: Final = f"{SIGN_IN}/link"


class SignInPages:
    def __init__(self, parts: SignInParts, pages: VisitPages) -> None:
        self._parts = parts
        self._pages = pages

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
            providers=self._parts.providers.for_sign_in,
            sign_up=self._parts.mode,
            next=visit.next_path(),
            sends_links=self._parts.mailed.is_offered,
            minutes=MINUTES,
            **(known | values),
        )

    async def open(self, visit: Visit) -> Reply:
        if visit.visitor is not None:
            return self._pages.go(visit.next_path())
        return self._shown(visit)

    async def start(self, visit: Visit) -> Reply:
        started = await self._parts.passkey_sign_in.start()
        visit.keep_attempt(started.attempt)
        return self._pages.json({"publicKey": started.options})

    async def finish(self, visit: Visit) -> Reply:
        self._parts.limits.count(visit.network)
        credential = visit.form.get("credential", "")
        try:
            entered = await self._parts.passkey_sign_in.finish(
                visit.attempt, credential, visit.where
            )
        except Refusal as refused:
            return self._shown(visit, problem=refused.sentence, status=refused.status)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return self._pages.go(visit.next_path())

    async def send_link(self, visit: Visit) -> Reply:
        address = visit.form.get("email", "").strip()
        try:
            self._parts.mailed.ask(address, visit.network)
        except Refusal as refused:
            where = "address_error" if isinstance(refused, EmailRefused) else "problem"
            problem = {"address": address, where: refused.sentence}
            return self._shown(visit, status=refused.status, **problem)
        return self._shown(visit, sent_to=address)
