"""Makes the files of the sandbox's exports: one at a time, each once, and in memory."""

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
from bowerbird.exports.formats import FORMATS
from bowerbird.exports.writer import DocumentInfo, ExportFailed, ProcessLimits
from bowerbird.model.accounts import Account
from bowerbird.sandbox.tickets import Ticket
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore

MOST_WAITING: Final = 8
_KEPT_BYTES: Final = 16 * 1024 * 1024
_RETRY_AFTER_S: Final = 5
_DAY: Final = 86_400 * MICROSECONDS
# A few dozen posts take a second; what takes longer is not what it should be.
_LIMITS: Final = ProcessLimits(memory_mib=768, cpu_s=30, wall_s=60)

_Key = tuple[str, int, tuple[int, ...]]


class MadeFile(Struct, frozen=True):
    content: bytes
    media_type: str
    suffix: str
    notes: list[str]


class Making:
    def __init__(self, bookmarks: BookmarkStore) -> None:
        self._bookmarks = bookmarks
        self._kept: OrderedDict[_Key, MadeFile] = OrderedDict()
        self._bytes = 0
        self._waiting = 0
        self._turn = asyncio.Semaphore(1)

    async def file(self, account: Account, ticket: Ticket) -> MadeFile:
        """The same for all exports of a day that hold the same posts."""
        key = (ticket.format, ticket.started_at // _DAY, ticket.numbers)
        found = self._found(key)
        if found is not None:
            return found
        if ticket.format == "json":
            return self._keep(key, _as_json(await self._posts(account, ticket)))
        if self._waiting >= MOST_WAITING:
            raise Refusal(
                Code.RATE_LIMITED,
                f"{MOST_WAITING} exports of the sandbox wait for their file; try again later.",
                {"Retry-After": str(_RETRY_AFTER_S)},
            )
        self._waiting += 1
        try:
            async with self._turn:
                # Somebody before us in the queue may have asked for the same.
                return self._found(key) or self._keep(key, await self._make(account, ticket))
        finally:
            self._waiting -= 1

    async def _make(self, account: Account, ticket: Ticket) -> MadeFile:
        posts = await self._posts(account, ticket)
        total = len(ticket.numbers)
        document = DocumentInfo(
            title="Bookmarks",
            created_at=ticket.started_at // _DAY * _DAY,
            total=total,
            description=f"{total} {'post' if total == 1 else 'posts'} of the sandbox.",
        )
        try:
            with tempfile.TemporaryDirectory(prefix="bowerbird-sandbox-") as folder:
                return await _written(ticket.format, posts, Path(folder), document)
        except (ExportFailed, OSError) as error:
            raise errors.unavailable("The sandbox cannot make this file at the moment.") from error

    async def _posts(self, account: Account, ticket: Ticket) -> bytes:
        body, _ = await self._bookmarks.contents(account, ticket.numbers)
        return b"".join([piece async for piece in posts_file.to_json_array(_page(body))])

    def _found(self, key: _Key) -> MadeFile | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def _keep(self, key: _Key, made: MadeFile) -> MadeFile:
        if key not in self._kept:
            self._kept[key] = made
            self._bytes += len(made.content)
        while self._bytes > _KEPT_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].content)
        return made


async def _page(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _as_json(posts: bytes) -> MadeFile:
    return MadeFile(posts, *FORMATS["json"], notes=[])


async def _written(format: str, posts: bytes, folder: Path, document: DocumentInfo) -> MadeFile:
    source = folder / "posts.json"
    await asyncio.to_thread(source.write_bytes, posts)
    made = await writer.write_export(format, source, folder, document, _unheard, limits=_LIMITS)
    content = await asyncio.to_thread(made.path.read_bytes)
    return MadeFile(content, made.media_type, made.suffix, made.notes)


async def _unheard(_done: int, _total: int) -> None:
    """How far it is goes by the clock here."""
