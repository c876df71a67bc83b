"""The pages that connect an extension, and the address at which it trades its code for a token.

One page creates the link and gives the extension itself, one says which browser has used the link.

POST /connect/redeem: the code is the proof, and cookies play no part. Pages are refused, also those
without an origin of their own: they could use up the tries of their visitors.
"""

import asyncio
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final, NamedTuple

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.connect_codes import CodeUse, ConnectCodes
from bowerbird.requests import decoding, limits
from bowerbird.requests.saving import RedeemRequest
from bowerbird.settings import Settings
from bowerbird.web.sign_in.sign_up import CONNECT, forget_connecting, remember_connecting
from bowerbird.web.visits.formats import size_text
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import SIGN_IN, Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import bodies, router
from bowerbird.wire.auth import ClientAddresses, network_of
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import CORS, JSON, Reply

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
            PageRoute("GET", CONNECT, self.open, Access.ANYONE),
            PageRoute("POST", CONNECT, self.create, page=CONNECT, again=self._shown, is_once=True),
            PageRoute("GET", _FILE, self.file),
            PageRoute("GET", _LINK, self.link),
            PageRoute("GET", f"{_LINK}/state", self.state, is_json=True),
        ]

    async def open(self, visit: Visit) -> Reply:
        if visit.visitor is None:
            remember_connecting(visit)
            return self._pages.go(f"{SIGN_IN}?next={CONNECT}")
        forget_connecting(visit)
        return await self._shown(visit)

    async def file(self, visit: Visit) -> Reply:
        found = await asyncio.to_thread(packed, visit.named("browser"))
        if found is None:
            raise Refusal(Code.NOT_FOUND, "The extension was not packed.")
        return attachment(found.name, "application/zip", found.content)

    async def create(self, visit: Visit) -> Reply:
        new = await self._codes.create(visit.account_id, visit.network)
        # Not after a redirect: the code would have to be kept until then.
        link = f"{self._pages.site}/#{new.code}"
        return await self._shown(visit, link=link, link_id=new.code_id)

    async def link(self, visit: Visit) -> Reply:
        """Whether a browser has used a link. The link itself is shown only once."""
        link_id = visit.named("link_id")
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
        link_id = visit.named("link_id")
        use = await self._codes.use_of(visit.account_id, link_id)
        return self._pages.json({"mark": _state(use), "jobs": []})

    async def _shown(
        self,
        visit: Visit,
        *,
        link: str = "",
        link_id: str = "",
    ) -> Reply:
        browser = visit.asked("browser")
        if browser not in BROWSERS:
            browser = "firefox" if visit.where.device.startswith("Firefox") else "chromium"
        found = await asyncio.to_thread(packed, browser)
        return self._pages.show(
            visit,
            "connect.html",
            browser=browser,
            browser_name=BROWSERS[browser],
            file=found and {"name": found.name, "size": size_text(len(found.content))},
            link=link,
            link_id=link_id,
            minutes=limits.CONNECT_CODE_S // 60,
        )


def _state(use: CodeUse) -> str:
    if use.device:
        return "connected"
    return "waiting" if use.is_open else "over"


REDEEM: Final = f"{CONNECT}/redeem"
_EXTENSIONS: Final = (b"chrome-extension://", b"moz-extension://", b"safari-web-extension://")


class ConnectedResponse(Struct, frozen=True, kw_only=True):
    """The only answer that has the token."""

    token: str
    device_id: str
    # Empty if the account has no address.
    email: str
    ingest_url: str
    library_url: str
    keys_url: str


def surface(
    settings: Settings,
    codes: ConnectCodes,
    addresses: ClientAddresses,
    metrics: RequestMetrics,
) -> Pipeline:
    async def redeem(request: Request) -> Reply:
        origin = request.headers.get(b"origin")
        if origin is not None and not origin.startswith(_EXTENSIONS):
            raise Refusal(Code.INVALID_REQUEST, "A page cannot use a connect code.")
        if b"content-encoding" in request.headers:
            raise errors.invalid("Content-Encoding", "must be absent")
        body = await bodies.read(request.receive, limits.REDEEM_BYTES_MAX)
        network = network_of(addresses.of(request.scope))
        codes.count_try(network)
        decoding.check_excess(body)
        sent = decoding.decode(body, RedeemRequest)
        connected = await codes.redeem(sent.code, sent.name, network)
        answer = ConnectedResponse(
            token=connected.token,
            device_id=connected.device_id,
            email=connected.email,
            ingest_url=f"{settings.api_origin}/ingest/v1",
            library_url=f"{settings.site_origin}/library",
            keys_url=settings.register_url,
        )
        headers = [JSON, (b"cache-control", b"no-store")]
        return Reply(200, headers, envelope.success(answer))

    routed = RoutedPath(
        REDEEM, {"POST": redeem}, "POST, OPTIONS", max_body_bytes=limits.REDEEM_BYTES_MAX
    )

    def find(_: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        return routed, {}

    return Pipeline(
        Surface(
            find=find,
            phrase_refusal=lambda refused, _: envelope.refusal(refused, settings.upgrade_url),
            extra_headers=lambda _request, _reply: CORS,
            preflight=router.preflight,
        ),
        metrics,
    )
