"""/sources: the page that lists sources and devices, and the forms that connect and change them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.assembly import Services
from bowerbird.clock import day_of
from bowerbird.errors import Refusal
from bowerbird.library.access.call_allowance import AttemptLimits
from bowerbird.library.accounts.tokens import NoLiveDevice
from bowerbird.library.connections import connections, x_lists
from bowerbird.library.connections.connecting import BegunX, Connecting, revoke
from bowerbird.library.connections.connections import Connections, DeviceRun, NoConnection
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import VISIT, IngestRun, RunState
from bowerbird.model.connections import (
    NEEDS_PERSON,
    X_POSTS_PER_DAY,
    Connection,
    ConnectionState,
    Network,
    Problem,
)
from bowerbird.requests import limits
from bowerbird.web.visits.formats import Moment, Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply


def run_state(run: IngestRun) -> tuple[str, str]:
    """Words, and how they are marked."""
    # The pages prove it, not the client.
    if run.state == RunState.FINISHED and run.is_complete:
        return "complete", "on"
    if run.kind == VISIT:
        return "read while you browsed", ""
    if run.state == RunState.RUNNING:
        return "running", "busy"
    return "stopped before the end", "hold"


INTERVALS: Final = (
    (1_800, "every 30 minutes"),
    (3_600, "every hour"),
    (21_600, "every 6 hours"),
    (86_400, "once a day"),
)
_STATES: Final = {
    ConnectionState.UNFINISHED: ("not connected yet", "hold"),
    ConnectionState.PRICED: ("waits for your consent", "hold"),
    ConnectionState.PAUSED: ("paused", "hold"),
}
# Names as the forms that connect a source have them.
_SECRETS: Final = {
    Network.MASTODON: {"name": "mastodon_token", "label": "New access token"},
    Network.BLUESKY: {"name": "bluesky_password", "label": "New app password"},
}
# They pass by themselves, so nothing is broken.
_WAITING: Final = frozenset({Problem.RATE_LIMITED, Problem.BUDGET, Problem.DAILY_LIMIT})


def _source(connection: Connection, account: Account, times: Times, now: int) -> dict[str, Any]:
    state, kind = _state(connection, now)
    is_active = connection.state is ConnectionState.ACTIVE
    last = connection.last_run_at
    spent = connection.spent if connection.spent_day == day_of(now) else 0
    return {
        "id": connection.connection_id,
        "network": connection.title,
        "name": connection.name,
        "state": state,
        "state_kind": kind,
        "problem": connections.sentence(connection),
        "last_run": None if last is None else times.moment(last),
        "next_run": _next_run(connection, times, now),
        "new": connection.new,
        "changed": connection.changed,
        "total": connection.total,
        "is_active": is_active,
        "is_paused": connection.state is ConnectionState.PAUSED,
        "is_unfinished": connection.state is ConnectionState.UNFINISHED,
        "is_x": connection.network is Network.X,
        "must_connect": _must_connect(connection),
        "again": _again(connection),
        "secret": _SECRETS.get(connection.network),
        "interval": str(connection.interval_s),
        "posts_per_day": connection.posts_per_day,
        "spent": spent,
        "estimate": _estimate(connection, account),
    }


def _device(run: DeviceRun, times: Times) -> dict[str, Any]:
    state, kind = "not used yet", ""
    if run.run is not None:
        state, kind = run_state(run.run)
    elif run.device.last_used_at is not None:
        state, kind = "connected", "on"
    at = run.run.updated_at if run.run is not None else run.device.last_used_at
    return {
        "id": run.device.device_id,
        "name": run.device.name,
        "state": state,
        "state_kind": kind,
        "last_run": None if at is None else times.moment(at),
        "new": run.counts.new,
        "changed": run.counts.changed,
    }


def _state(connection: Connection, now: int) -> tuple[str, str]:
    if connection.state in _STATES:
        return _STATES[connection.state]
    if connection.next_run_at <= now:
        return "running", "busy"
    if connection.problem in _WAITING:
        return "waits", "hold"
    if connection.problem in NEEDS_PERSON:
        return "needs a new token", "err"
    if connection.problem is not Problem.NONE:
        return "failed", "err"
    return ("running", "busy") if connection.run_id else ("up to date", "on")


def _next_run(connection: Connection, times: Times, now: int) -> Moment | str:
    if connection.state is not ConnectionState.ACTIVE:
        return "when you resume it"
    if connection.next_run_at <= now:
        return "now"
    if connection.problem in NEEDS_PERSON:
        return "when you connect again"
    return times.moment(connection.next_run_at)


def _must_connect(connection: Connection) -> bool:
    """At X, a request is refused because of the person's app, which another token does not help."""
    is_refused = connection.problem is Problem.FORBIDDEN and connection.network is not Network.X
    return is_refused or connection.problem in NEEDS_PERSON


