"""Imports files that were sent to the server, in the background, and reports about each.

The server that received a file imports it. If it stops, the file has to be sent again: importing
what is already there changes nothing. On the website, a file is imported in two steps: a check that
writes nothing to the library, then the import. In between, the file is where export files are, so
that every node of the service can read it.
"""

import asyncio
import hashlib
import os
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec
import structlog
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, day_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import used_up
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.report import FileReport, ImportReport
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.runs import Rates
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import FileImport, checked_files_of
from bowerbird.model.jobs import UNFINISHED, JobState
from bowerbird.requests import limits
from bowerbird.storage import private_files
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.files import Files, UploadFolders
from bowerbird.storage.ingest import FileImportStore
from bowerbird.storage.libraries import INGEST_FILES, DailyUseStore
from bowerbird.storage.stores import TimedService

_AT_ONCE: Final = 2
# What a report calls a file that has no name.
_NAME: Final = "file"
_ALIVE_EVERY_S: Final = 5
# A file whose server has not reported for so long is not imported any more.
_DEAD_AFTER: Final = 120 * MICROSECONDS
# How long the end of an import waits for a database that is away: about a minute, and less than
# `_DEAD_AFTER` if each attempt takes some seconds.
_END_PAUSES_S: Final = (0.2, 1.0, *(5.0,) * 10)
_DAY: Final = 86_400 * MICROSECONDS
_MAX_ID_LENGTH: Final = 64
_STOPPED: Final = "The server stopped during the import. Send the file again."
_ID_BYTES: Final = 16
_report: Final = msgspec.json.Decoder(ImportReport).decode
_encode: Final = msgspec.json.Encoder().encode


def new_job_id() -> str:
    return secrets.token_hex(_ID_BYTES)


