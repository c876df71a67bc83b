"""The page of a one-time link.

The token is in the fragment of the URL, so it is in no log. Opening the page changes nothing: a
button sends the token, because mail programs and scanners open every link they see.
"""

from typing import Final

from bowerbird.library.access.attempt_limits import AttemptLimits
from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.invitations import DAYS, Invitations
from bowerbird.library.sign_in.one_time_links import (
    MINUTES,
    EmailNeeded,
    LinkRefused,
    OneTimeLinks,
)
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in import newcomers
from bowerbird.web.sign_in.sign_up import SignUpPages
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.client_addresses import network_of
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/link"
_NEXT: Final = "/welcome?said=signed-in"


def routes(
    links: OneTimeLinks,
    invitations: Invitations,
    sign_up: SignUpPages,
    limits: AttemptLimits,
    pages: VisitPages,
) -> list[PageRoute]:
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
        return shown(visit, "invitation" if "invitation" in visit.query else "ready")

    async def redeem(visit: Visit) -> Reply:
        limits.count(network_of(visit.where.address))
        token, email = visit.link_token, visit.form.get("email", "")
        try:
            entered = await links.redeem(token, visit.where, email)
        except LinkRefused:
            if await invitations.is_open(token):
                return await sign_up.show(visit, token)
            return shown(visit, "used", status=410)
        except EmailNeeded:
            return shown(visit, "owner", token=token)
        except EmailRefused as refused:
            problem = refused.sentence
            return shown(visit, "owner", token=token, email=email, email_error=problem, status=400)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return pages.go(newcomers.path_for(visit, "signed-in", _NEXT))

    return [
        PageRoute("GET", PATH, show, Access.ANYONE),
        PageRoute("POST", PATH, redeem, Access.ANYONE),
    ]
