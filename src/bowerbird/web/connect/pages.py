"""The pages that connect an extension: one creates the link, one says which browser has used it.

The first also gives the extension itself.
"""

import asyncio
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.connect_codes import CodeUse, ConnectCodes
from bowerbird.requests import limits
from bowerbird.web.sign_in import newcomers
from bowerbird.web.visits.formats import size_text
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = newcomers.CONNECT
_LINK: Final = "/connect/links/{link_id}"
_FILE: Final = "/connect/extension/{browser}"

# The packed extension that comes with this service, which `make serve` and `make wheel` build.
BROWSERS: Final = {"chromium": "Chromium", "firefox": "Firefox"}
FOLDER: Traversable = resources.files("bowerbird.web") / "extension"


class Packed(NamedTuple):
    name: str
    content: bytes


def packed(browser: str) -> Packed | None:
    """The file for a browser; None if it was not built. Reads about 90 kB from disk."""
    if browser not in BROWSERS or not FOLDER.is_dir():
        return None
    start = f"bowerbird-{browser}-"
    files = [file for file in FOLDER.iterdir() if file.name.startswith(start)]
    return Packed(files[0].name, files[0].read_bytes()) if files else None


class ConnectPage:
    def __init__(self, codes: ConnectCodes, pages: VisitPages) -> None:
        self._codes = codes
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.open, Access.ANYONE),
            PageRoute("POST", PATH, self.create, page=PATH),
            PageRoute("GET", _FILE, self.file),
            PageRoute("GET", _LINK, self.link),
            PageRoute("GET", f"{_LINK}/state", self.state, is_json=True),
        ]

    async def open(self, visit: Visit) -> Reply:
        if visit.visitor is None:
            newcomers.remember(visit)
            return self._pages.go(f"{SIGN_IN}?next={PATH}")
        newcomers.forget(visit)
        return await self._shown(visit)

    async def file(self, visit: Visit) -> Reply:
        found = await asyncio.to_thread(packed, visit.request.path_params["browser"])
        if found is None:
            raise Refusal(Code.NOT_FOUND, "The extension was not packed.")
        return attachment(found.name, "application/zip", found.content)

    async def create(self, visit: Visit) -> Reply:
        try:
            new = await self._codes.create(visit.account_id, visit.network)
        except Refusal as refused:
            return await self._shown(visit, problem=refused.sentence, status=refused.status)
        # Not after a redirect: the code would have to be kept until then.
        link = f"{self._pages.site}/#{new.code}"
        return await self._shown(visit, link=link, link_id=new.code_id)

    async def link(self, visit: Visit) -> Reply:
        """Whether a browser has used a link. The link itself is shown only once."""
        link_id = visit.request.path_params["link_id"]
        use = await self._codes.use_of(visit.account_id, link_id)
        return self._pages.show(
            visit,
            "connect_link.html",
            state=_state(use),
            device=use.device,
            link_id=link_id,
            minutes=limits.CONNECT_CODE_S // 60,
        )

    async def state(self, visit: Visit) -> Reply:
        link_id = visit.request.path_params["link_id"]
        use = await self._codes.use_of(visit.account_id, link_id)
        return self._pages.json({"state": _state(use)})

    async def _shown(
        self,
        visit: Visit,
        *,
        link: str = "",
        link_id: str = "",
        problem: str = "",
        status: int = 200,
    ) -> Reply:
        browser = visit.query.get("browser", "")
        if browser not in BROWSERS:
            browser = "firefox" if visit.where.device.startswith("Firefox") else "chromium"
        found = await asyncio.to_thread(packed, browser)
        return self._pages.show(
            visit,
            "connect.html",
            status=status,
            browser=browser,
            browser_name=BROWSERS[browser],
            file=found and {"name": found.name, "size": size_text(len(found.content))},
            link=link,
            link_id=link_id,
            minutes=limits.CONNECT_CODE_S // 60,
            problem=problem,
        )


def _state(use: CodeUse) -> str:
    if use.device:
        return "connected"
    return "waiting" if use.is_open else "over"
