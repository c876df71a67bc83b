"""The start page, and /welcome: the first steps of a new person, which can be skipped."""

from typing import Final
from urllib.parse import urlencode

from bowerbird.assembly import Services
from bowerbird.web.account.account import methods_of
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.sign_in.passkeys import WELCOME
from bowerbird.web.site import ShowPublished
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_STEPS: Final = ("passkey", "posts", "agent")
# Who has seen the page in this browser.
_COOKIE: Final = "welcomed"
_YEAR: Final = 365


def routes(
    services: Services, parts: SignInParts, pages: VisitPages, show_published: ShowPublished
) -> list[PageRoute]:
    async def start(visit: Visit) -> Reply:
        """Signed-in people go to their own pages, strangers see what this is."""
        return (
            await show_published(visit.request) if visit.visitor is None else pages.go("/library")
        )

    async def show(visit: Visit) -> Reply:
        account, said = visit.signed_in.account, visit.query.get("said", "")
        seen = visit.jar.read(visit.request.headers.get(b"cookie"), _COOKIE)
        if said and (account.total or seen == str(visit.account_id)):
            # Somebody who comes back. A link may be the only way to sign in that they have.
            return pages.go(f"/account?{urlencode({'said': said})}#methods")
        visit.cookies.append(visit.jar.write(_COOKIE, str(visit.account_id), _YEAR))
        ways = await methods_of(parts, visit)
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
            demo_size=services.demo.size,
        )

    return [PageRoute("GET", "/", start, Access.ANYONE), PageRoute("GET", WELCOME, show)]
