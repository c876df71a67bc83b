"""Runs of imports: each import is a run that is listed and can be undone for 30 days."""

import secrets
from functools import cached_property, partial
from typing import Final, TypeGuard

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity, turns
from bowerbird.library.access.turns import DoFirst
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.writing import kept_changes
from bowerbird.library.imports.undoing import Undoing, UndoOutcome
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.arrival import RunCounts, RunRow, RunState, UndoCounts
from bowerbird.model.instants import with_offset
from bowerbird.storage.database import Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

# Beyond it, the oldest run is no longer listed and cannot be undone.
RUNS_MAX: Final = 1_000
_NAME_MAX: Final = 200
_ID_MAX: Final = 40
_ID_BYTES: Final = 12
_REMOVED_PER_TURN: Final = 500
_LAST: Final = 2**63 - 1
_INTERRUPTED: Final = ("interrupted", "gave_up")


class Run(Struct, frozen=True, kw_only=True):
    run_id: str
    source: str
    """Where the posts come from: x, or the name of a file and its format. Several files are named
    by the first one."""
    kind: str
    """How they were read, such as full, incremental, visit, file, api or demo."""
    client: str
    """The program that read them."""
    state: RunState
    """running, finished, interrupted, undoing or undone."""
    reason: str
    """Why it ended; empty while it runs."""
    started_at: str
    """When it started."""
    finished_at: str | None
    """When it ended; null while it runs."""
    counts: RunCounts
    """What became of its posts."""
    undo_until: str | None
    """It can be undone until then; null if it cannot be undone."""
    undone: UndoCounts
    """What undoing it has done so far."""


class NotRunning(Refusal):
    """The import has ended, or was undone."""


class RunPage(Struct, frozen=True):
    runs: list[Run]
    next_cursor: str | None
    limit: int
    total_count: int


