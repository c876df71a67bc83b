"""The page that lists sources and devices, and the forms that connect and change them."""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.access.call_allowance import AttemptLimits
from bowerbird.library.accounts.tokens import NoLiveDevice
from bowerbird.library.connections.connecting import BegunX, Connecting, Revoking
from bowerbird.library.connections.connections import Connections, NoConnection
from bowerbird.model.connections import X_POSTS_PER_DAY, Connection
from bowerbird.requests import limits
from bowerbird.web.sources import rows
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/sources"
_BACK: Final = (PATH, "Back to your sources")
_LONGEST_NUMBER: Final = 9


class SourcePages:
    def __init__(self, services: Services, attempts: AttemptLimits, pages: VisitPages) -> None:
        database, clock, settings = services.database, services.clock, services.settings
        self._connections = Connections(database, clock, services.wake_worker)
        self._connecting = Connecting(database, clock, settings, self._connections)
        self._devices = services.devices
        self._kept = services.kept_pages
        self._revoking = Revoking(clock, settings)
        self._clock = clock
        self._attempts = attempts
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.shown),
            PageRoute("GET", f"{PATH}/state", self.state, is_json=True),
            PageRoute("POST", f"{PATH}/mastodon", self.connect_mastodon, page=PATH),
            PageRoute("POST", f"{PATH}/bluesky", self.connect_bluesky, page=PATH),
            PageRoute("POST", f"{PATH}/x", self.connect_x, page=PATH),
            PageRoute("POST", f"{PATH}/x/again", self.connect_x_again, page=PATH),
            PageRoute("GET", f"{PATH}/x/return", self.finish_x),
            PageRoute("POST", f"{PATH}/run", self.run, page=PATH),
            PageRoute("POST", f"{PATH}/pause", self.pause, page=PATH),
            PageRoute("POST", f"{PATH}/bounds", self.change, page=PATH),
            PageRoute("POST", f"{PATH}/disconnect", self.disconnect, page=PATH),
            PageRoute("POST", f"{PATH}/devices/disconnect", self.disconnect_device, page=PATH),
        ]

    async def shown(self, visit: Visit, *, status: int = 200, **more: Any) -> Reply:
        account, times = visit.signed_in.account, visit.times
        now = self._clock()
        connections = await self._connections.all(visit.account_id)
        devices = await self._connections.devices(account)
        values = {
            "sources": [rows.source(one, account, times, now) for one in connections],
            "devices": [rows.device(one, times) for one in devices],
            "unread": await self._kept.of_unknown_form(visit.account_id),
            "most": limits.CONNECTIONS_MAX,
            "intervals": [(str(seconds), text) for seconds, text in rows.INTERVALS],
            "x_return_url": self._connecting.x_return_url,
            "typed": {},
            "errors": {},
            "mark": rows.mark(connections, now),
        }
        return self._pages.show(visit, "sources.html", status=status, **(values | more))

    async def state(self, visit: Visit) -> Reply:
        """For a script, which opens the page again when `mark` changes."""
        connections = await self._connections.all(visit.account_id)
        mark = rows.mark(connections, self._clock())
        return self._pages.json({"mark": mark, "jobs": []})

    async def connect_mastodon(self, visit: Visit) -> Reply:
        server, token = visit.form.get("mastodon_server", ""), visit.form.get("mastodon_token", "")
        return await self._connected(
            visit,
            lambda: self._connecting.mastodon(visit.account_id, server, token),
            "mastodon",
            mastodon_server=server,
        )

    async def connect_bluesky(self, visit: Visit) -> Reply:
        handle, server = (visit.form.get(f"bluesky_{name}", "") for name in ("handle", "server"))
        password = visit.form.get("bluesky_password", "")
        return await self._connected(
            visit,
            lambda: self._connecting.bluesky(visit.account_id, handle, password, server),
            "bluesky",
            bluesky_handle=handle,
            bluesky_server=server,
        )

    async def connect_x(self, visit: Visit) -> Reply:
        client_id = visit.form.get("x_client_id", "")
        secret = visit.form.get("x_client_secret", "")
        return await self._begun(
            visit,
            lambda: self._connecting.begin_x(visit.account_id, client_id, secret),
            x_client_id=client_id,
        )

    async def connect_x_again(self, visit: Visit) -> Reply:
        source = visit.form.get("source", "")
        return await self._begun(
            visit, lambda: self._connecting.begin_x_again(visit.account_id, source)
        )

    async def finish_x(self, visit: Visit) -> Reply:
        # Pages of other sites can open this path, but without the attempt.
        if visit.attempt:
            self._count(visit)
        try:
            await self._connecting.finish_x(visit.account_id, visit.attempt, visit.query)
        except Refusal as refused:
            return self._pages.refused(visit, refused, _BACK, "Not connected")
        visit.end_attempt()
        return self._pages.go(f"{PATH}?said=source-connected")

    async def run(self, visit: Visit) -> Reply:
        change = self._connections.run_now(visit.account_id, visit.form.get("source", ""))
        return await self._after(visit, change, "source-running")

    async def pause(self, visit: Visit) -> Reply:
        change = self._connections.pause(visit.account_id, visit.form.get("source", ""))
        return await self._after(visit, change, "source-paused")

    async def change(self, visit: Visit) -> Reply:
        change = self._connections.set_bounds(
            visit.account_id,
            visit.form.get("source", ""),
            interval_s=_number(visit.form.get("interval", "")),
            posts_per_day=_number(visit.form.get("posts", str(X_POSTS_PER_DAY))),
        )
        return await self._after(visit, change, "source-changed")

    async def disconnect(self, visit: Visit) -> Reply:
        async def change() -> None:
            account = visit.signed_in.account
            source = visit.form.get("source", "")
            removed = await self._connections.disconnect(account, source)
            await self._revoking.revoke(visit.account_id, removed)

        return await self._after(visit, change(), "source-disconnected")

    async def disconnect_device(self, visit: Visit) -> Reply:
        device = visit.form.get("device", "")
        try:
            await self._devices.revoke(visit.account_id, device)
        except NoLiveDevice:
            return self._pages.go(f"{PATH}?said=extension-disconnected-before")
        return self._pages.go(f"{PATH}?said=extension-disconnected")

    async def _connected(
        self, visit: Visit, connect: Callable[[], Awaitable[Connection]], name: str, **typed: str
    ) -> Reply:
        self._count(visit)
        try:
            await connect()
        except Refusal as refused:
            # Beside the source that was connected again, or beside the form below.
            source = visit.form.get("source", "")
            errors = {source or name: refused.sentence}
            # Secrets that were typed are not sent back.
            typed = {} if source else typed
            return await self.shown(visit, status=refused.status, typed=typed, errors=errors)
        return self._pages.go(f"{PATH}?said=source-connected")

    async def _begun(
        self, visit: Visit, begin: Callable[[], Awaitable[BegunX]], **typed: str
    ) -> Reply:
        self._count(visit)
        if not self._pages.is_at_site(visit):
            # X returns the browser to the configured address, where it has no cookie.
            errors = {"x": f"Open {self._pages.site} to connect X."}
            return await self.shown(visit, status=400, typed=typed, errors=errors)
        try:
            begun = await begin()
        except NoConnection:
            return self._pages.go(f"{PATH}?said=source-missing")
        except Refusal as refused:
            errors = {"x": refused.sentence}
            return await self.shown(visit, status=refused.status, typed=typed, errors=errors)
        visit.keep_attempt(begun.attempt)
        host = urlsplit(begun.url).netloc
        return self._pages.show(visit, "continue.html", provider="X", url=begun.url, host=host)

    async def _after(self, visit: Visit, change: Awaitable[object], said: str) -> Reply:
        try:
            await change
        except NoConnection:
            return self._pages.go(f"{PATH}?said=source-missing")
        except Refusal as refused:
            return self._pages.refused(visit, refused, _BACK)
        return self._pages.go(f"{PATH}?said={said}")

    def _count(self, visit: Visit) -> None:
        """Otherwise this server could be used to guess passwords at another one."""
        self._attempts.count(visit.network)
        self._attempts.count_account(visit.account_id)


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else 0
