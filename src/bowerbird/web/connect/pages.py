"""The page that connects an extension: it creates the line to paste into it."""

from bowerbird.errors import Refusal
from bowerbird.library.accounts.connect_codes import ConnectCodes
from bowerbird.requests import limits
from bowerbird.web.sign_in import newcomers
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.client_addresses import network_of
from bowerbird.wire.responses.replies import Reply

PATH = newcomers.CONNECT


class ConnectPage:
    def __init__(self, codes: ConnectCodes, pages: VisitPages) -> None:
        self._codes = codes
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.open, Access.ANYONE),
            PageRoute("POST", PATH, self.create, page=PATH),
        ]

    async def open(self, visit: Visit) -> Reply:
        if visit.visitor is None:
            newcomers.remember(visit)
            return self._pages.go(f"{SIGN_IN}?next={PATH}")
        newcomers.forget(visit)
        return self._shown(visit)

    async def create(self, visit: Visit) -> Reply:
        try:
            code = await self._codes.create(visit.account_id, network_of(visit.where.address))
        except Refusal as refused:
            return self._shown(visit, problem=refused.sentence, status=refused.status)
        # Not after a redirect: the code would have to be kept until then.
        return self._shown(visit, line=f"{self._pages.site}/#{code}")

    def _shown(
        self, visit: Visit, *, line: str = "", problem: str = "", status: int = 200
    ) -> Reply:
        return self._pages.show(
            visit,
            "connect.html",
            status=status,
            line=line,
            minutes=limits.CONNECT_CODE_S // 60,
            problem=problem,
        )
