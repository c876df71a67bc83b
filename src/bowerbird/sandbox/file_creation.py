"""Creates the files of sandbox exports, one at a time, and caches them in memory."""

import asyncio
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.exports import posts_file, writer
from bowerbird.exports.tasks import FORMATS
from bowerbird.exports.writer import DocumentInfo, ExportFailed, ProcessLimits
from bowerbird.model.accounts import Account
from bowerbird.sandbox.tickets import Ticket
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore

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
        return b"".join([piece async for piece in posts_file.to_json_array(_stream(body))])

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
    return SandboxFile(posts, *FORMATS["json"], notes=[])


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