def _again(connection: Connection) -> list[tuple[str, str]]:
    """What is known of the form with which the source was connected; nothing for X."""
    if connection.network is Network.MASTODON:
        return [("mastodon_server", connection.server)]
    if connection.network is Network.BLUESKY:
        # A handle can change.
        handle = ("bluesky_handle", connection.source_user_id)
        return [handle, ("bluesky_server", connection.server)]
    return []


def _mark(connections: Sequence[Connection], now: int) -> str:
    """Changes when a source starts or ends; "" if nothing is running."""
    states = {one.connection_id: _state(one, now) for one in connections}
    if all(kind != "busy" for _, kind in states.values()):
        return ""
    return " ".join(f"{name}:{words}" for name, (words, _) in states.items())


def _estimate(connection: Connection, account: Account) -> dict[str, Any] | None:
    """The cost of a first run, until the person has agreed to it."""
    if connection.state is not ConnectionState.PRICED:
        return None
    first = x_lists.of_first_run(account.total)
    day = x_lists.of_posts(connection.posts_per_day)
    return {
        "posts": first.posts,
        "is_example": not account.total,
        "cost": first.cost,
        "owned_cost": first.owned_cost,
        "per_post": f"${x_lists.PER_POST}",
        "per_owned_post": f"${x_lists.PER_OWNED_POST}",
        "per_user": f"${x_lists.PER_USER}",
        "authors_cost": first.authors_cost,
        "day_cost": day.cost,
        "day_owned_cost": day.owned_cost,
    }


PATH: Final = "/sources"
_BACK: Final = (PATH, "Back to your sources")
_LONGEST_NUMBER: Final = 9
Change = Callable[[Visit], Awaitable[object]]


