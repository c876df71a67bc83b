"""The form for what happens to posts that are removed at their source."""

from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.accounts import RemovedPostsChoice
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_ACCOUNT: Final = "/account"
_PATH: Final = "/account/removed-posts"


def routes(accounts: Accounts, pages: VisitPages) -> list[PageRoute]:
    async def choose(visit: Visit) -> Reply:
        choice = visit.form.get("choice", "")
        if choice not in list(RemovedPostsChoice):
            raise Refusal(Code.INVALID_REQUEST, "Choose keep, hide or trash.")
        await accounts.set_removed_posts(str(visit.account_id), choice)
        return pages.go(f"{_ACCOUNT}?said=preferences-saved#removed")

    return [PageRoute("POST", _PATH, choose, page=_ACCOUNT)]