class ImportRuns(TimedService):
    @cached_property
    def _undoing(self) -> Undoing:
        """Built only when a run is undone, because it has many parts."""
        return Undoing(self._database, self._clock)

    async def start(
        self, account: Account, *, source: str, kind: str, client: str, started_at: int = 0
    ) -> Run:
        work = partial(
            self.start_within, source=source, kind=kind, client=client, started_at=started_at
        )
        return await turns.change(self._database, account, work)

    async def start_within(
        self,
        transaction: Transaction,
        account: Account,
        *,
        source: str,
        kind: str,
        client: str,
        source_user_id: str = "",
        started_at: int = 0,
    ) -> Run:
        """`started_at` is the present, unless its first posts were compared before."""
        account_id = account.account_id
        library = await self._stores.libraries.lock(transaction, account_id)
        number, count, _ = await self._stores.import_runs.numbers(library)
        if count >= RUNS_MAX:
            raise DoFirst(lambda: self._make_room(account_id))
        now = started_at or self._clock()
        run = RunRow(
            number=number,
            run_id=secrets.token_hex(_ID_BYTES),
            source=source[:_NAME_MAX],
            kind=kind[:_NAME_MAX],
            client=client[:_NAME_MAX],
            source_user_id=source_user_id[:_NAME_MAX],
            started_at=now,
            undo_until=kept_changes.undo_until(now),
        )
        await self._stores.import_runs.insert(library, run)
        entry = activity.entry(self._clock, ActivityKind.IMPORT_STARTED, run.source)
        await self._stores.activity.add(library, entry)
        return self._shown(run)

    async def get(self, account: Account, run_id: str) -> Run:
        return self._shown(await self._find(account, run_id))

    async def counts(self, account: Account, run_id: str) -> RunCounts:
        """None of anything for a run that is not listed: an account lists only its latest."""
        found = await self._stores.import_runs.by_id(self._library(account.account_id), _id(run_id))
        return RunCounts() if found is None else found.counts

    async def list(self, account: Account, limit: int, cursor: str | None) -> RunPage:
        """The newest first."""
        query = cursors.query_of(account.account_id, "imports")
        before = _LAST if not cursor else cursors.read_number(cursor, query)
        found = await self._stores.import_runs.page(account.account_id, before, limit + 1)
        end = found[limit - 1] if len(found) > limit else None
        return RunPage(
            runs=[self._shown(run) for run in found[:limit]],
            next_cursor=None
            if end is None
            else cursors.write(cursors.Named(str(end.number)), query),
            limit=limit,
            total_count=await self._stores.import_runs.count(account.account_id),
        )

    async def finish(
        self, account: Account, run_id: str, reason: str = "end", counts: RunCounts | None = None
    ) -> Run:
        """Ends a run. `reason` is end, caught_up, interrupted or gave_up. Idempotent.

        `counts` are of posts that needed no transaction, because nothing changed.
        """
        state = RunState.INTERRUPTED if reason in _INTERRUPTED else RunState.FINISHED

        async def work(library: LockedLibrary) -> None:
            run = _found(await self._stores.import_runs.by_id(library, _id(run_id)), run_id)
            # An interrupted run may still reach its end.
            is_late = run.state is RunState.INTERRUPTED and state is RunState.FINISHED
            if run.state is RunState.RUNNING or is_late:
                if counts is not None:
                    await self._stores.import_runs.add_counts(library, run.number, counts, 0)
                await self._stores.import_runs.set_state(
                    library, run, state=state, reason=reason[:_NAME_MAX], finished_at=self._clock()
                )

        await self._locked(account.account_id, work)
        return await self.get(account, run_id)

    async def reopen(self, transaction: Transaction, account_id: int, run_id: str) -> bool:
        """Lets an interrupted run go on. False if it takes no more posts: it ended, or was undone.

        A run whose first changes are not recorded any more could only be undone in part.
        """
        library = await self._stores.libraries.lock(transaction, account_id)
        run = await self._stores.import_runs.by_id(library, _id(run_id))
        if run is None or run.state is not RunState.INTERRUPTED:
            return run is not None and run.state is RunState.RUNNING
        if run.undo_until < self._clock():
            return False
        await self._stores.import_runs.set_state(
            library, run, state=RunState.RUNNING, reason="", finished_at=None
        )
        return True

    async def undo(self, account: Account, run_id: str) -> UndoOutcome:
        return await turns.change(self._database, account, self.undo_within, run_id)

    async def undo_within(
        self, transaction: Transaction, account: Account, run_id: str
    ) -> UndoOutcome:
        """What an undo did. It is done before, in transactions of its own."""
        if not _id(run_id):
            raise errors.not_found("import", run_id)
        return await self._undoing.undo(Writable(transaction, account.account_id), run_id)

    async def _make_room(self, account_id: int) -> None:
        """Removes the oldest run, some of its changes per transaction."""

        async def work(transaction: Transaction) -> bool:
            library = await self._stores.libraries.lock(transaction, account_id)
            _, count, oldest = await self._stores.import_runs.numbers(library)
            if count < RUNS_MAX:
                return True
            if not await self._stores.import_changes.remove_first(
                library, oldest, _REMOVED_PER_TURN
            ):
                await self._stores.import_runs.delete(library, oldest)
            return False

        while not await self._database.write(work, account_id, is_continuing=True):
            pass

    async def _find(self, account: Account, run_id: str) -> RunRow:
        found = await self._stores.import_runs.by_id(self._library(account.account_id), _id(run_id))
        return _found(found, run_id)

    def _shown(self, run: RunRow) -> Run:
        is_over = run.state is RunState.UNDONE or run.undo_until < self._clock()
        return Run(
            run_id=run.run_id,
            source=run.source,
            kind=run.kind,
            client=run.client,
            state=run.state,
            reason=run.reason,
            started_at=with_offset(run.started_at),
            finished_at=None if run.finished_at is None else with_offset(run.finished_at),
            counts=run.counts,
            undo_until=None if is_over or _is_empty(run) else with_offset(run.undo_until),
            undone=run.undone,
        )


def _is_empty(run: RunRow) -> bool:
    """Whether a file changed nothing. Other runs also mark posts, which the counts leave out."""
    has_ended = run.kind == "file" and run.state is not RunState.RUNNING
    return has_ended and not (run.counts.new or run.counts.changed)


def is_open(run: RunRow | None) -> TypeGuard[RunRow]:
    """Whether posts can be added to it, perhaps after it goes on."""
    return run is not None and run.state in (RunState.RUNNING, RunState.INTERRUPTED)


def require_running(run: RunRow | None, run_id: str) -> RunRow:
    """The run, if posts can still be added to it."""
    run = _found(run, run_id)
    if run.state is not RunState.RUNNING:
        raise NotRunning(
            Code.INVALID_REQUEST,
            f"Import {run.run_id} is {run.state.value} and takes no more posts. Start another one.",
        )
    return run


def _found(run: RunRow | None, run_id: str) -> RunRow:
    if run is None:
        raise errors.not_found("import", run_id)
    return run


def _id(run_id: str) -> str:
    """The id, or "" for a text that cannot be one; databases reject some characters."""
    return run_id if run_id.isascii() and run_id.isalnum() and len(run_id) <= _ID_MAX else ""
