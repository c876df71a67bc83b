"""The export job: reads the posts, has the file made, puts it where links lead, and tidies up.

Only a job that completes offers its file: what a killed worker left behind has no name that
anybody knows, and goes with the next tidying.
"""

import asyncio
import errno
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import msgspec
import structlog

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Refusal
from bowerbird.exports import posts_file, writing
from bowerbird.exports.writing import About, ExportFailed, Made
from bowerbird.jobs.leases import Progress
from bowerbird.jobs.worker import Failed, JobKind, Recurring
from bowerbird.library.bookmarks.ranking import Rankings
from bowerbird.library.exports import selection
from bowerbird.library.exports.links import Links
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.exports import FOLDER, KEPT_S, KIND, ExportFile, ExportQuery, folder_of
from bowerbird.model.jobs import Job
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.bookmarks import LONGEST_LIST, BookmarkStore
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files
from bowerbird.storage.files.scratch import Scratch
from bowerbird.storage.jobs import JobStore

# Above the longest list, so that the rows are read on a reader thread; small, for the loop's sake.
_PAGE: Final = LONGEST_LIST + 28
_PIECE_BYTES: Final = 1 << 20
# After a page the export rests: for this part of what the page took it, and for this many times
# as long while requests come in, of which one that waited for the loop tells for a while.
_REST: Final = 0.25
_STEP_BACK: Final = 6
_BUSY_S: Final = 0.0005
_BUSY_FOR_S: Final = 0.5
_KEPT_DAYS: Final = 30
_AT_ONCE: Final = 100
# How long a file that is being put may take to its end when its job is stopped.
_LAST_MOMENT_S: Final = 5.0
_file: Final = msgspec.json.Decoder(ExportFile).decode
_asked: Final = msgspec.json.Decoder(ExportQuery).decode


