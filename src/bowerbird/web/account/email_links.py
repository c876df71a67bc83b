"""The page of a link that confirms a new email address. As with every link, a button sends it."""

from typing import Final

from bowerbird.library.access.attempt_limits import AttemptLimits
from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.email_changes import HOURS, PATH, EmailChanges
from bowerbird.library.sign_in.one_time_links import LinkRefused
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.client_addresses import network_of
from bowerbird.wire.responses.replies import Reply

_ACCOUNT: Final = ("/account", "Your account")


def routes(emails: EmailChanges, limits: AttemptLimits, pages: VisitPages) -> list[PageRoute]:
    def shown(visit: Visit, state: str, status: int = 200) -> Reply:
        return pages.show(visit, "link_email.html", status=status, state=state, hours=HOURS)

    async def show(visit: Visit) -> Reply:
        # No redirect to the page for signing in: it would lose the token, which is in the fragment.
        return shown(visit, "ready" if visit.visitor else "signed-out")

    async def confirm(visit: Visit) -> Reply:
        limits.count(network_of(visit.where.address))
        if visit.visitor is None:
            return shown(visit, "signed-out", 403)
        try:
            await emails.confirm(visit.visitor, visit.link_token)
        except LinkRefused:
            return shown(visit, "used", 410)
        except EmailRefused as refused:
            heading = "Your address was not changed"
            return pages.problem(visit, refused.status, heading, refused.sentence, _ACCOUNT)
        return pages.go("/account?said=email-changed#you")

    return [
        PageRoute("GET", PATH, show, Access.ANYONE),
        PageRoute("POST", PATH, confirm, Access.ANYONE),
    ]
