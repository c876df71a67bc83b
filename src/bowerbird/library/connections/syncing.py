"""Reads connected sources, page by page, into runs as devices have them.

All that a later step needs is in the database after each page: a killed worker continues where it
stopped, and a page that was stored is not stored again.
"""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from bowerbird.clock import MICROSECONDS, Clock, day_of, month_of, seconds_left_of_day
from bowerbird.connections.networks import X_PER_PAGE
from bowerbird.connections.records import CursorRefused, ListPage, SourceProblem
from bowerbird.errors import Code, Refusal
from bowerbird.library.connections.access import Access, vault_of
from bowerbird.library.connections.connecting import new_fetcher
from bowerbird.library.connections.x_lists import CLIENT, ListReading
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.pages import IngestPages, PageResult
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import EndReason, IngestRun, RunState
from bowerbird.model.connections import (
    NEEDS_PERSON,
    Connection,
    ConnectionState,
    Network,
    Problem,
)
from bowerbird.requests import limits
from bowerbird.requests.saving import FinishRequest, NewRun
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher

Progress = Callable[[int, int], Awaitable[None]]

_ACCOUNTS_PER_PAGE: Final = 500
# After the first failure, the second, and so on; never later than the next run would be.
_RETRY_S: Final = 300
_MAX_DOUBLINGS: Final = 10
# An access that was refused may work again: some servers forget sessions when they restart.
_REFUSED_S: Final = 86_400
# X may have sent posts, although they did not arrive.
_PERHAPS_CHARGED: Final = frozenset({Problem.UNREACHABLE, Problem.UNREADABLE_ANSWER})