class ExportJobs:
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        data_dir: Path,
        meaning: SemanticSearch | None = None,
    ) -> None:
        self._meaning = meaning or SemanticSearch(database)
        self._rankings = Rankings(database, self._meaning)
        self._bookmarks = BookmarkStore(database)
        self._accounts = AccountStore(database)
        self._jobs = JobStore(database)
        self._links = Links(database, clock)
        self._files = files
        self._clock = clock
        self._scratch = Scratch(data_dir)
        self._log = structlog.get_logger()

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run, kept_s=KEPT_S, discard=self.discard)

    @property
    def recurring(self) -> list[Recurring]:
        return [
            Recurring("expire exports", 300, self.expire),
            Recurring("forget jobs", 3_600, self.forget),
            Recurring("tidy files", 3_600, self.tidy),
            Recurring("renew the key of links", 3_600, self._links.rotate),
        ]

    async def _run(self, job: Job, progress: Progress) -> bytes:
        asked = _asked(job.parameters)
        account = await self._accounts.by_id(job.account_id, month_of(self._clock()))
        if account is None:
            raise Failed("The account was deleted meanwhile.")
        with self._folder(job) as folder:
            posts = folder / "posts.json"
            written = await self._write_posts(account, asked, posts, _half(progress, asked, 0))
            made = await self._make(asked, posts, folder, written, _half(progress, asked, 1))
            name = f"{job.job_id}-{secrets.token_hex(8)}{made.suffix}"
            name = f"{folder_of(job.account_id)}/{name}"
            await self._put(name, made.path)
            file = ExportFile(
                name=name,
                size=made.path.stat().st_size,
                media_type=made.media_type,
                suffix=made.suffix,
                notes=made.notes,
            )
        return msgspec.json.encode(file)

    async def _put(self, name: str, source: Path) -> None:
        """Leaves nothing when it is stopped: what is being put may come to its end all the same."""
        putting = asyncio.ensure_future(self._files.put(name, source))
        try:
            await asyncio.shield(putting)
        except asyncio.CancelledError:
            await asyncio.wait((putting,), timeout=_LAST_MOMENT_S)
            putting.cancel()
            await asyncio.gather(putting, return_exceptions=True)
            with suppress(Refusal):
                await self._files.delete(name)
            raise

    async def discard(self, result: bytes) -> None:
        await self._files.delete(_file(result).name)

    async def _write_posts(
        self, account: Account, asked: ExportQuery, target: Path, progress: Progress
    ) -> int:
        """The JSON file. Which posts are in it is settled at one moment, before the first."""
        numbers = await self._numbers(account, asked)
        await progress(0, len(numbers))
        with target.open("wb") as output:
            await _write(output, posts_file.framed(self._pages(account, numbers, progress)))
        return len(numbers)

    async def _numbers(self, account: Account, asked: ExportQuery) -> Sequence[int]:
        """In the order they came in, or the nearest first where a meaning was asked for."""
        filter = selection.filter_for(asked.given)
        if filter.meaning is not None:
            chosen = None if asked.post_ids is None else tuple(asked.post_ids)
            narrowed = msgspec.structs.replace(filter, post_ids=chosen)
            store = await self._meaning.require(account)
            return await self._rankings.numbers(account, narrowed, None, store)
        if filter.words is not None and filter.words.is_empty:
            return ()
        return await self._bookmarks.numbers(account, filter, asked.post_ids)

    async def _pages(
        self, account: Account, numbers: Sequence[int], progress: Progress
    ) -> AsyncIterator[bytes]:
        courtesy = _Courtesy()
        for first in range(0, len(numbers), _PAGE):
            began = time.perf_counter()
            body, _ = await self._bookmarks.contents(account, list(numbers[first : first + _PAGE]))
            yield body
            await progress(min(first + _PAGE, len(numbers)), len(numbers))
            await courtesy.rest(time.perf_counter() - began)

    async def _make(
        self, asked: ExportQuery, posts: Path, folder: Path, total: int, progress: Progress
    ) -> Made:
        about = About(
            title=asked.view_name or "Bookmarks",
            made_at=self._clock(),
            total=total,
            description=selection.description_of(asked),
        )
        try:
            return await writing.make(asked.format, posts, folder, about, progress)
        except ExportFailed as failed:
            told = "".join(getattr(failed, "__notes__", ()))
            self._log.error("export not made", reason=str(failed), told=told)
            if failed.is_final:
                raise Failed(str(failed)) from failed
            raise errors.unavailable(str(failed)) from failed

    @contextmanager
    def _folder(self, job: Job) -> Iterator[Path]:
        """A fresh folder a job, gone with it."""
        try:
            folder = self._scratch.fresh(job.account_id, job.job_id)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            sentence = "There is no room left on the server's disk for the export."
            raise errors.unavailable(sentence) from error

    async def expire(self) -> None:
        """Removes the files whose time is over; their jobs say so."""
        while due := await self._jobs.due_to_expire(self._clock(), _AT_ONCE):
            for job in due:
                if job.kind == KIND and job.result is not None:
                    await self._expire(job.result)
                await self._jobs.expire(job.account_id, job.job_id)

    async def _expire(self, result: bytes) -> None:
        try:
            await self.discard(result)
        except msgspec.MsgspecError:
            # Of another release, perhaps. Its file goes with the next tidying.
            self._log.warning("result not read")

    async def forget(self) -> None:
        before = self._clock() - _KEPT_DAYS * 86_400 * MICROSECONDS
        while accounts := await self._jobs.accounts_with_old(before, _AT_ONCE):
            for account_id in accounts:
                await self._jobs.forget_old(account_id, before, _AT_ONCE)

    async def tidy(self) -> None:
        """Removes what nobody offers: files and folders of workers that were killed."""
        await self._files.delete_under(FOLDER, older_than_s=2 * KEPT_S)
        await asyncio.to_thread(self._scratch.remove_old, time.time() - KEPT_S)


def _half(progress: Progress, asked: ExportQuery, half: int) -> Progress:
    """Reading and making are half of the work each, where more is made than what was read."""

    async def report(done: int, total: int) -> None:
        if asked.format == "json":
            await progress(done, total)
        else:
            await progress((half * total + done) // 2, total)

    return report


async def _write(output: IO[bytes], pieces: AsyncIterator[bytes]) -> None:
    """On a thread, a megabyte at a time: a slow disk holds up no request."""
    waiting: list[bytes] = []
    size = 0
    async for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE_BYTES:
            await asyncio.to_thread(output.writelines, waiting)
            waiting, size = [], 0
    await asyncio.to_thread(output.writelines, waiting)


class _Courtesy:
    """Gives way to requests: on a busy server an export takes longer, the lists do not."""

    def __init__(self) -> None:
        self._busy_until = 0.0

    async def rest(self, page_s: float) -> None:
        began = time.perf_counter()
        await asyncio.sleep(0)
        now = time.perf_counter()
        if now - began > _BUSY_S:
            self._busy_until = now + _BUSY_FOR_S
        await asyncio.sleep(page_s * (_STEP_BACK if now < self._busy_until else _REST))
