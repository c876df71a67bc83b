"""The pages on which people sign in, prove again who they are, and manage their passkeys.

A proof comes before a change that matters. The account page lists the passkeys.
"""

from collections.abc import Awaitable
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PROVE, SIGN_IN, Access, PageRoute
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
            providers=self._parts.providers,
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
        started = await self._parts.passkeys.start()
        visit.keep_attempt(started.attempt)
        return self._pages.json({"publicKey": started.options})

    async def finish(self, visit: Visit) -> Reply:
        self._parts.limits.count(visit.network)
        credential = visit.sent("credential")
        try:
            entered = await self._parts.passkeys.finish(visit.attempt, credential, visit.where)
        except Refusal as refused:
            return self._shown(visit, problem=refused.sentence, status=refused.status)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return self._pages.go(visit.next_path())

    async def send_link(self, visit: Visit) -> Reply:
        address = visit.sent("email").strip()
        try:
            self._parts.mailed.ask(address, visit.network)
        except Refusal as refused:
            where = "address_error" if isinstance(refused, EmailRefused) else "problem"
            problem = {"address": address, where: refused.sentence}
            return self._shown(visit, status=refused.status, **problem)
        return self._shown(visit, sent_to=address)


# What people want to do on a page that asks for a proof.
_CHANGES: Final = {
    "/keys": "create a key",
    "/account": "change how you sign in",
    "/account/delete": "delete your account",
}


def proof_routes(parts: SignInParts, pages: VisitPages) -> list[PageRoute]:
    sign_in, limits = parts.passkeys, parts.limits

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
            providers=await parts.providers_for_proof(visit),
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
        credential = visit.sent("credential")
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


WELCOME: Final = "/welcome"
_PATH: Final = "/account/passkeys"
_PAGE: Final = "/account"
_BACK: Final = ("/account#methods", "Back to your account")
_NOT: Final = "The passkey was not"


def passkey_routes(passkeys: Passkeys, pages: VisitPages) -> list[PageRoute]:
    async def after(visit: Visit, change: Awaitable[object], done: str) -> Reply:
        """Makes a change, and returns to the list with a message about it."""
        await change
        if visit.form.get("back") == WELCOME:
            return pages.go(f"{WELCOME}?step=posts")
        return pages.go(f"/account?said=passkey-{done}#methods")

    async def start(visit: Visit) -> Reply:
        started = await passkeys.start_registration(visit.signed_in, _name(visit))
        visit.keep_attempt(started.attempt)
        return pages.json({"publicKey": started.options})

    async def add(visit: Visit) -> Reply:
        credential = visit.sent("credential")
        visit.end_attempt()
        change = passkeys.finish_registration(
            visit.signed_in, visit.attempt, credential, _name(visit)
        )
        return await after(visit, change, "added")

    async def rename(visit: Visit) -> Reply:
        passkey_id, name = visit.sent("passkey"), visit.sent("name")
        return await after(visit, passkeys.rename(visit.signed_in, passkey_id, name), "renamed")

    async def remove(visit: Visit) -> Reply:
        passkey_id = visit.sent("passkey")
        return await after(visit, passkeys.remove(visit.signed_in, passkey_id), "removed")

    return [
        PageRoute("POST", f"{_PATH}/options", start, Access.PROVED, _PAGE, is_json=True),
        PageRoute("POST", _PATH, add, Access.PROVED, _PAGE, _BACK, f"{_NOT} added"),
        PageRoute(
            *("POST", f"{_PATH}/rename", rename, Access.SIGNED_IN, _PAGE, _BACK, f"{_NOT} renamed")
        ),
        PageRoute(
            *("POST", f"{_PATH}/remove", remove, Access.PROVED, _PAGE, _BACK, f"{_NOT} removed")
        ),
    ]


def _name(visit: Visit) -> str:
    return visit.sent("name").strip() or visit.where.device