class Sync(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        settings: Settings,
        fetcher: "Callable[[], Fetcher] | None" = None,
    ) -> None:
        super().__init__(database, clock)
        self._fetcher = fetcher or (lambda: new_fetcher(settings))
        self._vault = vault_of(settings)
        self._runs = IngestRuns(database, clock)
        self._pages = IngestPages(database, clock, self._runs)
        self._imports = ImportRuns(database, clock)
        self._lists = ListReading(database, clock, self._pages)

    async def due_accounts(self, after: int) -> Sequence[int]:
        return await self._stores.connections.due_accounts(after, self._clock(), _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int, progress: Progress, turn_s: float = math.inf) -> None:
        """Reads all sources of an account that are due, one page of each in turn.

        `progress` may raise an exception to stop it. The requests of a step take as long together
        as is left of the turn.
        """
        end = time.monotonic() + turn_s
        waiting = [
            one.connection_id
            for one in await self._stores.connections.due(account_id, self._clock())
        ]
        steps = 0
        async with self._fetcher().asked_by(account_id) as fetcher:
            while waiting:
                for connection_id in list(waiting):
                    with fetcher.within(end - time.monotonic()):
                        is_left = await self.step(account_id, connection_id, fetcher)
                    if not is_left:
                        waiting.remove(connection_id)
                    steps += 1
                    await progress(steps, steps + len(waiting))

    async def step(self, account_id: int, connection_id: str, fetcher: "Fetcher") -> bool:
        """Reads one page; False if the source is read, or cannot be read now."""
        connection = await self._stores.connections.one(self._library(account_id), connection_id)
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        if account is None or connection is None or connection.state is not ConnectionState.ACTIVE:
            return False
        access = Access(
            self._database,
            self._clock,
            self._vault,
            fetcher=fetcher,
            account_id=account_id,
            connection=connection,
        )
        try:
            return await self._read(account, connection, access)
        except SourceProblem as found:
            await self._fail(account_id, access.connection, found)
        except CursorRefused:
            await self._start_over(account, access.connection)
        except Refusal as refused:
            await self._refused(account_id, access.connection, refused)
        except Exception:  # noqa: BLE001 - other sources must be read all the same
            structlog.get_logger().exception("source not read", network=connection.network)
            await self._fail(account_id, access.connection, SourceProblem(Problem.INTERNAL))
        return False

    async def _read(self, account: Account, connection: Connection, access: Access) -> bool:
        run = await self._run(account, connection)
        if run is None:
            return True
        connection = msgspec.structs.replace(connection, run_id=run.run_id)
        if run.state == RunState.FINISHED:
            # The process was killed before it could note the end.
            await self._end(account, connection)
            return False
        status = await self._runs.status_of(account, run)
        seq = status.next_seq
        if place := self._lists.place(connection):
            is_left = await self._lists.step(account, connection, seq, access, place)
            if not is_left:
                await self._finish(account, connection, EndReason(place.reason))
            return is_left
        cursor = status.cursor or ""
        page = await self._fetched(account, connection, access, cursor)
        counted = X_PER_PAGE if connection.network is Network.X else 0
        result = await self._lists.take(account, connection, seq, page, counted)
        return await self._goes_on(account, connection, seq, cursor, result)

    async def _goes_on(
        self, account: Account, connection: Connection, seq: int, cursor: str, result: PageResult
    ) -> bool:
        """Whether something is left to read after this page. If not, the run ends."""
        if result.stop:
            reason = EndReason(result.stop_reason or EndReason.END)
            if await self._has_folders(account, connection):
                await self._lists.start(account, connection, reason)
                return True
            await self._finish(account, connection, reason)
            return False
        is_stuck = not result.cursor_out or result.cursor_out == cursor
        if is_stuck or seq >= limits.CONNECTION_PAGES_PER_RUN:
            await self._finish(account, connection, EndReason.GAVE_UP)
            if is_stuck:
                raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="no_next_page")
            return False
        return True

    async def _run(self, account: Account, connection: Connection) -> IngestRun | None:
        """The run that goes on, or a new one; None if another worker was faster."""
        if connection.run_id:
            try:
                return await self._runs.find(account, connection.run_id)
            except Refusal as refused:
                if refused.code is not Code.NOT_FOUND:
                    raise
                # Runs are kept for 30 days.
                await self._stores.connections.leave_run(account.account_id, connection)
                return None
        complete = await self._stores.ingest_runs.last_complete(
            self._library(account.account_id), connection.user
        )
        # The first one reads the whole list; later ones stop where the list is known.
        kind = "api" if complete is None else "incremental"
        new = NewRun(
            source=connection.network,
            kind=kind,
            source_user_id=connection.source_user_id,
            client=CLIENT,
        )

        async def work(library: Writable) -> str:
            started = await self._runs.start(library.transaction, account, new)
            is_ours = await self._stores.connections.start_run(
                library, connection.connection_id, started.run_id
            )
            if not is_ours:
                raise _RunTaken
            return started.run_id

        try:
            run_id = await self._transact(account.account_id, work)
        except _RunTaken:
            return None
        return await self._runs.find(account, run_id)

    async def _fetched(
        self, account: Account, connection: Connection, access: Access, cursor: str
    ) -> ListPage:
        if connection.network is not Network.X:
            return await access.page(cursor)
        if not await self._lists.spend(account.account_id, connection, X_PER_PAGE):
            raise SourceProblem(Problem.BUDGET, retry_at=self._tomorrow())
        try:
            return await access.page(cursor)
        except (SourceProblem, CursorRefused) as problem:
            if isinstance(problem, SourceProblem) and problem.problem in _PERHAPS_CHARGED:
                raise
            await self._lists.give_back(account.account_id, connection, X_PER_PAGE)
            raise

    def _tomorrow(self) -> int:
        now = self._clock()
        return now + seconds_left_of_day(now) * MICROSECONDS

    async def _has_folders(self, account: Account, connection: Connection) -> bool:
        """Folders become labels, after a run that found new posts and once per day at most."""
        today = day_of(self._clock())
        if connection.network is not Network.X or connection.folders_day == today:
            return False
        run = await self._runs.find(account, connection.run_id)
        return bool((await self._imports.counts(account, run.import_id)).new)

    async def _finish(self, account: Account, connection: Connection, reason: EndReason) -> None:
        request = msgspec.convert({"reason": reason.value}, FinishRequest)
        await self._runs.finish(account, connection.run_id, request)
        await self._end(account, connection)

    async def _end(self, account: Account, connection: Connection) -> None:
        run = await self._runs.find(account, connection.run_id)
        counts = await self._imports.counts(account, run.import_id)
        now = self._clock()
        await self._stores.connections.end_run(
            account.account_id,
            connection,
            new=counts.new,
            changed=counts.changed,
            now=now,
            next_run_at=now + connection.interval_s * MICROSECONDS,
        )

    async def _start_over(self, account: Account, connection: Connection) -> None:
        """The network forgot where the list was left. The next run reads it from the top."""
        current = await self._stores.connections.one(
            self._library(account.account_id), connection.connection_id
        )
        if current is not None and current.run_id:
            await self._finish(account, current, EndReason.GAVE_UP)
            forgotten = SourceProblem(Problem.UNREADABLE_ANSWER, reason="cursor")
            await self._fail(account.account_id, connection, forgotten)

    async def _refused(self, account_id: int, connection: Connection, refused: Refusal) -> None:
        """What the library refused: too many pages in a day, or an answer with too many posts."""
        if refused.code is Code.RATE_LIMITED:
            problem = SourceProblem(Problem.DAILY_LIMIT, retry_at=self._tomorrow())
        elif refused.code in (Code.INVALID_REQUEST, Code.RUN_FINISHED):
            problem = SourceProblem(Problem.UNREADABLE_ANSWER, reason=refused.code)
        elif refused.code is Code.NOT_FOUND:
            # The account was deleted.
            return
        else:
            problem = SourceProblem(Problem.INTERNAL, reason=refused.code)
        await self._fail(account_id, connection, problem)

    async def _fail(self, account_id: int, connection: Connection, found: SourceProblem) -> None:
        structlog.get_logger().warning(
            "source not read",
            network=connection.network,
            connection=connection.connection_id,
            problem=found.problem,
            reason=found.reason,
        )
        now, failures = self._clock(), connection.failures + 1
        wait_s = min(_RETRY_S << min(failures - 1, _MAX_DOUBLINGS), connection.interval_s)
        if found.problem in NEEDS_PERSON:
            wait_s = _REFUSED_S
        await self._stores.connections.fail(
            account_id,
            connection,
            found.problem,
            failures=failures,
            now=now,
            next_run_at=found.retry_at or now + wait_s * MICROSECONDS,
        )


class _RunTaken(Exception):  # noqa: N818 - no error
    """Another worker has started a run of the same connection."""
