"""Deletes the account of the visitor, after they have typed its address."""

from typing import Final

from bowerbird.library.accounts.accounts import AccountDeletion, OwnerStays
from bowerbird.model.words import fold
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/account/delete"
GOODBYE: Final = "/goodbye"
_WITHOUT_ADDRESS: Final = "delete"


def routes(deletion: AccountDeletion, pages: VisitPages) -> list[PageRoute]:
    async def shown(visit: Visit, *, error: str = "", status: int = 200) -> Reply:
        lost = await deletion.losses(visit.account_id)
        return pages.show(
            visit,
            "account_delete.html",
            status=status,
            posts=visit.signed_in.account.total,
            labels=lost.labels,
            views=lost.views,
            keys=lost.keys,
            obstacle=await deletion.obstacle(visit.account_id),
            phrase=_phrase(visit),
            phrase_error=error,
        )

    async def show(visit: Visit) -> Reply:
        return await shown(visit)

    async def delete(visit: Visit) -> Reply:
        if fold(visit.form.get("phrase", "").strip()) != fold(_phrase(visit)):
            sentence = f"Type “{_phrase(visit)}” to delete the account."
            return await shown(visit, error=sentence, status=400)
        try:
            await deletion.start(visit.account_id)
        except OwnerStays as refused:
            return await shown(visit, status=refused.status)
        visit.leave()
        return pages.go(GOODBYE)

    async def goodbye(visit: Visit) -> Reply:
        return pages.show(visit, "goodbye.html")

    return [
        PageRoute("GET", PATH, show, Access.PROVED),
        PageRoute("POST", PATH, delete, Access.PROVED, PATH),
        PageRoute("GET", GOODBYE, goodbye, Access.ANYONE),
    ]


def _phrase(visit: Visit) -> str:
    return visit.signed_in.email or _WITHOUT_ADDRESS
