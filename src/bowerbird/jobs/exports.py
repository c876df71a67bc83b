"""Export jobs: read the posts, create the file, store it, and remove expired files.

Only a completed job offers its file. A file that a killed worker left behind has a random name
that no job refers to, and a recurring task deletes it. PDF and Markdown
files also get the kept images.
"""

import asyncio
import errno
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import structlog

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.exports import tasks, writer
from bowerbird.exports.tasks import FORMATS, Picture, Pictures
from bowerbird.exports.writer import DocumentInfo, ExportFailed, WrittenFile
from bowerbird.images import hosts
from bowerbird.jobs.worker import Failed, JobKind, Progress, Recurring
from bowerbird.library.access import turns
from bowerbird.library.exports import selection
from bowerbird.library.exports.links import DailyBounds, Links
from bowerbird.library.exports.selection import ExportPosts
from bowerbird.library.media.kept import KeptImages
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import CHECKED_FILES
from bowerbird.model.jobs import FOLDER, KIND, RETENTION_S, ExportFile, ExportQuery, Job, folder_of
from bowerbird.model.posts.media import KeptImage, image_urls
from bowerbird.requests import limits
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files, Scratch
from bowerbird.storage.stores import Service, TimedService

_DEMO: Final = hosts.DEMO_HOST.encode()


class ExportPictures(Service):
    """The pictures of one export. Those beyond the limit are described, as without them."""

    def __init__(
        self, database: Database, files: Files, folder: Path, types: frozenset[str]
    ) -> None:
        super().__init__(database)
        self._types = types
        self._kept = KeptImages(database, files)
        self._folder = folder
        self._pictures: Pictures = {}
        self._copied: set[str] = set()
        self._room = limits.EXPORT_PICTURES_BYTES_MAX
        self._has_any: bool | None = None

    async def add(self, account: Account, page: bytes) -> None:
        """Copies the images of a page of posts, which are JSON separated by commas."""
        if self._has_any is None:
            state = await self._stores.media.account(self._library(account.account_id))
            self._has_any = state is not None and state.files > 0
        has_drawings = _DEMO in page
        if not self._has_any and not has_drawings:
            return
        urls = await asyncio.to_thread(_urls, page)
        if has_drawings:
            await asyncio.to_thread(self._draw, urls)
        for url, image in (await self._kept.among(account, urls)).items():
            if image.type in self._types and await self._copy(account, image):
                self._pictures[url] = Picture(image.media_id, image.width, image.height, image.type)

    def _draw(self, urls: Sequence[str]) -> None:
        """The pictures of the demo, which are part of the package."""
        for url in urls:
            if drawing := hosts.drawings_by_url().get(url):
                self._folder.mkdir(exist_ok=True)
                (self._folder / drawing.file).write_bytes(drawing.content)
                self._pictures[url] = Picture(drawing.file, drawing.width, drawing.height)

    async def finish(self) -> Path | None:
        """The folder with the pictures; None if there are none."""
        if not self._pictures:
            return None
        await asyncio.to_thread(tasks.write_pictures, self._folder, self._pictures)
        return self._folder

    async def _copy(self, account: Account, image: KeptImage) -> bool:
        if image.media_id in self._copied:
            return True
        if image.bytes > self._room:
            return False
        opened = await self._kept.find_file(account, image)
        if opened is None:
            return False
        content = b"".join([part async for part in opened.chunks])
        self._folder.mkdir(exist_ok=True)
        await asyncio.to_thread((self._folder / image.media_id).write_bytes, content)
        self._room -= image.bytes
        self._copied.add(image.media_id)
        return True


def _urls(page: bytes) -> list[str]:
    posts: list[dict[str, Any]] = msgspec.json.decode(json_depth.cut(b"[%b]" % page))
    details = [post.get("tweet_details") for post in posts]
    return [url for each in details if isinstance(each, dict) for url in image_urls(each)]


# A page has as many posts as fit into these bytes, so that long texts do not fill the memory and
# short ones are not read in many small turns.
_MAX_PAGE: Final = 512
_PAGE_BYTES: Final = 1 << 20
_WRITE_BYTES: Final = 1 << 20
# The file of posts from which a CSV or PDF file is converted. It is deleted with the job.
_MAX_POSTS_BYTES: Final = limits.EXPORT_BYTES_PER_DAY
# After each page the export pauses for this fraction of the time the page took.
_PAUSE_IDLE: Final = 0.25
# The fraction while the server is busy.
_PAUSE_BUSY: Final = 6
# The server counts as busy for half a second after the event loop was late by this much.
_BUSY_DELAY_S: Final = 0.0005
_BUSY_FOR_S: Final = 0.5
_JOB_RETENTION_DAYS: Final = 30
_JOBS_PER_PAGE: Final = 100
# How long a stopped job waits for its upload to finish.
_UPLOAD_GRACE_S: Final = 5.0
_EMPTY: Final = "No post matches, so the file has none."
_file: Final = msgspec.json.Decoder(ExportFile).decode
_query: Final = msgspec.json.Decoder(ExportQuery).decode


