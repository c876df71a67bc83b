"""Exports in the sandbox: the same requests and responses as in the API, but nothing is stored.

The id of an export encodes the whole job: the format, the start time, one bit per post of the
library, and a checksum, which detects altered ids. It is not a secret: a forged id only selects
public sample posts. Files are created one at a time, and cached in memory.
"""

import asyncio
import hashlib
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.exports import tasks, writer
from bowerbird.exports.tasks import FORMATS
from bowerbird.exports.writer import DocumentInfo, ExportFailed, ProcessLimits
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.exports import selection
from bowerbird.library.exports.exports import Download, DownloadLink, ExportJob, ExportProgress
from bowerbird.library.exports.links import LIVES_S, Links
from bowerbird.library.exports.selection import ExportQueries
from bowerbird.model.accounts import Account
from bowerbird.model.instants import with_offset, without_offset
from bowerbird.model.jobs import RETENTION_S, ExportFile, JobState
from bowerbird.requests.exports import ExportRequest
from bowerbird.sandbox.fixtures import Fixtures, SandboxMeaning
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Transaction
from bowerbird.storage.files import OpenFile

_FORMATS: Final[tuple[str, ...]] = tuple(FORMATS)
_TIME_BYTES: Final = 8
_CHECKSUM_BYTES: Final = 8
_HEAD_BYTES: Final = 1 + _TIME_BYTES
_MAX_CHARACTERS: Final = 64


class Ticket(Struct, frozen=True):
    format: str
    started_at: int
    # Bookmark numbers of the selected posts, ascending.
    numbers: tuple[int, ...]


def encode(ticket: Ticket, epoch: int) -> str:
    """With another epoch, and so other sample posts, the id is invalid."""
    body = bytes([_FORMATS.index(ticket.format)])
    body += ticket.started_at.to_bytes(_TIME_BYTES)
    body += _bits(ticket.numbers)
    return (body + _checksum(body, epoch)).hex()


def decode(job_id: str, epoch: int) -> Ticket | None:
    """None if the id was altered or belongs to other sample posts."""
    try:
        raw = bytes.fromhex(job_id[: _MAX_CHARACTERS + 1])
    except ValueError:
        return None
    body, checksum = raw[:-_CHECKSUM_BYTES], raw[-_CHECKSUM_BYTES:]
    # `fromhex` also accepts upper case and spaces; each export has only one id.
    if raw.hex() != job_id or len(body) < _HEAD_BYTES or checksum != _checksum(body, epoch):
        return None
    if body[0] >= len(_FORMATS):
        return None
    return Ticket(
        _FORMATS[body[0]],
        int.from_bytes(body[1:_HEAD_BYTES]),
        tuple(_numbers(int.from_bytes(body[_HEAD_BYTES:]))),
    )


