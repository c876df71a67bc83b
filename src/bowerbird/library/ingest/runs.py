"""Runs: a device starts one, sends the pages of a list, and ends it."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, day_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import TriesWithin, used_up
from bowerbird.library.imports.intake import PreparedIntake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.removals import Removals
from bowerbird.model.accounts import Account, DeviceCaller
from bowerbird.model.arrival import EndReason, IngestRun, RunState, SourceUser
from bowerbird.model.instants import with_offset
from bowerbird.requests import limits
from bowerbird.requests.saving import FinishRequest, NewRun
from bowerbird.storage.database import Database, Readable, Reader, Transaction, Writable
from bowerbird.storage.ingest import RETENTION_DAYS
from bowerbird.storage.libraries import INGEST_PAGES, INGEST_RUNS, DailyUseStore
from bowerbird.storage.stores import TimedService

USE_NOTED_EVERY: Final = 60 * MICROSECONDS
_HEAD: Final = 50
_RESUMABLE: Final = RETENTION_DAYS * 86_400 * MICROSECONDS
_HELD_SHOWN: Final = 50
_MAX_ID_LENGTH: Final = 64


class KnownPost(Struct, frozen=True):
    post_id: str
    sort_index: str
    """Place in the list, higher is newer. A text, because it exceeds 2^53."""


class Resume(Struct, frozen=True):
    run_id: str
    cursor: str
    next_seq: int


class StartedRun(Struct, frozen=True, kw_only=True):
    run_id: str
    next_seq: int
    known_head: list[KnownPost]
    """The newest posts of the library."""
    stop_below_sort_index: str | None
    """An incremental run stops at a page whose posts are all known and at or below this index;
    null: it reads to the end."""
    resume: Resume | None
    """An earlier run that can be continued with its own id, or null."""


class FinishedRun(Struct, frozen=True, kw_only=True):
    run_id: str
    state: str
    """finished, or interrupted if the run can be continued."""
    proved_end: bool
    """Whether the pages prove that the whole list was read."""
    removed_candidates: int
    """Known posts that are missing from the list."""
    removed: int
    """Those of them that are recorded as removed. The library keeps their content."""
    is_held: bool
    """Whether the candidates are too many to be removed without a confirmation."""


class RunStatus(Struct, frozen=True, kw_only=True):
    run_id: str
    source: str
    """Where the posts come from."""
    kind: str
    """full, incremental, visit, file or api."""
    source_user_id: str
    client: str
    """Name and version of the program."""
    state: str
    """running, interrupted or finished."""
    reason: str
    """Why it ended; empty while it runs."""
    import_id: str | None
    """The import of its posts, which can be undone; null before the first post."""
    pages: int
    """Number of pages received."""
    next_seq: int
    cursor: str | None
    removed_candidates: int
    """Known posts that are missing from the list."""
    removed: int
    """Those of them that are recorded as removed. The library keeps their content."""
    started_at: str
    """When it started: ISO 8601 with an offset."""
    updated_at: str
    """When it last received a page: ISO 8601 with an offset."""


class Totals(Struct, frozen=True):
    posts: int
    """Posts in the library."""
    kept_pages: int
    """Pages that are kept because no reader understood them."""


class Quota(Struct, frozen=True):
    pages_today: int
    """Pages that the account has sent today (UTC)."""
    pages_per_day: int
    """The maximum per account and UTC day."""
    pages_per_minute: int
    """The maximum of requests per device and minute."""


class HeldRemovals(Struct, frozen=True):
    run_id: str
    posts: int
    """How many posts were missing from the list."""


class IngestStatus(Struct, frozen=True, kw_only=True):
    last_run: RunStatus | None
    """The latest run of the account, or null."""
    totals: Totals
    quota: Quota
    device_id: str | None
    """The device that calls; null for an API key."""
    source_user_id: str | None
    """The account of the source that the device is bound to, or null."""
    held_removals: list[HeldRemovals]
    """Runs whose removals the user has to confirm; finish confirms them."""


class IngestRuns(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._started = DailyUseStore(database, INGEST_RUNS)
        self._pages = DailyUseStore(database, INGEST_PAGES)
        self._removals = Removals(database, clock)
        self._imports = ImportRuns(database, clock)
        self._turns: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    async def start(
        self, transaction: Transaction, account: Account, request: NewRun
    ) -> StartedRun:
        now = self._clock()
        library = Writable(transaction, account.account_id)
        await self._count(library, now)
        await self._bind(transaction, account, request, now)
        user = await self.user_of(transaction, account, request.source, request.source_user_id)
        resume = await self._resume(library, user, now)
        head = await self._stores.ingest_runs.head(library, _HEAD)
        # Posts also come by events, files and links, so the newest post says nothing about the
        # list. Only a run that has read it does.
        stop_below = await self._stores.ingest_runs.known_below(library, user)
        run = IngestRun(
            run_id=secrets.token_hex(16),
            device_id=device_of(account),
            source=request.source,
            kind=request.kind,
            source_user_id=user.source_user_id,
            client=request.client,
            stop_below=stop_below,
            started_at=now,
            updated_at=now,
        )
        await self._stores.ingest_runs.insert(library, run)
        return StartedRun(
            run_id=run.run_id,
            next_seq=0,
            known_head=[KnownPost(post_id, str(index)) for post_id, index in head],
            stop_below_sort_index=None if stop_below is None else str(stop_below),
            resume=resume,
        )

    async def find(self, account: Account, run_id: str) -> IngestRun:
        is_plain = len(run_id) <= _MAX_ID_LENGTH and run_id.isascii() and run_id.isprintable()
        run = (
            await self._stores.ingest_runs.get(self._library(account.account_id), run_id)
            if is_plain
            else None
        )
        if run is None:
            raise errors.not_found("run", run_id)
        return run

    async def user_of(
        self, reader: Reader, account: Account, source: str, sent: str = ""
    ) -> SourceUser:
        """The account of the source: as sent, or the one that the device is bound to."""
        device_id = device_of(account)
        if not sent and device_id:
            sent = await self._stores.devices.source_user(
                Readable(reader, account.account_id), device_id
            )
        return SourceUser(source, sent)

    async def status_of(self, account: Account, run: IngestRun) -> RunStatus:
        progress = await self._stores.ingest_runs.progress(
            self._library(account.account_id), run.run_id
        )
        run = self._shown(run)
        return RunStatus(
            run_id=run.run_id,
            source=run.source,
            kind=run.kind,
            source_user_id=run.source_user_id,
            client=run.client,
            state=run.state,
            reason=run.reason,
            import_id=run.import_id or None,
            pages=progress.pages,
            next_seq=progress.next_seq,
            cursor=progress.cursor or None,
            removed_candidates=run.candidates,
            removed=run.removed,
            started_at=with_offset(run.started_at),
            updated_at=with_offset(run.updated_at),
        )

    def _shown(self, run: IngestRun) -> IngestRun:
        """A run whose device is silent counts as interrupted. It goes on with its next page."""
        silent_since = self._clock() - limits.INGEST_SILENT_S * MICROSECONDS
        if run.state != RunState.RUNNING or run.updated_at >= silent_since:
            return run
        return msgspec.structs.replace(
            run, state=RunState.INTERRUPTED, reason=EndReason.INTERRUPTED
        )

    async def last_of_devices(self, account_id: int) -> dict[str, IngestRun]:
        """The last run of each device over a list of saved posts, by the id of the device."""
        runs = await self._stores.ingest_runs.last_of_devices(account_id)
        return {device_id: self._shown(run) for device_id, run in runs.items()}

    async def status(self, account: Account) -> IngestStatus:
        latest = await self._stores.ingest_runs.latest(account.account_id)
        library = self._library(account.account_id)
        kept, _ = await self._stores.kept_pages.usage(library)
        used = await self._pages.used(library, day_of(self._clock()))
        device_id = device_of(account)
        bound = await self._stores.devices.source_user(library, device_id)
        return IngestStatus(
            last_run=await self.status_of(account, latest) if latest else None,
            totals=Totals(account.total, kept),
            quota=Quota(used.uses, limits.INGEST_PAGES_PER_DAY, limits.INGEST_PAGES_PER_MINUTE),
            device_id=device_id or None,
            source_user_id=bound or None,
            held_removals=[
                HeldRemovals(run.run_id, run.candidates - run.removed)
                for run in await self.held(account)
            ],
        )

    async def held(self, account: Account) -> list[IngestRun]:
        """Runs whose removals the user has not confirmed, as long as their pages are kept."""
        since = self._clock() - _RESUMABLE
        return list(await self._stores.ingest_runs.held(account.account_id, since, _HELD_SHOWN))

    async def confirm_removals(self, account: Account, run_id: str) -> FinishedRun:
        run = await self.find(account, run_id)
        if run.state != RunState.FINISHED or run.candidates <= run.removed:
            raise Refusal(
                Code.INVALID_REQUEST, f"Run {run_id} has no removals that wait for a confirmation."
            )
        request = {"reason": run.reason, "confirm_removals": True}
        finished = await self.finish(account, run_id, msgspec.convert(request, FinishRequest))
        if finished.is_held:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The pages of run {run_id} are kept for {RETENTION_DAYS} days, and these have "
                "passed. Read the list again.",
            )
        return finished

    def in_turn(self, account: Account, run_id: str) -> asyncio.Lock:
        """Held while a page is stored and while the run is ended: a page may prove its end."""
        return self._turns.setdefault((account.account_id, run_id), asyncio.Lock())

    async def finish(self, account: Account, run_id: str, request: FinishRequest) -> FinishedRun:
        """Ends a run, after the pages that are being stored. Repeating it gives the same answer."""
        async with self.in_turn(account, run_id):
            return await self._finish(account, run_id, request)

    async def _finish(self, account: Account, run_id: str, request: FinishRequest) -> FinishedRun:
        is_interrupted = EndReason(request.reason) is EndReason.INTERRUPTED
        run = await self.find(account, run_id)
        part = await self._removals.read_part(account, run)
        if run.state == RunState.FINISHED and not (request.confirm_removals and part):
            return _finished(run, proved_end=part is not None)
        if is_interrupted:
            part = None
        candidates = await self._removals.candidates(account, run, part)
        removed = 0
        if request.confirm_removals or not self._removals.is_held(account, len(candidates)):
            await self._removals.apply(account, run, candidates)
            removed = len(candidates)
        ended = msgspec.structs.replace(
            run,
            state=RunState.INTERRUPTED if is_interrupted else RunState.FINISHED,
            reason=request.reason,
            # After a confirmation nothing is held, even if posts were listed again since.
            candidates=(
                run.removed + removed
                if request.confirm_removals
                else max(run.candidates, len(candidates))
            ),
            removed=run.removed + removed,
            updated_at=self._clock(),
        )
        await self._end(account, ended)
        return _finished(ended, proved_end=part is not None)

    async def _end(self, account: Account, run: IngestRun) -> None:
        account_id = account.account_id

        async def work(library: Writable) -> None:
            await self._stores.ingest_runs.end(library, run)
            await self._removals.note_completeness(library.transaction, account, run.run_id)

        await self._transact(account_id, work)
        # A page may have started the import since.
        import_id = (await self.find(account, run.run_id)).import_id
        if import_id:
            await self._end_import(account, import_id, run.reason)

    async def import_of(
        self, transaction: Transaction, account: Account, run_id: str, posts: PreparedIntake
    ) -> str | None:
        """The import that takes the posts of a run: they are listed and undone with it.

        It starts with the first post that changes something, so that empty ones are not listed.
        A run that goes on after an interruption stays one import. After an undo it gets another.
        """
        account_id = account.account_id
        library = Writable(transaction, account_id)
        run = await self._stores.ingest_runs.get(library, run_id)
        assert run is not None
        if run.import_id and await self._imports.reopen(transaction, account_id, run.import_id):
            return run.import_id
        if not posts.changes_library:
            return None
        started = await self._imports.start_within(
            transaction,
            account,
            source=run.source,
            kind=run.kind,
            client=run.client,
            source_user_id=run.source_user_id,
            started_at=posts.known.started_at,
        )
        await self._stores.ingest_runs.set_import(library, run_id, started.run_id)
        return started.run_id

    async def _end_import(self, account: Account, import_id: str, reason: str) -> None:
        try:
            await self._imports.finish(account, import_id, reason)
        except Refusal as refused:
            # An account lists only its latest imports.
            if refused.code is not Code.NOT_FOUND:
                raise

    async def note_use(self, account: Account) -> None:
        """Does nothing for a caller with an API key."""
        account_id, device_id, now = account.account_id, device_of(account), self._clock()
        if device_id:
            await self._transact(
                account_id,
                lambda library: self._stores.devices.note_use(
                    library, device_id, now, USE_NOTED_EVERY
                ),
            )

    async def _count(self, library: Writable, now: int) -> None:
        used = await self._started.add(library, day_of(now), uses=1)
        if used.uses > limits.INGEST_RUNS_PER_DAY:
            raise used_up(f"This account has started {limits.INGEST_RUNS_PER_DAY:,} runs", now)

    async def _bind(
        self, transaction: Transaction, account: Account, request: NewRun, now: int
    ) -> None:
        """The first run binds a device to an account of the source."""
        device_id, sent = device_of(account), request.source_user_id
        if not device_id:
            return
        library = Writable(transaction, account.account_id)
        bound = await self._stores.devices.source_user(library, device_id)
        if sent and bound and sent != bound and not request.confirm_source_user:
            raise Refusal(
                Code.SOURCE_USER_MISMATCH,
                f"source_user_id: this device has sent posts of the account {bound}, not of "
                f"{sent}. Ask the user, then send confirm_source_user: true.",
            )
        if sent and sent != bound:
            await self._stores.devices.bind(library, device_id, sent)
        await self._stores.devices.note_use(library, device_id, now, USE_NOTED_EVERY)

    async def _resume(self, library: Writable, user: SourceUser, now: int) -> Resume | None:
        """The last run over the same list that can go on, unless a later one is complete."""
        complete = await self._stores.ingest_runs.last_complete(library, user)
        run = await self._stores.ingest_runs.resumable(
            library, user, after=complete.started_at if complete else 0, since=now - _RESUMABLE
        )
        if run is None:
            return None
        progress = await self._stores.ingest_runs.progress(library, run.run_id)
        return Resume(run.run_id, progress.cursor, progress.next_seq)


def finished_run() -> Refusal:
    return Refusal(Code.RUN_FINISHED, "This run is finished. Start a new one.")


def device_of(account: Account) -> str:
    return account.device_id if isinstance(account, DeviceCaller) else ""


def _finished(run: IngestRun, *, proved_end: bool) -> FinishedRun:
    return FinishedRun(
        run_id=run.run_id,
        state=run.state,
        proved_end=proved_end,
        removed_candidates=run.candidates,
        removed=run.removed,
        is_held=run.candidates > run.removed,
    )


_MINUTE: Final = 60 * MICROSECONDS


class Rates:
    """Counts in memory, so each process of a server counts by itself."""

    def __init__(self, clock: Clock) -> None:
        self._requests = TriesWithin(clock, _MINUTE)
        self._under_way: Counter[int] = Counter()

    def count(self, account: Account) -> None:
        """Refuses a request beyond the rate of the device, or of the account's keys."""
        caller, most = f"{account.account_id} {device_of(account)}", limits.INGEST_PAGES_PER_MINUTE
        if seconds := self._requests.count(caller, most):
            sentence = f"This device has sent {most} requests within a minute, the maximum."
            raise Refusal(Code.RATE_LIMITED, sentence, {"Retry-After": str(seconds)})

    @contextmanager
    def receiving(self, account: Account) -> Iterator[None]:
        """While a large body is received and read."""
        own = self._under_way[account.account_id]
        is_full = self._under_way.total() >= limits.INGEST_CONCURRENT
        if own >= limits.INGEST_CONCURRENT_PER_ACCOUNT or is_full:
            raise Refusal(
                Code.RATE_LIMITED,
                "Too many pages or files are being received; send them one after the other.",
                {"Retry-After": "1"},
            )
        self._under_way[account.account_id] += 1
        try:
            yield
        finally:
            self._under_way[account.account_id] -= 1
            if not self._under_way[account.account_id]:
                del self._under_way[account.account_id]