OnPage = Callable[[Account, bytes], Awaitable[None]]


class ExportJobs(TimedService):
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        data_dir: Path,
        meaning: SemanticSearch | None = None,
    ) -> None:
        super().__init__(database, clock)
        self._posts = ExportPosts(database, meaning or SemanticSearch(database))
        self._links = Links(database, clock)
        self._daily = DailyBounds(database, clock)
        self._files = files
        self._scratch = Scratch(data_dir)
        self._log = structlog.get_logger()

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run, retention_s=RETENTION_S, discard=self.discard)

    @property
    def recurring(self) -> list[Recurring]:
        return [
            Recurring("expire exports", 300, self.expire),
            Recurring("delete old jobs", 3_600, self.delete_old_jobs),
            Recurring("delete leftover files", 3_600, self.delete_leftover_files),
            Recurring("rotate the key of links", 3_600, self._links.rotate),
        ]

    async def _run(self, job: Job, progress: Progress) -> bytes:
        query = _query(job.parameters)
        account = await self._stores.accounts.by_id(job.account_id, month_of(self._clock()))
        if account is None:
            raise Failed("The account has been deleted.")
        with self._folder(job) as folder:
            posts = folder / "posts.json"
            types = FORMATS[query.format].pictures
            pictures = ExportPictures(self._database, self._files, folder / "pictures", types)
            add = pictures.add if types else None
            total = await self._write_posts(account, query, posts, _half(progress, query, 0), add)
            output = await self._convert(
                query,
                posts,
                folder,
                total,
                _half(progress, query, 1),
                pictures=await pictures.finish(),
            )
            name = f"{job.job_id}-{secrets.token_hex(8)}{output.suffix}"
            name = f"{folder_of(job.account_id)}/{name}"
            size = output.path.stat().st_size
            await self._put_within_bounds(job.account_id, name, output.path, size)
            file = ExportFile(
                name=name,
                size=size,
                media_type=output.media_type,
                suffix=output.suffix,
                notes=output.notes if total else [_EMPTY, *output.notes],
            )
        return msgspec.json.encode(file)

    async def _put_within_bounds(self, account_id: int, name: str, source: Path, size: int) -> None:
        try:
            day = await self._daily.take_bytes(account_id, size)
        except Refusal as refused:
            raise _final(refused) from refused
        try:
            await self._put(name, source)
        except BaseException:
            with suppress(Refusal):
                await self._daily.give_back(account_id, day, size)
            raise

    async def _put(self, name: str, source: Path) -> None:
        """Leaves no file if it is cancelled, even if the upload completes after that."""
        upload = asyncio.ensure_future(self._files.move(name, source))
        try:
            await asyncio.shield(upload)
        except asyncio.CancelledError:
            await asyncio.wait((upload,), timeout=_UPLOAD_GRACE_S)
            upload.cancel()
            await asyncio.gather(upload, return_exceptions=True)
            with suppress(Refusal):
                await self._files.delete(name)
            raise

    async def discard(self, result: bytes) -> None:
        await self._files.delete(_file(result).name)

    async def _write_posts(
        self,
        account: Account,
        query: ExportQuery,
        target: Path,
        progress: Progress,
        on_page: OnPage | None = None,
    ) -> int:
        """Writes the JSON file of posts that are all chosen first; returns their number."""
        numbers = await self._posts.numbers(account, query)
        await progress(0, len(numbers))
        # A converted file has another size, which is known only when it is written.
        is_final = query.format == "json"
        left = await self._daily.bytes_left(account.account_id) if is_final else _MAX_POSTS_BYTES
        pieces = tasks.to_json_array(self._pages(account, numbers, progress, on_page))
        with target.open("wb") as output:
            if not await _write(output, pieces, left):
                raise Failed(self._daily.too_large().sentence)
        return len(numbers)

    async def _pages(
        self,
        account: Account,
        numbers: Sequence[int],
        progress: Progress,
        on_page: OnPage | None = None,
    ) -> AsyncIterator[bytes]:
        throttle = _Throttle()
        done = 0
        async for page in self._divided(account, numbers):
            started = time.perf_counter()
            body = await self._stores.bookmarks.joined_contents(account, page)
            yield body
            if on_page is not None:
                await on_page(account, body)
            done += len(page)
            await progress(done, len(numbers))
            await throttle.pause(time.perf_counter() - started)

    async def _divided(self, account: Account, numbers: Sequence[int]) -> AsyncIterator[list[int]]:
        """The numbers in pages of at most `_PAGE_BYTES`, or of a single long post."""
        for first in range(0, len(numbers), _MAX_PAGE):
            some = list(numbers[first : first + _MAX_PAGE])
            sizes = await self._stores.bookmarks.content_sizes(account, some)
            while some:
                count = turns.fitting((sizes.get(n, 0) for n in some), _MAX_PAGE, _PAGE_BYTES)
                yield some[:count]
                some = some[count:]

    async def _convert(
        self,
        query: ExportQuery,
        posts: Path,
        folder: Path,
        total: int,
        progress: Progress,
        *,
        pictures: Path | None,
    ) -> WrittenFile:
        about = DocumentInfo(
            title=query.view_name or "Bookmarks",
            created_at=self._clock(),
            total=total,
            description=selection.description_of(query),
        )
        try:
            return await writer.write_export(
                query.format, posts, folder, about, progress, pictures=pictures
            )
        except ExportFailed as failed:
            notes = "".join(getattr(failed, "__notes__", ()))
            self._log.error("export failed", reason=str(failed), notes=notes)
            if failed.is_final:
                raise Failed(str(failed)) from failed
            raise errors.unavailable(str(failed)) from failed

    @contextmanager
    def _folder(self, job: Job) -> Iterator[Path]:
        """A new folder per job, deleted afterwards."""
        try:
            folder = self._scratch.create(job.account_id, job.job_id)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            sentence = "The server's disk is full, so the export could not be written."
            raise errors.unavailable(sentence) from error

    async def expire(self) -> None:
        """Deletes the files whose retention is over, and marks their jobs as expired."""
        while due := await self._stores.jobs.due_to_expire(self._clock(), _JOBS_PER_PAGE):
            for job in due:
                if job.kind == KIND and job.result is not None:
                    await self._expire(job.result)
                await self._stores.jobs.expire(job.account_id, job.job_id)

    async def _expire(self, result: bytes) -> None:
        try:
            await self.discard(result)
        except msgspec.MsgspecError:
            # Possibly written by another release. `delete_leftover_files` deletes its file.
            self._log.warning("export result not decoded")

    async def delete_old_jobs(self) -> None:
        before = self._clock() - _JOB_RETENTION_DAYS * 86_400 * MICROSECONDS
        while accounts := await self._stores.jobs.accounts_with_old(before, _JOBS_PER_PAGE):
            for account_id in accounts:
                await self._stores.jobs.delete_old(account_id, before, _JOBS_PER_PAGE)

    async def delete_leftover_files(self) -> None:
        """Deletes files and folders that killed workers left behind."""
        await self._files.delete_under(FOLDER, older_than_s=2 * RETENTION_S)
        await self._files.delete_under(CHECKED_FILES, older_than_s=limits.CHECKED_FILE_S)
        await asyncio.to_thread(self._scratch.delete_old, time.time() - RETENTION_S)


