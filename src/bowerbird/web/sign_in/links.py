"""The pages of one-time links that sign in, and of those that confirm a new email address.

The token is in the fragment of the URL, so it is in no log. Opening the page changes nothing: a
button sends the token, because mail programs and scanners open every link they see.
"""

from typing import Final

from bowerbird.library.accounts.accounts import EmailRefused
from bowerbird.library.sign_in.mailed_links import HOURS
from bowerbird.library.sign_in.mailed_links import PATH as EMAIL_PATH
from bowerbird.library.sign_in.one_time_links import DAYS, MINUTES, EmailNeeded, LinkRefused
from bowerbird.library.sign_in.sessions import ABSOLUTE_DAYS
from bowerbird.web.sign_in.pages import WELCOME
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.sign_in.sign_up import SignUpPages, path_for
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/link"
_NEXT: Final = f"{WELCOME}?said=signed-in"
_OWNER: Final = "owner"
_ACCOUNT: Final = ("/account", "Your account")


def routes(parts: SignInParts, sign_up: SignUpPages, pages: VisitPages) -> list[PageRoute]:
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
            again = f"{PATH}?{_OWNER}=yes#{token}"
            return pages.go(again) if by_script else shown(visit, _OWNER, token=token)
        except EmailRefused as refused:
            problem = refused.sentence
            return shown(visit, _OWNER, token=token, email=email, email_error=problem, status=400)
        visit.enter(entered.session_token, ABSOLUTE_DAYS)
        return pages.go(path_for(visit, "signed-in", _NEXT))

    return [
        PageRoute("GET", PATH, show, Access.ANYONE),
        PageRoute("POST", PATH, redeem, Access.ANYONE),
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
