"""What an account can do with exports: start one, follow its progress, download its file."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.exports.links import LIVES_S, DailyBounds, Links
from bowerbird.library.exports.selection import ExportPosts, ExportQueries, description_of
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.instants import parse, with_offset, without_offset
from bowerbird.model.jobs import (
    EXPORTS,
    KIND,
    UNFINISHED,
    ExportFile,
    ExportQuery,
    JobResponse,
    JobState,
)
from bowerbird.requests.exports import ExportRequest
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.files import Files, OpenFile
from bowerbird.storage.stores import TimedService
from bowerbird.storage.upkeep.jobs import CANCELLED

MAX_UNFINISHED: Final = 100
MAX_LISTED: Final = 50
_WAIT_S: Final = 60
_MAX_ID_LENGTH: Final = 64
_query: Final = msgspec.json.Decoder(ExportQuery).decode
_file: Final = msgspec.json.Decoder(ExportFile).decode


class ExportProgress(Struct, frozen=True):
    done: int
    """Posts exported so far."""
    total: int
    """Posts to export."""


class DownloadLink(Struct, frozen=True):
    """Proves the right to download a file, until it expires."""

    token: str
    expires_at: str


class ExportJob(Struct, frozen=True, kw_only=True):
    """An export job as its account sees it."""

    job_id: str
    format: str
    status: str
    progress: ExportProgress
    file_size: int | None
    error: str | None
    # Sentences about the file: which scripts lack a font, for example.
    notes: list[str]
    created_at: str
    completed_at: str | None
    # Only while the file can be downloaded.
    link: DownloadLink | None = None
    # How often a worker has started it, when the last time, and why the attempt before failed.
    attempts: int = 0
    started_at: str | None = None
    last_error: str | None = None

    @property
    def is_cancelled(self) -> bool:
        return self.error == CANCELLED

    @property
    def is_finished(self) -> bool:
        return self.status not in (JobState.PENDING, JobState.PROCESSING)


class ListedExport(Struct, frozen=True):
    """An export in the list of its account."""

    job: ExportJob
    # Which posts it contains, in a sentence.
    description: str
    created_at: int
    # When its file is deleted; None without a file.
    expires_at: int | None


class Download(Struct, frozen=True):
    """A file to send, before any of it is read."""

    file: ExportFile
    # The file name to save it under; the first in ASCII.
    plain_title: str
    title: str


class Exports(TimedService):
    def __init__(
        self, database: Database, files: Files, clock: Clock, meaning: SemanticSearch | None = None
    ) -> None:
        super().__init__(database, clock)
        self._meaning = meaning or SemanticSearch(database)
        self._posts = ExportPosts(database, self._meaning)
        self._queries = ExportQueries(database, self._meaning)
        self._daily = DailyBounds(database, clock)
        self._files = files
        self._links = Links(database, clock)

    async def create(
        self, transaction: Transaction, account: Account, format: str, request: ExportRequest
    ) -> ExportJob:
        now = self._clock()
        # Locked, so that two concurrent requests cannot exceed the limit together.
        library = await self._stores.libraries.lock(transaction, account.account_id)
        query = await self._queries.read(transaction, account, format, request, now)
        await self._require_room(library)
        await self._daily.start_one(library)
        job_id = await self._stores.jobs.add(
            library, KIND, msgspec.json.encode(query), priority=EXPORTS, now=now
        )
        entry = activity.entry(self._clock, ActivityKind.EXPORT_STARTED, format)
        await self._stores.activity.add(library, entry)
        made = await self._stores.jobs.one(account.account_id, job_id, transaction)
        assert made is not None
        return _exported(made)

    async def matching(self, account: Account, format: str, request: ExportRequest) -> int:
        """How many posts an export would contain now."""
        query = await self._queries.read(self._database, account, format, request, self._clock())
        return len(await self._posts.numbers(account, query))

    def waiting_s(self, job: ExportJob) -> int:
        """How long ago the export was requested, in seconds."""
        created_at = parse(job.created_at)
        assert created_at is not None
        return (self._clock() - created_at) // MICROSECONDS

    async def start(
        self, database: Database, account: Account, format: str, request: ExportRequest
    ) -> ExportJob:
        """Creates a job in a transaction of its own."""
        return await database.write(
            lambda transaction: self.create(transaction, account, format, request),
            account.account_id,
        )

    async def latest(self, account: Account) -> list[ListedExport]:
        """The newest first. Jobs are deleted after 30 days."""
        jobs = await self._stores.jobs.of_kind(account.account_id, KIND, MAX_LISTED)
        return [self._listed(job) for job in jobs]

    def _listed(self, job: JobResponse) -> ListedExport:
        export, expires_at = _exported(job), job.expires_at
        if job.state == JobState.COMPLETED and (expires_at or 0) <= self._clock():
            export = msgspec.structs.replace(export, status=JobState.EXPIRED)
        has_file = export.status == JobState.COMPLETED
        return ListedExport(
            job=export,
            description=description_of(_query(job.parameters)),
            created_at=job.created_at,
            expires_at=expires_at if has_file else None,
        )

    async def cancel(self, account: Account, job_id: str) -> None:
        """Ends an export that has not ended. A worker notices within a second or two."""
        await self._found(account.account_id, job_id)
        if not await self._stores.jobs.cancel(account.account_id, job_id, now=self._clock()):
            raise Refusal(Code.NOT_FOUND, "The export has already ended.")

    async def delete_file(self, account: Account, job_id: str) -> None:
        """Deletes the file before its day is over. Idempotent."""
        job = await self._found(account.account_id, job_id)
        if job.state == JobState.COMPLETED and job.result is not None:
            await self._files.delete(_file(job.result).name)
            await self._stores.jobs.expire(account.account_id, job_id)

    async def fields_of(self, account: Account, job_id: str) -> tuple[str, dict[str, Any]]:
        """The format and the fields of the request that makes the same export again."""
        query = _query((await self._found(account.account_id, job_id)).parameters)
        fields: dict[str, Any] = dict(query.further if query.view_slug else query.given)
        if query.view_slug:
            fields["view"] = query.view_slug
        if query.post_ids is not None:
            fields["tweet_ids"] = query.post_ids
        return query.format, fields

    async def require_vectors(self, transaction: Transaction, account: Account) -> None:
        """Refuses an export by meaning until the account's vectors are built."""
        await self._meaning.require(account, transaction)

    async def get(self, account: Account, job_id: str) -> ExportJob:
        job = await self._found(account.account_id, job_id)
        export = _exported(job)
        if job.state != JobState.COMPLETED or job.expires_at is None:
            return export
        now = self._clock()
        if job.expires_at <= now:
            return msgspec.structs.replace(export, status=JobState.EXPIRED)
        expires_at = min(now + LIVES_S * MICROSECONDS, job.expires_at)
        token = await self._links.token(account.account_id, job_id, expires_at)
        return msgspec.structs.replace(export, link=DownloadLink(token, with_offset(expires_at)))

    async def download(self, job_id: str, token: str) -> Download:
        """The file of a link. Refuses a link that is invalid, and one whose file was deleted."""
        now = self._clock()
        account_id = await self._links.account_of(token, job_id)
        # The rows and files of a deleted account are removed after it.
        if await self._stores.accounts.by_id(account_id, month_of(now)) is None:
            raise _gone()
        job = await self._found(account_id, job_id)
        is_there = job.expires_at is not None and job.expires_at > now
        if job.state != JobState.COMPLETED or not is_there or job.result is None:
            raise _gone()
        file, query = _file(job.result), _query(job.parameters)
        day = without_offset(job.created_at)[:10]
        titles = ["-".join(filter(None, ("bowerbird", name, day))) for name in _names(query)]
        return Download(file, *(title + file.suffix for title in titles))

    async def open(self, file: ExportFile, first: int, end: int) -> OpenFile:
        opened = await self._files.open(file.name, first, end)
        if opened is None:
            raise _gone()
        return opened

    async def _found(self, account_id: int, job_id: str) -> JobResponse:
        job = None
        if len(job_id) <= _MAX_ID_LENGTH and job_id.isascii() and job_id.isalnum():
            job = await self._stores.jobs.one(account_id, job_id)
        if job is None or job.kind != KIND:
            raise errors.not_found("export", job_id)
        return job

    async def _require_room(self, library: Writable) -> None:
        unfinished = await self._stores.jobs.count_unfinished(library, KIND)
        if unfinished >= MAX_UNFINISHED:
            raise Refusal(
                Code.RATE_LIMITED,
                f"This account has {unfinished} unfinished exports. Wait until some have finished.",
                {"Retry-After": str(_WAIT_S)},
            )