def _half(progress: Progress, query: ExportQuery, half: int) -> Progress:
    """Reading is half of the work and converting the other half, unless the format is JSON."""

    async def report(done: int, total: int) -> None:
        if query.format == "json":
            await progress(done, total)
        else:
            await progress((half * total + done) // 2, total)

    return report


async def _write(output: IO[bytes], pieces: AsyncIterator[bytes], max_bytes: int) -> bool:
    """Writes on a thread, a megabyte at a time, so that a slow disk does not block requests.

    Stops and returns False if there is more than `max_bytes`.
    """
    buffer: list[bytes] = []
    size = 0
    async for piece in pieces:
        buffer.append(piece)
        size += len(piece)
        max_bytes -= len(piece)
        if max_bytes < 0:
            return False
        if size >= _WRITE_BYTES:
            await asyncio.to_thread(output.writelines, buffer)
            buffer, size = [], 0
    await asyncio.to_thread(output.writelines, buffer)
    return True


def _final(refused: Refusal) -> Exception:
    """A file beyond a bound fails its job at once; another refusal is retried."""
    return Failed(refused.sentence) if refused.code is Code.EXPORT_SIZE_LIMIT else refused


class _Throttle:
    """Slows an export down on a busy server, so that requests stay fast."""

    def __init__(self) -> None:
        self._busy_until = 0.0

    async def pause(self, page_s: float) -> None:
        started = time.perf_counter()
        await asyncio.sleep(0)
        now = time.perf_counter()
        if now - started > _BUSY_DELAY_S:
            self._busy_until = now + _BUSY_FOR_S
        await asyncio.sleep(page_s * (_PAUSE_BUSY if now < self._busy_until else _PAUSE_IDLE))
