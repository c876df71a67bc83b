"""Exports of the sandbox: asked for, shown and fetched as the API's are, and kept nowhere."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.bodies import Body
from bowerbird.library.exports import export_bodies
from bowerbird.library.exports.exports import Download, ExportJob, ExportProgress, Exports
from bowerbird.library.exports.links import LIVES_S
from bowerbird.model.accounts import Account
from bowerbird.model.exports import RETENTION_S, ExportFile, ExportQuery
from bowerbird.model.instants import with_offset, without_offset
from bowerbird.model.jobs import JobState
from bowerbird.openapi.sandbox_routes import moved
from bowerbird.sandbox import tickets
from bowerbird.sandbox.file_creation import MadeFile, Making
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.tickets import Ticket
from bowerbird.settings import Settings
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Transaction
from bowerbird.storage.files.files import Files, OpenFile

TAKES_US: Final = 2 * MICROSECONDS
_WAITS_US: Final = MICROSECONDS // 2
_SKEW_US: Final = 60 * MICROSECONDS
_KEPT_US: Final = RETENTION_S * MICROSECONDS
_asked: Final = msgspec.json.Decoder(ExportQuery).decode


class SandboxJob(ExportJob, frozen=True, kw_only=True):
    @property
    def path(self) -> str:
        return moved(super().path)


class SandboxExports(Exports):
    def __init__(self, fixtures: Fixtures, clock: Clock, settings: Settings) -> None:
        super().__init__(fixtures.database, Files(settings), clock, settings.api_origin)
        self._fixtures = fixtures
        self._staged = BookmarkStore(fixtures.database.stage)
        self._making = Making(BookmarkStore(fixtures.database))

    async def create(
        self, transaction: Transaction, account: Account, format: str, body: Body
    ) -> ExportJob:
        """The real job says what is asked for; it is undone, and its posts go into the id."""
        made = await super().create(transaction, account, format, body)
        job = await self._store.one_within(transaction, account.account_id, made.job_id)
        assert job is not None
        asked = _asked(job.parameters)
        filter = export_bodies.filter_of(asked.given)
        numbers: tuple[int, ...] = ()
        if filter.words is None or not filter.words.is_empty:
            numbers = tuple(await self._staged.numbers(account, filter, asked.post_ids))
        return self._job(account, Ticket(format, self._clock(), numbers), None)

    async def get(self, account: Account, job_id: str) -> ExportJob:
        ticket = self._ticket(account, job_id)
        now = self._clock()
        if self._status(ticket) != JobState.COMPLETED:
            return self._job(account, ticket, None)
        job = self._job(account, ticket, await self._making.file(account, ticket))
        expires_at = min(now + LIVES_S * MICROSECONDS, ticket.started_at + TAKES_US + _KEPT_US)
        token = await self._links.token(account.account_id, job_id, expires_at)
        return msgspec.structs.replace(
            job,
            download_url=f"{job.poll_url}/file?token={token}",
            expires_at=with_offset(expires_at),
        )

    async def download(self, job_id: str, token: str) -> Download:
        account = await self._fixtures.account()
        await self._links.account_of(token, job_id)
        ticket = self._ticket(account, job_id)
        if self._status(ticket) != JobState.COMPLETED:
            raise Refusal(Code.NOT_FOUND, "This export's file is gone; ask for a new export.")
        made = await self._making.file(account, ticket)
        title = f"bowerbird-sandbox-{without_offset(ticket.started_at)[:10]}{made.suffix}"
        file = ExportFile(
            name=job_id, size=len(made.content), media_type=made.media_type, suffix=made.suffix
        )
        return Download(file, title, title)

    async def open(self, file: ExportFile, first: int, end: int) -> OpenFile:
        account = await self._fixtures.account()
        made = await self._making.file(account, self._ticket(account, file.name))
        return OpenFile(file.size, _piece(made.content[first:end]))

    def _ticket(self, account: Account, job_id: str) -> Ticket:
        ticket = tickets.read(job_id, account.epoch)
        # Clocks of processes differ a little; a moment further ahead was not given out.
        if ticket is None or ticket.started_at > self._clock() + _SKEW_US:
            raise errors.not_found("export", job_id)
        return ticket

    def _status(self, ticket: Ticket) -> JobState:
        passed = self._clock() - ticket.started_at
        if passed < _WAITS_US:
            return JobState.PENDING
        if passed < TAKES_US:
            return JobState.PROCESSING
        return JobState.COMPLETED if passed < TAKES_US + _KEPT_US else JobState.EXPIRED

    def _job(self, account: Account, ticket: Ticket, made: MadeFile | None) -> ExportJob:
        job_id = tickets.write(ticket, account.epoch)
        status = self._status(ticket)
        total = len(ticket.numbers)
        passed = min(max(self._clock() - ticket.started_at, _WAITS_US), TAKES_US)
        done = total * (passed - _WAITS_US) // (TAKES_US - _WAITS_US)
        is_over = passed == TAKES_US
        return SandboxJob(
            job_id=job_id,
            format=ticket.format,
            status=status,
            progress=ExportProgress(done, total),
            poll_url=f"{self._api_origin}{moved('/v1/exports')}/{job_id}",
            file_size=None if made is None else len(made.content),
            error=None,
            notes=[] if made is None else made.notes,
            created_at=with_offset(ticket.started_at),
            completed_at=with_offset(ticket.started_at + TAKES_US) if is_over else None,
        )


async def _piece(content: bytes) -> AsyncIterator[bytes]:
    yield content
