"""The connected sources of an account: lists, pauses, runs and disconnects them.

Also what people read about a source that cannot be read, and what to do about it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.accounts.tokens import Devices
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.accounts import Account, ActivityKind, Device
from bowerbird.model.arrival import IngestRun, RunCounts
from bowerbird.model.connections import (
    KIND,
    TITLES,
    Connection,
    ConnectionState,
    Network,
    Problem,
)
from bowerbird.model.jobs import SOURCES
from bowerbird.requests import limits
from bowerbird.requests.saving import FinishRequest
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import TimedService

_SCOPES: Final = "read:accounts and read:bookmarks"
_SENTENCES: Final = {
    Problem.REVOKED: (
        "{title} rejected the saved token. It was revoked, or it has expired. Connect again."
    ),
    Problem.UNREADABLE_TOKEN: (
        "This server cannot read the saved token, because its key has changed. Connect again."
    ),
    Problem.FORBIDDEN: "{title} refused the request. Check what you allowed, and connect again.",
    Problem.CREDITS: (
        "Your developer account at X has no credits left. Add some at developer.x.com, then run it "
        "again."
    ),
    Problem.WRONG_SERVER: (
        "{server} did not answer as {title} does. Check the address, and connect again with the "
        "right one."
    ),
    Problem.PRIVATE_ADDRESS: (
        "{server} is not a public address, so this server sends nothing there. Check the address. "
        "The operator can allow it with BOWERBIRD_SOURCES_PRIVATE_HOSTS."
    ),
    Problem.RATE_LIMITED: "{title} allows no more requests for a while. The next run continues.",
    Problem.BUDGET: "Today's posts from X are used up. The next run continues tomorrow (UTC).",
    Problem.DAILY_LIMIT: (
        "This account has read as much as it may in a day. The next run continues tomorrow (UTC)."
    ),
    Problem.UNREACHABLE: "{server} could not be reached. The next run tries again.",
    Problem.SERVER_ERROR: "{server} reported an error of its own. The next run tries again.",
    Problem.UNREADABLE_ANSWER: (
        "{server} sent an answer that cannot be read. The next run tries again."
    ),
    Problem.INTERNAL: "The run failed. The log of the server says why. The next run tries again.",
}
_BY_NETWORK: Final = {
    (Network.MASTODON, Problem.FORBIDDEN): (
        f"The token may not read your bookmarks. Create one with the permissions {_SCOPES}, and "
        "connect again."
    ),
    (Network.X, Problem.FORBIDDEN): (
        "X refused the request. Check at developer.x.com that your app may read posts and users, "
        "and that its project is active. Then run it again."
    ),
}
# Before anything is stored, the access is not an old one.
_WHEN_CONNECTING: Final = {
    Network.MASTODON: (
        f"{{server}} did not accept the token. Create one with the permissions {_SCOPES}."
    ),
    Network.BLUESKY: (
        "{server} did not accept the handle and password. Use an app password, not your own."
    ),
    Network.X: (
        "X did not accept the sign-in or your app. Check its client ID and secret, and start again."
    ),
}


def sentence(connection: Connection) -> str:
    """About the problem of a connection, or "" if it has none."""
    if connection.problem is Problem.NONE:
        return ""
    return of_problem(connection.network, connection.problem, connection.server)


def when_connecting(network: Network, problem: Problem, server: str) -> str:
    if problem is Problem.REVOKED:
        return _fill(_WHEN_CONNECTING[network], network, server)
    text = of_problem(network, problem, server)
    # Nothing is stored yet, so no run follows.
    return text.removesuffix("The next run tries again.").removesuffix("The next run continues.")


def of_problem(network: Network, problem: Problem, server: str) -> str:
    text = _BY_NETWORK.get((network, problem)) or _SENTENCES[problem]
    return _fill(text, network, server)


def _fill(text: str, network: Network, server: str) -> str:
    host = urlsplit(server).netloc
    # `replace` because a name may contain braces.
    return text.replace("{title}", TITLES[network]).replace("{server}", host or TITLES[network])


Change = Callable[[Transaction, Connection], Awaitable[None]]


class NoConnection(Refusal):
    """The account has no such connection."""


class DeviceRun(Struct, frozen=True):
    device: Device
    # The last run over the list, which may go on; None if the device has sent none for 30 days.
    run: IngestRun | None
    counts: RunCounts


class Connections(TimedService):
    def __init__(
        self, database: Database, clock: Clock, wake_worker: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(database, clock)
        self._wake = wake_worker
        self._runs = IngestRuns(database, clock)
        self._imports = ImportRuns(database, clock)
        self._devices = Devices(database, clock)

    async def all(self, account_id: int) -> Sequence[Connection]:
        return await self._stores.connections.all(account_id)

    async def one(self, account_id: int, connection_id: str) -> Connection:
        found = await self._stores.connections.one(self._library(account_id), connection_id)
        if found is None:
            raise _missing(connection_id)
        return found

    async def pause(self, account_id: int, connection_id: str) -> None:
        """A run that goes on stops after its page, and continues when the source is resumed."""

        async def change(transaction: Transaction, connection: Connection) -> None:
            if connection.state is not ConnectionState.ACTIVE:
                return
            await self._stores.connections.set_state(
                Writable(transaction, account_id),
                connection_id,
                ConnectionState.PAUSED,
                self._clock(),
            )

        await self._change(account_id, connection_id, change)

    async def run_now(self, account_id: int, connection_id: str) -> None:
        """Also resumes a paused source, and is the consent to the cost of a first run."""

        async def change(transaction: Transaction, connection: Connection) -> None:
            if connection.state is ConnectionState.UNFINISHED:
                raise Refusal(
                    Code.INVALID_REQUEST, "This source is not connected yet. Connect it first."
                )
            await self._start(Writable(transaction, account_id), connection_id)

        await self._change(account_id, connection_id, change)
        self._wake()

    async def set_bounds(
        self, account_id: int, connection_id: str, *, interval_s: int, posts_per_day: int
    ) -> None:
        """How often the source is read, and how many posts X may charge for per day."""
        least, most = limits.CONNECTION_INTERVAL_MIN_S, limits.CONNECTION_INTERVAL_MAX_S
        if not least <= interval_s <= most:
            raise Refusal(
                Code.INVALID_REQUEST, f"A source is read every {least} to {most:,} seconds."
            )
        if not limits.X_POSTS_PER_DAY_MIN <= posts_per_day <= limits.X_POSTS_PER_DAY_MAX:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The posts per day must be {limits.X_POSTS_PER_DAY_MIN} to "
                f"{limits.X_POSTS_PER_DAY_MAX:,}.",
            )

        async def change(transaction: Transaction, _: Connection) -> None:
            await self._stores.connections.set_bounds(
                Writable(transaction, account_id), connection_id, interval_s, posts_per_day
            )

        await self._change(account_id, connection_id, change)

    async def disconnect(self, account: Account, connection_id: str) -> Connection:
        """Deletes the connection and its tokens. Posts stay."""
        account_id = account.account_id
        removed = await self.one(account_id, connection_id)
        entry = activity.entry(
            self._clock,
            ActivityKind.SOURCE_DISCONNECTED,
            f"{TITLES[removed.network]} {removed.name}".strip(),
        )

        async def work(library: Writable) -> bool:
            if await self._stores.connections.delete(library, connection_id) is None:
                return False
            await self._stores.activity.add(library, entry)
            return True

        if not await self._transact(account_id, work):
            raise _missing(connection_id)
        if removed.run_id:
            # The run may have ended just now, and the worker may store one more page.
            with suppress(Refusal):
                interrupted = FinishRequest(reason="interrupted")
                await self._runs.finish(account, removed.run_id, interrupted)
        return removed

    async def devices(self, account: Account) -> Sequence[DeviceRun]:
        """The devices that are not revoked, each with its last run."""
        devices = await self._devices.all(account.account_id)
        latest = await self._runs.last_of_devices(account.account_id) if devices else {}
        runs = {one: latest.get(one.device_id) for one in devices if one.revoked_at is None}
        return [
            DeviceRun(one, run, await self._imports.counts(account, run.import_id if run else ""))
            for one, run in runs.items()
        ]

    async def _start(self, library: Writable, connection_id: str) -> None:
        now = self._clock()
        await self._stores.connections.set_state(
            library, connection_id, ConnectionState.ACTIVE, now
        )
        await self._stores.jobs.add_own(library, KIND, SOURCES, now)

    async def _change(self, account_id: int, connection_id: str, change: Change) -> None:
        async def work(library: Writable) -> None:
            found = await self._stores.connections.one(library, connection_id)
            if found is None:
                raise _missing(connection_id)
            await change(library.transaction, found)

        await self._transact(account_id, work)


def _missing(connection_id: str) -> NoConnection:
    shown = connection_id if connection_id.isalnum() and len(connection_id) <= 40 else ""  # noqa: PLR2004 - an id
    return NoConnection(Code.NOT_FOUND, f"There is no source {shown}".rstrip() + ".")
