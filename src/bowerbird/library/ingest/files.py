"""Imports files that were sent to the server, in the background, and reports about each.

The server that received a file imports it. If it stops, the file has to be sent again: importing
what is already there changes nothing.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.imports.intake import Intake, ItemResult
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.accounts import Account
from bowerbird.model.ingest import FileImport
from bowerbird.model.jobs import UNFINISHED, JobState
from bowerbird.requests import limits
from bowerbird.sources import reading
from bowerbird.sources.formats import Choices
from bowerbird.sources.found import Found, FoundPost, LeftOut
from bowerbird.sources.recognition import UnknownFile
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest.file_imports import FileImportStore

_CHUNK: Final = 200
_AT_ONCE: Final = 2
_SHOWN: Final = 100
_ALIVE_EVERY_S: Final = 5
# A file whose server has not reported for so long is not imported any more.
_DEAD_AFTER: Final = 120 * MICROSECONDS
_DAY: Final = 86_400 * MICROSECONDS
_MAX_ID_LENGTH: Final = 64
_STOPPED: Final = "The server stopped during the import. Send the file again."


class LeftOutRecord(Struct, frozen=True):
    line: int
    reason: str
    sentence: str


class FileReport(Struct, kw_only=True):
    """What a file has, and what was done with it."""

    format: str = ""
    posts: int = 0
    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    ignored_deleted: int = 0
    # Records that are not imported, by reason, and the first of them.
    left_out: dict[str, int] = {}
    first_left_out: list[LeftOutRecord] = []
    notices: list[str] = []
    # The import, which can be undone; null for a dry run.
    import_id: str | None = None


_report: Final = msgspec.json.Decoder(FileReport).decode
_encode: Final = msgspec.json.Encoder().encode


class FileImports:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._store = FileImportStore(database)
        self._bookmarks = UpsertStore(database)
        self._intake = Intake(database, clock)
        self._runs = ImportRuns(database, clock)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._tasks: dict[asyncio.Task[None], _Job] = {}

    async def require_room(self, account: Account) -> None:
        """Refuses another file while the account's earlier ones are being imported."""
        now = self._clock()
        unfinished = await self._store.unfinished(
            self._database, account.account_id, since=now - _DAY, alive_since=now - _DEAD_AFTER
        )
        if unfinished >= limits.INGEST_UNFINISHED_FILES:
            raise Refusal(
                Code.RATE_LIMITED,
                f"This account has {unfinished} files that are being imported. Wait until one has "
                "finished.",
                {"Retry-After": str(_ALIVE_EVERY_S)},
            )

    async def start(
        self,
        account: Account,
        path: Path,
        size: int,
        *,
        is_dry_run: bool,
        choices: Choices,
        client: str,
        on_end: Callable[[], None],
    ) -> FileImport:
        """Imports the file in the background. `on_end` is called once it is not needed any more."""
        now = self._clock()
        file = FileImport(
            job_id=secrets.token_hex(16),
            is_dry_run=is_dry_run,
            state=JobState.PENDING,
            done=0,
            size=size,
            report=_encode(FileReport()),
            error=None,
            created_at=now,
            alive_at=now,
            completed_at=None,
        )

        async def work(transaction: Transaction) -> None:
            await self._store.insert(transaction, account.account_id, file)

        await self._database.write(work, account.account_id)
        job = _Job(account, file, self._store, self._clock)
        task = asyncio.create_task(self._run(job, path, choices, client))
        self._tasks[task] = job
        task.add_done_callback(self._tasks.pop)
        task.add_done_callback(lambda _: on_end())
        return file

    async def get(self, account: Account, job_id: str) -> FileImport:
        is_plain = len(job_id) <= _MAX_ID_LENGTH and job_id.isascii() and job_id.isprintable()
        file = await self._store.get(account.account_id, job_id) if is_plain else None
        if file is None:
            raise errors.not_found("file", job_id)
        if file.state in UNFINISHED and file.alive_at < self._clock() - _DEAD_AFTER:
            return msgspec.structs.replace(
                file, state=JobState.FAILED, error=_STOPPED, completed_at=file.alive_at
            )
        return file

    async def close(self) -> None:
        """Stops the imports of this process. Their chunks are complete."""
        stopped = dict(self._tasks)
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, return_exceptions=True)
        for job in stopped.values():
            # A task that is cancelled before its first step does not run at all.
            if not job.is_ended:
                await job.end(_STOPPED)

    async def finished(self) -> None:
        """Waits until all files of this process are imported."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, job: "_Job", path: Path, choices: Choices, client: str) -> None:
        beating = asyncio.create_task(job.keep_alive())
        error: str | None = None
        try:
            async with self._turns:
                await self._import(job, path, choices, client)
        except UnknownFile as unknown:
            error = str(unknown)
        except Refusal as refused:
            error = refused.sentence
        except asyncio.CancelledError:
            error = _STOPPED
        except Exception:  # noqa: BLE001 - the report says that the import failed
            structlog.get_logger().exception("file import failed", job=job.file.job_id)
            error = "The import failed because of an internal error. It is logged."
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
        await job.end(error)

    async def _import(self, job: "_Job", path: Path, choices: Choices, client: str) -> None:
        with path.open("rb") as file:
            opened = await asyncio.to_thread(reading.read, file, choices)
            job.report.format = opened.name
            if not job.file.is_dry_run:
                run = await self._runs.start(job.account, source="file", kind="file", client=client)
                job.report.import_id = run.run_id
            reason = "interrupted"
            try:
                while chunk := await asyncio.to_thread(_chunk, opened.found):
                    await self._take(job, chunk)
                    job.done = file.tell()
                reason = "end"
            finally:
                if job.report.import_id is not None:
                    await self._runs.finish(job.account, job.report.import_id, reason)

    async def _take(self, job: "_Job", chunk: list[Found]) -> None:
        posts = [one for one in chunk if isinstance(one, FoundPost)]
        job.note(chunk)
        if job.file.is_dry_run:
            ids = list({one.record.post_id for one in posts})
            known = await self._bookmarks.stored(job.account, ids)
            job.report.inserted += len(ids) - len(known)
        elif posts:
            outcome = await self._intake.take(job.account, posts, run_id=job.report.import_id)
            job.count([result for _, result in outcome.results])


class _Job:
    """A file while it is imported."""

    def __init__(
        self, account: Account, file: FileImport, store: FileImportStore, clock: Clock
    ) -> None:
        self.account = account
        self.file = file
        self.report = FileReport()
        self.done = 0
        self.is_ended = False
        self._store = store
        self._clock = clock

    def note(self, chunk: list[Found]) -> None:
        report = self.report
        for one in chunk:
            if isinstance(one, FoundPost):
                report.posts += 1
            elif isinstance(one, LeftOut):
                report.left_out[one.reason] = report.left_out.get(one.reason, 0) + 1
                if len(report.first_left_out) < _SHOWN:
                    report.first_left_out.append(LeftOutRecord(one.line, one.reason, one.sentence))
            elif len(report.notices) < _SHOWN:
                report.notices.append(one.sentence)

    def count(self, results: list[ItemResult]) -> None:
        self.report.inserted += results.count(ItemResult.NEW)
        self.report.updated += results.count(ItemResult.CHANGED)
        self.report.unchanged += results.count(ItemResult.UNCHANGED)
        self.report.ignored_deleted += results.count(ItemResult.IGNORED_DELETED)

    async def keep_alive(self) -> None:
        while True:
            # The next report may succeed, and the import goes on in any case.
            with suppress(Refusal):
                await self._store_state(JobState.PROCESSING)
            await asyncio.sleep(_ALIVE_EVERY_S)

    async def end(self, error: str | None) -> None:
        if error is None:
            self.done = self.file.size
        state = JobState.COMPLETED if error is None else JobState.FAILED
        await self._store_state(state, error, self._clock())
        self.is_ended = True

    async def _store_state(
        self, state: JobState, error: str | None = None, completed_at: int | None = None
    ) -> None:
        self.file = msgspec.structs.replace(
            self.file,
            state=state,
            done=min(self.done, self.file.size),
            report=_encode(self.report),
            error=error,
            alive_at=self._clock(),
            completed_at=completed_at,
        )
        await self._store.update(self.account.account_id, self.file)


def report_of(file: FileImport) -> FileReport:
    return _report(file.report)


def _chunk(found: Iterator[Found]) -> list[Found]:
    """The next records. Reading them may take long, so this runs on a thread."""
    chunk: list[Found] = []
    for one in found:
        chunk.append(one)
        if len(chunk) >= _CHUNK:
            break
    return chunk