def _bits(numbers: Iterable[int]) -> bytes:
    bits = sum(1 << number for number in numbers)
    return bits.to_bytes((bits.bit_length() + 7) // 8)


def _numbers(bits: int) -> Iterable[int]:
    return (number for number in range(bits.bit_length()) if bits >> number & 1)


def _checksum(body: bytes, epoch: int) -> bytes:
    return hashlib.blake2b(
        body, digest_size=_CHECKSUM_BYTES, key=epoch.to_bytes(8), person=b"sandbox export"
    ).digest()


MAX_WAITING: Final = 8
_CACHE_BYTES: Final = 16 * 1024 * 1024
_RETRY_AFTER_S: Final = 5
_DAY: Final = 86_400 * MICROSECONDS
# A few dozen posts take about a second, so these limits stop only a process that hangs.
_LIMITS: Final = ProcessLimits(memory_mib=768, cpu_s=30, wall_s=60)

_Key = tuple[str, int, tuple[int, ...]]


class SandboxFile(Struct, frozen=True):
    content: bytes
    media_type: str
    suffix: str
    notes: list[str]


class SandboxFiles:
    def __init__(self, bookmarks: BookmarkStore) -> None:
        self._bookmarks = bookmarks
        self._cache: OrderedDict[_Key, SandboxFile] = OrderedDict()
        self._cached_bytes = 0
        self._waiting = 0
        self._one_at_a_time = asyncio.Lock()

    async def get(self, account: Account, ticket: Ticket) -> SandboxFile:
        """Exports of the same posts on the same day share one file."""
        key = (ticket.format, ticket.started_at // _DAY, ticket.numbers)
        cached = self._cached(key)
        if cached is not None:
            return cached
        if ticket.format == "json":
            return self._keep(key, _json_file(await self._posts(account, ticket)))
        if self._waiting >= MAX_WAITING:
            raise Refusal(
                Code.RATE_LIMITED,
                f"{MAX_WAITING} sandbox exports are waiting for their file. Try again later.",
                {"Retry-After": str(_RETRY_AFTER_S)},
            )
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                # Another request may have created it while this one waited.
                return self._cached(key) or self._keep(key, await self._create(account, ticket))
        finally:
            self._waiting -= 1

    async def _create(self, account: Account, ticket: Ticket) -> SandboxFile:
        posts = await self._posts(account, ticket)
        total = len(ticket.numbers)
        document = DocumentInfo(
            title="Bookmarks",
            created_at=ticket.started_at // _DAY * _DAY,
            total=total,
            description=f"{total} {'post' if total == 1 else 'posts'} from the sandbox.",
        )
        try:
            with tempfile.TemporaryDirectory(prefix="bowerbird-sandbox-") as folder:
                return await _write(ticket.format, posts, Path(folder), document)
        except (ExportFailed, OSError) as error:
            raise errors.unavailable(
                "The sandbox cannot create this file at the moment."
            ) from error

    async def _posts(self, account: Account, ticket: Ticket) -> bytes:
        body, _ = await self._bookmarks.contents(account, ticket.numbers)
        return b"".join([piece async for piece in tasks.to_json_array(_stream(body))])

    def _cached(self, key: _Key) -> SandboxFile | None:
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
        return cached

    def _keep(self, key: _Key, file: SandboxFile) -> SandboxFile:
        if key not in self._cache:
            self._cache[key] = file
            self._cached_bytes += len(file.content)
        while self._cached_bytes > _CACHE_BYTES:
            self._cached_bytes -= len(self._cache.popitem(last=False)[1].content)
        return file


async def _stream(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _json_file(posts: bytes) -> SandboxFile:
    json = FORMATS["json"]
    return SandboxFile(posts, json.media_type, json.suffix, notes=[])


async def _write(format: str, posts: bytes, folder: Path, about: DocumentInfo) -> SandboxFile:
    source = folder / "posts.json"
    await asyncio.to_thread(source.write_bytes, posts)
    created = await writer.write_export(
        format, source, folder, about, _ignore_progress, limits=_LIMITS
    )
    content = await asyncio.to_thread(created.path.read_bytes)
    return SandboxFile(content, created.media_type, created.suffix, created.notes)


async def _ignore_progress(_done: int, _total: int) -> None:
    """In the sandbox the progress depends only on the time since the export started."""


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
        self._labels = LabelWords(fixtures.database)
        self._staged = BookmarkStore(fixtures.database.stage)
        self._sandbox_files = SandboxFiles(BookmarkStore(fixtures.database))

    async def create(
        self, transaction: Transaction, account: Account, format: str, request: ExportRequest
    ) -> ExportJob:
        """Nothing is stored: the job's id encodes its format, its start and its posts."""
        now = self._clock()
        query = await self._queries.read(transaction, account, format, request, now)
        filter = await selection.filter_for(self._fixtures.database, account, query.given)
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
        await self._meaning.require(account, transaction)

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
        ticket = decode(job_id, account.epoch)
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
        job_id = encode(ticket, account.epoch)
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