class SourcePages:
    def __init__(self, services: Services, attempts: AttemptLimits, pages: VisitPages) -> None:
        database, clock, settings = services.database, services.clock, services.settings
        self._connections = Connections(database, clock, services.wake_worker)
        self._connecting = Connecting(database, clock, settings, self._connections)
        self._devices = services.devices
        self._kept = services.kept_pages
        self._settings = settings
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
            PageRoute(
                *("GET", f"{PATH}/x/return", self.finish_x), back=_BACK, heading="Not connected"
            ),
            *(
                PageRoute(
                    *("POST", f"{PATH}/{path}", make),
                    page=PATH,
                    back=_BACK,
                    done=f"{PATH}?said={said}",
                    otherwise=otherwise,
                )
                for path, said, make, otherwise in self._changes()
            ),
        ]

    def _changes(self) -> list[tuple[str, str, Change, tuple[type[Refusal], str]]]:
        """Path, message, what is done, and what is said if there is no such source or device."""
        sources, missing = self._connections, (NoConnection, f"{PATH}?said=source-missing")
        before = f"{PATH}?said=extension-disconnected-before"

        def disconnect_device(visit: Visit) -> Awaitable[str]:
            return self._devices.revoke(visit.account_id, visit.sent("device"))

        def run(visit: Visit) -> Awaitable[None]:
            return sources.run_now(visit.account_id, visit.sent("source"))

        def pause(visit: Visit) -> Awaitable[None]:
            return sources.pause(visit.account_id, visit.sent("source"))

        return [
            ("run", "source-running", run, missing),
            ("pause", "source-paused", pause, missing),
            ("bounds", "source-changed", self._set_bounds, missing),
            ("disconnect", "source-disconnected", self._disconnect, missing),
            (
                *("devices/disconnect", "extension-disconnected", disconnect_device),
                (NoLiveDevice, before),
            ),
        ]

    async def shown(self, visit: Visit, *, status: int = 200, **more: Any) -> Reply:
        account, times = visit.account, visit.times
        now = self._clock()
        connections = await self._connections.all(visit.account_id)
        devices = await self._connections.devices(account)
        values = {
            "sources": [_source(one, account, times, now) for one in connections],
            "devices": [_device(one, times) for one in devices],
            "unread": await self._kept.of_unknown_form(visit.account_id),
            "most": limits.CONNECTIONS_MAX,
            "intervals": [(str(seconds), text) for seconds, text in INTERVALS],
            "x_return_url": self._connecting.x_return_url,
            "typed": {},
            "errors": {},
            "mark": _mark(connections, now),
        }
        return self._pages.show(visit, "sources.html", status=status, **(values | more))

    async def state(self, visit: Visit) -> Reply:
        """For a script, which opens the page again when `mark` changes."""
        connections = await self._connections.all(visit.account_id)
        mark = _mark(connections, self._clock())
        return self._pages.json({"mark": mark, "jobs": []})

    async def connect_mastodon(self, visit: Visit) -> Reply:
        server, token = visit.sent("mastodon_server"), visit.sent("mastodon_token")
        return await self._connected(
            visit,
            lambda: self._connecting.mastodon(visit.account_id, server, token),
            "mastodon",
            mastodon_server=server,
        )

    async def connect_bluesky(self, visit: Visit) -> Reply:
        handle, server = (visit.sent(f"bluesky_{name}") for name in ("handle", "server"))
        password = visit.sent("bluesky_password")
        return await self._connected(
            visit,
            lambda: self._connecting.bluesky(visit.account_id, handle, password, server),
            "bluesky",
            bluesky_handle=handle,
            bluesky_server=server,
        )

    async def connect_x(self, visit: Visit) -> Reply:
        client_id = visit.sent("x_client_id")
        secret = visit.sent("x_client_secret")
        return await self._begun(
            visit,
            lambda: self._connecting.begin_x(visit.account_id, client_id, secret),
            x_client_id=client_id,
        )

    async def connect_x_again(self, visit: Visit) -> Reply:
        source = visit.sent("source")
        return await self._begun(
            visit, lambda: self._connecting.begin_x_again(visit.account_id, source)
        )

    async def finish_x(self, visit: Visit) -> Reply:
        # Pages of other sites can open this path, but without the attempt.
        if visit.attempt:
            self._count(visit)
        await self._connecting.finish_x(visit.account_id, visit.attempt, visit.query)
        visit.end_attempt()
        return self._pages.go(f"{PATH}?said=source-connected")

    async def _set_bounds(self, visit: Visit) -> None:
        await self._connections.set_bounds(
            *(visit.account_id, visit.sent("source")),
            interval_s=_number(visit.sent("interval")),
            posts_per_day=_number(visit.form.get("posts", str(X_POSTS_PER_DAY))),
        )

    async def _disconnect(self, visit: Visit) -> None:
        removed = await self._connections.disconnect(visit.account, visit.sent("source"))
        await revoke(self._settings, self._clock, visit.account_id, removed)

    async def _connected(
        self, visit: Visit, connect: Callable[[], Awaitable[Connection]], name: str, **typed: str
    ) -> Reply:
        self._count(visit)
        try:
            await connect()
        except Refusal as refused:
            # Beside the source that was connected again, or beside the form below.
            source = visit.sent("source")
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

    def _count(self, visit: Visit) -> None:
        """Otherwise this server could be used to guess passwords at another one."""
        self._attempts.count(visit.network)
        self._attempts.count_account(visit.account_id)


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else 0
