"""Adding, renaming and removing passkeys. The account page lists them."""

from collections.abc import Awaitable
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

WELCOME: Final = "/welcome"
_PATH: Final = "/account/passkeys"
_PAGE: Final = "/account"
_BACK: Final = ("/account#methods", "Back to your account")


def routes(passkeys: Passkeys, pages: VisitPages) -> list[PageRoute]:
    async def after(visit: Visit, change: Awaitable[object], done: str) -> Reply:
        """Makes a change, and returns to the list with a message about it."""
        try:
            await change
        except Refusal as refused:
            return pages.refused(visit, refused, _BACK, f"The passkey was not {done}")
        if visit.form.get("back") == WELCOME:
            return pages.go(f"{WELCOME}?step=posts")
        return pages.go(f"/account?said=passkey-{done}#methods")

    async def start(visit: Visit) -> Reply:
        started = await passkeys.start_registration(visit.signed_in, _name(visit))
        visit.keep_attempt(started.attempt)
        return pages.json({"publicKey": started.options})

    async def add(visit: Visit) -> Reply:
        credential = visit.form.get("credential", "")
        visit.end_attempt()
        change = passkeys.finish_registration(
            visit.signed_in, visit.attempt, credential, _name(visit)
        )
        return await after(visit, change, "added")

    async def rename(visit: Visit) -> Reply:
        passkey_id, name = visit.form.get("passkey", ""), visit.form.get("name", "")
        return await after(visit, passkeys.rename(visit.signed_in, passkey_id, name), "renamed")

    async def remove(visit: Visit) -> Reply:
        passkey_id = visit.form.get("passkey", "")
        return await after(visit, passkeys.remove(visit.signed_in, passkey_id), "removed")

    return [
        PageRoute("POST", f"{_PATH}/options", start, Access.PROVED, _PAGE, is_json=True),
        PageRoute("POST", _PATH, add, Access.PROVED, _PAGE),
        PageRoute("POST", f"{_PATH}/rename", rename, Access.SIGNED_IN, _PAGE),
        PageRoute("POST", f"{_PATH}/remove", remove, Access.PROVED, _PAGE),
    ]


def _name(visit: Visit) -> str:
    return visit.form.get("name", "").strip() or visit.where.device
