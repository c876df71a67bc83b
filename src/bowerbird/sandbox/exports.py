"""Exports in the sandbox: the same requests and responses as in the API, but nothing is stored."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.time_zones import TimeZones
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.exports import selection
from bowerbird.library.exports.exports import Download, DownloadLink, ExportJob, ExportProgress
from bowerbird.library.exports.links import LIVES_S, Links
from bowerbird.library.exports.selection import ExportQueries
from bowerbird.model.accounts import Account
from bowerbird.model.instants import with_offset, without_offset
from bowerbird.model.jobs import RETENTION_S, ExportFile, JobState
from bowerbird.requests.exports import ExportRequest
from bowerbird.sandbox import tickets
from bowerbird.sandbox.file_creation import SandboxFile, SandboxFiles
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.meaning import SandboxMeaning
from bowerbird.sandbox.tickets import Ticket
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Transaction
from bowerbird.storage.files.files import OpenFile

# Time from the request until the job counts as started, and as completed.
_STARTED_US: Final = MICROSECONDS // 2
_COMPLETED_US: Final = 2 * MICROSECONDS
_MAX_CLOCK_SKEW_US: Final = 60 * MICROSECONDS
_KEPT_US: Final = RETENTION_S * MICROSECONDS


class SandboxExports:
    def __init__(self, fixtures: Fixtures, clock: Clock) -> None:
        self._fixtures = fixtures
        self._clock = clock
        self._links = Links(fixtures.database, clock)
        self._meaning = SandboxMeaning(fixtures.database.stage)
        self._queries = ExportQueries(fixtures.database, self._meaning)
        self._zones = TimeZones(fixtures.database)
        self._labels = LabelWords(fixtures.database)
        self._staged = BookmarkStore(fixtures.database.stage)
        self._sandbox_files = SandboxFiles(BookmarkStore(fixtures.database))

    async def create(
        self, transaction: Transaction, account: Account, format: str, request: ExportRequest
    ) -> ExportJob:
        """Nothing is stored: the job's id encodes its format, its start and its posts."""
        now = self._clock()
        query = await self._queries.read(transaction, account, format, request, now)
        filter = await selection.filter_for(self._zones, account, query.given)
        filter = await self._labels.resolved(account, filter)
        numbers: tuple[int, ...] = ()
        if filter.words is None or not filter.words.is_empty:
            matching = msgspec.structs.replace(filter, meaning=None)
            numbers = tuple(await self._staged.numbers(account, matching, query.post_ids))
        if filter.meaning is not None and query.post_ids is None:
            numbers = await self._meaning.near(account, filter.meaning, numbers)
        return self._job(account, Ticket(format, now, numbers), None)

    async def require_vectors(self, transaction: Transaction, account: Account) -> None:
        """Allows it: the sandbox ranks its posts without vectors."""
        await self._meaning.require_within(transaction, account)

    async def get(self, account: Account, job_id: str) -> ExportJob:
        ticket = self._ticket(account, job_id)
        now = self._clock()
        if self._status(ticket) != JobState.COMPLETED:
            return self._job(account, ticket, None)
        job = self._job(account, ticket, await self._sandbox_files.get(account, ticket))
        expires_at = min(now + LIVES_S * MICROSECONDS, ticket.started_at + _COMPLETED_US + _KEPT_US)
        token = await self._links.token(account.account_id, job_id, expires_at)
        return msgspec.structs.replace(job, link=DownloadLink(token, with_offset(expires_at)))

    async def download(self, job_id: str, token: str) -> Download:
        account = await self._fixtures.account()
        await self._links.account_of(token, job_id)
        ticket = self._ticket(account, job_id)
        if self._status(ticket) != JobState.COMPLETED:
            raise Refusal(
                Code.NOT_FOUND, "The file of this export has expired. Start a new export."
            )
        created = await self._sandbox_files.get(account, ticket)
        title = f"bowerbird-sandbox-{without_offset(ticket.started_at)[:10]}{created.suffix}"
        file = ExportFile(
            name=job_id,
            size=len(created.content),
            media_type=created.media_type,
            suffix=created.suffix,
        )
        return Download(file, title, title)

    async def open(self, file: ExportFile, first: int, end: int) -> OpenFile:
        account = await self._fixtures.account()
        created = await self._sandbox_files.get(account, self._ticket(account, file.name))
        return OpenFile(file.size, _stream(created.content[first:end]))

    def _ticket(self, account: Account, job_id: str) -> Ticket:
        ticket = tickets.decode(job_id, account.epoch)
        # The clocks of two processes may differ a little. Any later time is forged.
        if ticket is None or ticket.started_at > self._clock() + _MAX_CLOCK_SKEW_US:
            raise errors.not_found("export", job_id)
        return ticket

    def _status(self, ticket: Ticket) -> JobState:
        elapsed = self._clock() - ticket.started_at
        if elapsed < _STARTED_US:
            return JobState.PENDING
        if elapsed < _COMPLETED_US:
            return JobState.PROCESSING
        return JobState.COMPLETED if elapsed < _COMPLETED_US + _KEPT_US else JobState.EXPIRED

    def _job(self, account: Account, ticket: Ticket, file: SandboxFile | None) -> ExportJob:
        job_id = tickets.encode(ticket, account.epoch)
        status = self._status(ticket)
        total = len(ticket.numbers)
        elapsed = min(max(self._clock() - ticket.started_at, _STARTED_US), _COMPLETED_US)
        done = total * (elapsed - _STARTED_US) // (_COMPLETED_US - _STARTED_US)
        is_started = status != JobState.PENDING
        is_completed = elapsed == _COMPLETED_US
        return ExportJob(
            job_id=job_id,
            format=ticket.format,
            status=status,
            progress=ExportProgress(done, total),
            file_size=None if file is None else len(file.content),
            error=None,
            notes=[] if file is None else file.notes,
            created_at=with_offset(ticket.started_at),
            attempts=int(is_started),
            started_at=with_offset(ticket.started_at + _STARTED_US) if is_started else None,
            completed_at=with_offset(ticket.started_at + _COMPLETED_US) if is_completed else None,
        )


async def _stream(content: bytes) -> AsyncIterator[bytes]:
    yield content
