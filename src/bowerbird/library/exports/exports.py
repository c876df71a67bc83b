"""What a caller may do with exports: ask for one, see how it stands, and fetch its file."""

from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import bodies, plans
from bowerbird.library.access.bodies import Body
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.exports import export_bodies
from bowerbird.library.exports.links import LIVES_S, Links
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.exports import KIND, ExportFile, ExportQuery
from bowerbird.model.instants import with_offset, without_offset
from bowerbird.model.jobs import EXPORTS, JobResponse, JobState
from bowerbird.model.views import View
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files, OpenFile
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.views import ViewStore

MOST_UNFINISHED: Final = 100
_WAIT_S: Final = 60
_LONGEST_ID: Final = 64
_asked: Final = msgspec.json.Decoder(ExportQuery).decode
_file: Final = msgspec.json.Decoder(ExportFile).decode


class ExportProgress(Struct, frozen=True):
    done: int
    total: int


class ExportJob(Struct, frozen=True, kw_only=True):
    """An export as the API shows it."""

    job_id: str
    format: str
    status: str
    progress: ExportProgress
    poll_url: str
    file_size: int | None
    error: str | None
    # Sentences about the file: which scripts lack a font, for example.
    notes: list[str]
    created_at: str
    completed_at: str | None
    download_url: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET

    @property
    def path(self) -> str:
        return f"/v1/exports/{self.job_id}"

    @property
    def is_finished(self) -> bool:
        return self.status not in (JobState.PENDING, JobState.PROCESSING)


class Download(Struct, frozen=True):
    """A file to be sent, before any of it is read."""

    file: ExportFile
    # As it is called where it is saved; the first in plain letters.
    plain_title: str
    title: str


class Exports:
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        api_origin: str,
        meaning: SemanticSearch | None = None,
    ) -> None:
        self._meaning = meaning or SemanticSearch(database)
        self._store = JobStore(database)
        self._views = ViewStore(database)
        self._libraries = LibraryStore(database)
        self._files = files
        self._links = Links(database, clock)
        self._clock = clock
        self._api_origin = api_origin

    async def create(
        self, transaction: Transaction, account: Account, format: str, body: Body
    ) -> ExportJob:
        fields = bodies.as_object(body())
        export_bodies.check_plan(account, fields)
        is_by_meaning = fields.get(plans.MEANING) not in (None, "")
        if is_by_meaning:
            await self._meaning.require_within(transaction, account)
        now = self._clock()
        wanted = export_bodies.wanted_of(fields, now)
        # Locked, so that two requests at once do not both find room for the last one.
        await lock_library(self._libraries, transaction, account.account_id)
        view = await self._view(transaction, account, wanted.view_slug)
        asked = export_bodies.asked_of(account, format, wanted, view, now)
        if plans.MEANING in asked.given and not is_by_meaning:
            await self._meaning.require_within(transaction, account)
        await self._require_room(transaction, account)
        job_id = await self._store.add(
            transaction,
            account.account_id,
            KIND,
            msgspec.json.encode(asked),
            priority=EXPORTS,
            now=now,
        )
        made = await self._store.one_within(transaction, account.account_id, job_id)
        assert made is not None
        return self._shown(made)

    async def get(self, account: Account, job_id: str) -> ExportJob:
        job = await self._found(account.account_id, job_id)
        shown = self._shown(job)
        if job.state != JobState.COMPLETED or job.expires_at is None:
            return shown
        now = self._clock()
        if job.expires_at <= now:
            return msgspec.structs.replace(shown, status=JobState.EXPIRED)
        expires_at = min(now + LIVES_S * MICROSECONDS, job.expires_at)
        token = await self._links.token(account.account_id, job_id, expires_at)
        return msgspec.structs.replace(
            shown,
            download_url=f"{shown.poll_url}/file?token={token}",
            expires_at=with_offset(expires_at),
        )

    async def download(self, job_id: str, token: str) -> Download:
        """What a link leads to. Raises a refusal when the link is not good or the file is gone."""
        account_id = await self._links.account_of(token, job_id)
        job = await self._found(account_id, job_id)
        is_there = job.expires_at is not None and job.expires_at > self._clock()
        if job.state != JobState.COMPLETED or not is_there or job.result is None:
            raise _gone()
        file, asked = _file(job.result), _asked(job.parameters)
        day = without_offset(job.created_at)[:10]
        titles = ["-".join(filter(None, ("bowerbird", name, day))) for name in _names(asked)]
        return Download(file, *(title + file.suffix for title in titles))

    async def open(self, file: ExportFile, first: int, end: int) -> OpenFile:
        opened = await self._files.open(file.name, first, end)
        if opened is None:
            raise _gone()
        return opened

    async def _found(self, account_id: int, job_id: str) -> JobResponse:
        job = None
        if len(job_id) <= _LONGEST_ID and job_id.isascii() and job_id.isalnum():
            job = await self._store.one(account_id, job_id)
        if job is None or job.kind != KIND:
            raise errors.not_found("export", job_id)
        return job

    async def _view(
        self, transaction: Transaction, account: Account, slug: str | None
    ) -> View | None:
        if not slug:
            return None
        views = await self._views.held(transaction, account.account_id)
        if slug not in views:
            raise errors.not_found("Smart View", slug)
        return views[slug]

    async def _require_room(self, transaction: Transaction, account: Account) -> None:
        unfinished = await self._store.count_unfinished(transaction, account.account_id, KIND)
        if unfinished >= MOST_UNFINISHED:
            raise Refusal(
                Code.RATE_LIMITED,
                f"This account has {unfinished} unfinished exports; wait until some are done.",
                {"Retry-After": str(_WAIT_S)},
            )

    def _shown(self, job: JobResponse) -> ExportJob:
        file = None if job.result is None else _file(job.result)
        return ExportJob(
            job_id=job.job_id,
            format=_asked(job.parameters).format,
            status=job.state,
            progress=ExportProgress(job.done, job.total),
            poll_url=f"{self._api_origin}/v1/exports/{job.job_id}",
            file_size=None if file is None else file.size,
            # While another try is to come, why the last one failed is nobody's trouble.
            error=job.error if job.state == JobState.FAILED else None,
            notes=file.notes if file else [],
            created_at=with_offset(job.created_at),
            completed_at=None if job.completed_at is None else with_offset(job.completed_at),
        )


def _names(asked: ExportQuery) -> tuple[str, str]:
    """The view's name, in plain letters and as it is, without what no file name may hold."""
    kept = "".join(c if c.isprintable() and c not in '\\/:*?"<>|' else " " for c in asked.view_name)
    return asked.view_slug, " ".join(kept.split())


def _gone() -> Refusal:
    return Refusal(Code.NOT_FOUND, "This export's file is gone; ask for a new export.")


def retry_after_s(job: ExportJob) -> int:
    """When to look again; a PDF takes longer than a file of rows."""
    return 2 if job.format == "pdf" else 1