def _exported(job: JobResponse) -> ExportJob:
    file = None if job.result is None else _file(job.result)
    return ExportJob(
        job_id=job.job_id,
        format=_query(job.parameters).format,
        status=job.state,
        progress=ExportProgress(job.done, job.total),
        file_size=None if file is None else file.size,
        # A failed attempt that is going to be retried is not an error yet.
        error=job.error if job.state == JobState.FAILED else None,
        notes=file.notes if file else [],
        created_at=with_offset(job.created_at),
        completed_at=None if job.completed_at is None else with_offset(job.completed_at),
        attempts=job.tries,
        started_at=with_offset(job.started_at) if job.started_at else None,
        last_error=job.error if job.state in UNFINISHED else None,
    )


def _names(query: ExportQuery) -> tuple[str, str]:
    """The view's name in ASCII and as written, without characters that no file name can have."""
    clean = "".join(
        c if c.isprintable() and c not in '\\/:*?"<>|' else " " for c in query.view_name
    )
    plain = "".join(c for c in query.view_slug if c.isascii()).strip("-")
    return plain or ("view" if query.view_slug else ""), " ".join(clean.split())


def _gone() -> Refusal:
    return Refusal(Code.NOT_FOUND, "The file of this export was deleted. Start a new export.")


def retry_after_s(job: ExportJob) -> int:
    """When to poll again. A PDF takes longer than the other formats."""
    return 2 if job.format == "pdf" else 1