class FileJobs(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._imports = ImportRuns(database, clock)
        self._used = DailyUseStore(database, INGEST_FILES)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        # An account has one file imported at a time, so that it cannot take the turns of others.
        self._own_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._tasks: dict[asyncio.Task[None], _Job] = {}
        self._is_closing = False

    async def require_room(self, account: Account) -> None:
        """Refuses a file while the account's earlier ones are being imported, or beyond a bound."""
        now = self._clock()
        library = self._library(account.account_id)
        used = await self._used.used(library, day_of(now))
        if used.uses >= limits.INGEST_FILES_PER_DAY:
            raise used_up(f"This account has sent {limits.INGEST_FILES_PER_DAY:,} files", now)
        unfinished = len(await self.unfinished(account))
        if unfinished >= limits.INGEST_UNFINISHED_FILES:
            raise Refusal(
                Code.RATE_LIMITED,
                f"This account has {unfinished} files that are being imported. Wait until one has "
                "finished.",
                {"Retry-After": str(_ALIVE_EVERY_S)},
            )

    async def unfinished(self, account: Account) -> Sequence[FileImport]:
        now = self._clock()
        return await self._stores.file_imports.unfinished(
            self._library(account.account_id), since=now - _DAY, alive_since=now - _DEAD_AFTER
        )

    async def start(
        self,
        account: Account,
        path: Path,
        size: int,
        *,
        options: ImportOptions,
        client: str,
        on_end: Callable[[], None],
        name: str = "",
        job_id: str = "",
    ) -> FileImport:
        """Imports the file in the background. `on_end` is called once it is not needed any more.

        `name` is for the list of imports. A job with a given `job_id` starts only once.
        """
        now = self._clock()
        file = FileImport(
            job_id=job_id or new_job_id(),
            is_dry_run=options.is_dry_run,
            state=JobState.PENDING,
            done=0,
            size=size,
            report=_encode(_empty_report(options, name)),
            error=None,
            created_at=now,
            alive_at=now,
            completed_at=None,
        )

        async def work(library: Writable) -> bool:
            if not await self._stores.file_imports.insert(library, file):
                return False
            await self._used.add(library, day_of(now), uses=1)
            return True

        if not await self._transact(account.account_id, work):
            raise Refusal(Code.INVALID_REQUEST, "The import of this file has started.")
        job = _Job(account, file, self._stores.file_imports, self._clock, name)
        task = asyncio.create_task(self._run(job, path, options, client))
        self._tasks[task] = job
        task.add_done_callback(self._tasks.pop)
        task.add_done_callback(lambda _: on_end())
        return file

    async def get(self, account: Account, job_id: str) -> FileImport:
        file = await self.find(account, job_id)
        if file is None:
            raise errors.not_found("file", job_id)
        return file

    async def find(self, account: Account, job_id: str) -> FileImport | None:
        is_plain = len(job_id) <= _MAX_ID_LENGTH and job_id.isascii() and job_id.isprintable()
        file = await self._stores.file_imports.get(account.account_id, job_id) if is_plain else None
        if file is None:
            return None
        if file.state in UNFINISHED and file.alive_at < self._clock() - _DEAD_AFTER:
            return msgspec.structs.replace(
                file,
                state=JobState.FAILED,
                error=_STOPPED,
                completed_at=file.alive_at,
                report=await self._counted(account, file),
            )
        return file

    async def _counted(self, account: Account, file: FileImport) -> bytes:
        """The report with the counts of the import: the killed server could not store its last."""
        report = _report(file.report)
        if not report.run_id or not report.files:
            return file.report
        try:
            counts = (await self._imports.get(account, report.run_id)).counts
        except Refusal:
            # An account lists only its latest imports.
            return file.report
        one = report.files[0]
        one.new, one.changed = max(one.new, counts.new), max(one.changed, counts.changed)
        one.unchanged = max(one.unchanged, counts.unchanged)
        one.ignored_deleted = max(one.ignored_deleted, counts.ignored_deleted)
        one.found = one.new + one.changed + one.unchanged + one.ignored_deleted
        return _encode(report)

    async def close(self) -> None:
        """Stops the imports of this process. Their chunks are complete."""
        stopped = dict(self._tasks)
        self._is_closing = True
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, return_exceptions=True)
        self._is_closing = False
        for job in stopped.values():
            # A task that is cancelled before its first step does not run at all.
            if not job.is_ended:
                # Without the database, the job fails when it has not reported for a time.
                with suppress(Refusal):
                    await job.end(job.error if job.is_over else _STOPPED)

    async def finished(self) -> None:
        """Waits until all files of this process are imported."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, job: "_Job", path: Path, options: ImportOptions, client: str) -> None:
        beating = asyncio.create_task(job.keep_alive())
        own_turn = self._own_turns.setdefault(job.account.account_id, asyncio.Lock())
        error: str | None = None
        try:
            async with own_turn, self._turns:
                await self._import(job, path, options, client)
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
        job.error, job.is_over = error, True
        # Otherwise `close` tries once: the server does not wait for a database that is away.
        if not self._is_closing:
            await self._end(job)

    @staticmethod
    async def _end(job: "_Job") -> None:
        for pause_s in _END_PAUSES_S:
            try:
                return await job.end(job.error)
            except Refusal as refused:
                reason = refused.sentence
            await asyncio.sleep(pause_s)
        structlog.get_logger().warning("file import not ended", job=job.file.job_id, reason=reason)
        return None

    async def _import(self, job: "_Job", path: Path, options: ImportOptions, client: str) -> None:
        names = [job.name] if job.name else []
        imports = FileImports(self._database, self._clock, job.account, options, names=names)
        job.report = imports.report
        # Without the import, the report of a killed server could not say what it has imported.
        imports.on_start = job.note_start
        reason = "interrupted"
        with path.open("rb") as file:
            job.open = file.fileno()
            try:
                read = await imports.read(file, job.name or _NAME, client)
                reason = "end"
            finally:
                job.open = None
                await imports.finish(reason)
        if read.problem:
            raise Refusal(Code.INVALID_REQUEST, read.problem)


class _Job:
    """A file while it is imported."""

    def __init__(
        self, account: Account, file: FileImport, store: FileImportStore, clock: Clock, name: str
    ) -> None:
        self.account = account
        self.file = file
        self.name = name
        self.report = _report(file.report)
        # The file, while it is read.
        self.open: int | None = None
        # Whether the import is over, with this error, and whether that is stored.
        self.is_over = False
        self.error: str | None = None
        self.is_ended = False
        self._store = store
        self._clock = clock

    async def keep_alive(self) -> None:
        while True:
            await self.note_start()
            await asyncio.sleep(_ALIVE_EVERY_S)

    async def note_start(self) -> None:
        # The next report may succeed, and the import goes on in any case.
        with suppress(Refusal):
            await self._store_state(JobState.PROCESSING)

    async def end(self, error: str | None) -> None:
        state = JobState.COMPLETED if error is None else JobState.FAILED
        await self._store_state(state, error, self._clock())
        self.is_ended = True

    async def _store_state(
        self, state: JobState, error: str | None = None, completed_at: int | None = None
    ) -> None:
        self.file = msgspec.structs.replace(
            self.file,
            state=state,
            done=self._done(state),
            report=_encode(self.report),
            error=error,
            alive_at=self._clock(),
            completed_at=completed_at,
        )
        await self._store.update(self.account.account_id, self.file)

    def _done(self, state: JobState) -> int:
        """How many bytes of the file were read."""
        if state is JobState.COMPLETED:
            return self.file.size
        if self.open is None:
            return self.file.done
        # Not `tell`, which waits while a thread reads the file.
        return min(os.lseek(self.open, 0, os.SEEK_CUR), self.file.size)


def _empty_report(options: ImportOptions, name: str) -> ImportReport:
    files = [FileReport(name=name)] if name else []
    return ImportReport(is_dry_run=options.is_dry_run, files=files)


def report_of(file: FileImport) -> ImportReport:
    return _report(file.report)


_KEPT: Final = limits.CHECKED_FILE_S * MICROSECONDS
_NO_NAME: Final = "A file without a name"


class ReceivedFile(Struct, frozen=True):
    path: Path
    size: int
    name: str
    with_likes: bool = False


class NotKept(Refusal):
    """The file of a check was imported, deleted or has expired."""


class CheckedImports:
    """Files on the website. Between its check and its import, a file is kept."""

    def __init__(
        self, jobs: FileJobs, folders: UploadFolders, files: Files, clock: Clock, rates: Rates
    ) -> None:
        self._jobs = jobs
        self._folders = folders
        self._files = files
        self._clock = clock
        self._rates = rates

    async def check(
        self, account: Account, receive: Callable[[Path], Awaitable[ReceivedFile]], client: str
    ) -> FileImport:
        """Receives a file into a folder, keeps it, and starts a dry run."""
        account_id = account.account_id
        self._rates.count(account)
        await self._jobs.require_room(account)
        with self._rates.receiving(account), self._folders.receiving(account_id) as folder:
            sent = await receive(folder.path)
            job_id = new_job_id()
            # Older ones of the account give way, and first those that could not be read.
            kept = await self._kept(account)
            failed = [name for name, job in kept if job and job.state == JobState.FAILED]
            await self._files.delete(*failed)
            folder_name = checked_files_of(account_id)
            await self._files.delete_all_but_newest(folder_name, limits.CHECKED_FILES_MAX - 1)
            await self._files.put(_name(account_id, job_id), sent.path)
            return await self._jobs.start(
                account,
                sent.path,
                sent.size,
                options=ImportOptions(with_likes=sent.with_likes, is_dry_run=True),
                client=client,
                on_end=folder.remove,
                name=sent.name or _NO_NAME,
                job_id=job_id,
            )

    def kept_until(self, job: FileImport) -> int:
        return job.created_at + _KEPT

    async def is_kept(self, account_id: int, job: FileImport) -> bool:
        if not job.is_dry_run or self.kept_until(job) < self._clock():
            return False
        return await self._files.size(_name(account_id, job.job_id)) is not None

    async def waiting(self, account: Account) -> list[FileImport]:
        """Files that are being read, and checked ones that are still kept, newest first."""
        found = list(await self._jobs.unfinished(account))
        for _, job in await self._kept(account):
            if job and job.state not in UNFINISHED and self.kept_until(job) >= self._clock():
                found.append(job)
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    async def _kept(self, account: Account) -> list[tuple[str, FileImport | None]]:
        """The kept files and their checks."""
        names = await self._files.names(checked_files_of(account.account_id))
        return [(name, await self._jobs.find(account, name.rpartition("/")[2])) for name in names]

    async def run(self, account: Account, job_id: str, *, with_likes: bool, client: str) -> str:
        """Imports the file of a completed check, once; returns the id of the import's job."""
        check = await self._jobs.get(account, job_id)
        if not check.is_dry_run or check.state != JobState.COMPLETED:
            raise NotKept(Code.INVALID_REQUEST, "The check of this file has not finished.")
        import_id = import_id_of(check)
        if await self._jobs.find(account, import_id):
            return import_id
        try:
            await self._start(account, check, import_id, with_likes=with_likes, client=client)
        except Refusal:
            # The form was sent twice, and the other request has started the import.
            if await self._jobs.find(account, import_id):
                return import_id
            raise
        await self._files.delete(_name(account.account_id, check.job_id))
        return import_id

    async def _start(
        self, account: Account, check: FileImport, import_id: str, *, with_likes: bool, client: str
    ) -> None:
        await self._jobs.require_room(account)
        with self._folders.receiving(account.account_id) as folder:
            path = folder.path / "file"
            await self.copy(account.account_id, check, path)
            await self._jobs.start(
                account,
                path,
                check.size,
                options=ImportOptions(with_likes=with_likes),
                client=client,
                on_end=folder.remove,
                name=report_of(check).files[0].name,
                job_id=import_id,
            )

    async def copy(self, account_id: int, check: FileImport, target: Path) -> None:
        """Copies the file of a check, if it is still kept."""
        is_over = self.kept_until(check) < self._clock()
        kept = None if is_over else await self._files.open(_name(account_id, check.job_id), 0, 0)
        if kept is None:
            raise NotKept(Code.INVALID_REQUEST, "The file is not kept any more. Choose it again.")
        with os.fdopen(private_files.open_new(target), "wb") as file:
            async for chunk in kept.chunks:
                await asyncio.to_thread(file.write, chunk)

    async def cancel(self, account: Account, job_id: str) -> None:
        """Deletes the file of a check."""
        check = await self._jobs.get(account, job_id)
        await self._files.delete(_name(account.account_id, check.job_id))


def _name(account_id: int, job_id: str) -> str:
    return f"{checked_files_of(account_id)}/{job_id}"


def import_id_of(check: FileImport) -> str:
    """An id derived from the check, so that a form that is sent twice starts one import."""
    return hashlib.blake2b(check.job_id.encode(), digest_size=_ID_BYTES).hexdigest()
