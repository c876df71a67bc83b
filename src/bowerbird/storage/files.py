"""Stores the files that the service creates, in a folder or in an S3 bucket.

A file appears under its name only when it is complete.

Scratch folders are for files that are being received and imported, and for jobs. The former have a
lock, which their process holds and which the system releases when the process ends. A server that
starts deletes the folders whose lock nobody holds. Folders of jobs are named after account and job
so that leftovers can be found.
"""

import asyncio
import errno
import fcntl
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from bowerbird import errors
from bowerbird.settings import Settings
from bowerbird.storage import private_files

FOLDER: Final = "files"
_READ_BYTES: Final = 1 << 18
_PART_BYTES: Final = 8 << 20
_CONCURRENT_PARTS: Final = 2
_NAMES_PER_PAGE: Final = 500
# How long a store may send nothing. A whole download has a larger limit: its reader may be slow.
SILENCE_S: Final = 20.0
_MAX_DURATION: Final = timedelta(hours=12)
# ENOSPC, as obstore reports it.
_DISK_FULL: Final = "os error 28"


Needed = Callable[[Sequence[str]], Awaitable[Collection[str]]]


class OpenFile(Struct, frozen=True):
    """A file being read: its total size, and the requested bytes."""

    size: int
    chunks: AsyncIterator[bytes]


class Files:
    """Connects, and imports obstore, at first use."""

    def __init__(self, settings: Settings, *, silence_s: float = SILENCE_S) -> None:
        self._settings = settings
        self.scratch = Scratch(settings.data_dir)
        self._silence = timedelta(seconds=silence_s)

    @cached_property
    def folder(self) -> Path | None:
        """The folder of the files; None if they are in S3."""
        parts = urlsplit(self._settings.files_url)
        if parts.scheme == "s3":
            return None
        return Path(unquote(parts.path)) if parts.path else self._settings.data_dir / FOLDER

    @property
    def place(self) -> str:
        """The folder or URL of the files, for messages."""
        return str(self.folder) if self.folder else self._settings.files_url

    async def put(self, name: str, source: Path | bytes) -> None:
        import obstore  # noqa: PLC0415 - takes 80 ms

        with _explained(self.place):
            self._make_folder_of(name)
            await obstore.put_async(
                self._store,
                name,
                source,
                chunk_size=_PART_BYTES,
                max_concurrency=_CONCURRENT_PARTS,
            )
            self._make_private(name)

    async def move(self, name: str, source: Path) -> None:
        """Stores a file that nobody needs at its old place; it may still be there afterwards."""
        try:
            await asyncio.to_thread(self._rename, name, source)
        except OSError:
            # In S3 or another file system. Copying also explains why a folder cannot be written.
            await self.put(name, source)

    def _rename(self, name: str, source: Path) -> None:
        if self.folder is None:
            raise OSError(errno.EXDEV, "the files are in S3")
        self._make_folder_of(name)
        private_files.restrict(source)
        source.replace(self.folder / name)
        private_files.give_to_folder_owner(self.folder / name)

    async def put_new(self, name: str, content: bytes) -> bytes:
        """Stores the content unless the file exists; returns the content of the file."""
        import obstore  # noqa: PLC0415 - takes 80 ms

        with _explained(self.place):
            self._make_folder_of(name)
            try:
                await obstore.put_async(self._store, name, content, mode="create")
            except obstore.exceptions.AlreadyExistsError:
                return bytes(await (await obstore.get_async(self._store, name)).bytes_async())
            self._make_private(name)
            return content

    async def size(self, name: str) -> int | None:
        """None when there is no such file."""
        import obstore  # noqa: PLC0415 - takes 80 ms

        with _explained(self.place):
            try:
                return int((await obstore.head_async(self._store, name))["size"])
            except FileNotFoundError:
                return None

    async def open(self, name: str, first: int, end: int) -> OpenFile | None:
        """The bytes from `first` up to `end`; None when there is no such file."""
        import obstore  # noqa: PLC0415 - takes 80 ms

        with _explained(self.place):
            try:
                found = await obstore.get_async(
                    self._store, name, options={"range": (first, end)} if end else None
                )
            except FileNotFoundError:
                return None
        return OpenFile(int(found.meta["size"]), _chunks(found, self.place))

    async def delete(self, *names: str) -> None:
        """Deletes the files that exist."""
        import obstore  # noqa: PLC0415 - takes 80 ms

        with _explained(self.place):
            for name in names:
                try:
                    await obstore.delete_async(self._store, name)
                except FileNotFoundError:
                    continue

    async def delete_under(
        self, folder: str, older_than_s: float = 0, needed: Needed | None = None
    ) -> int:
        """Deletes the files in a folder but for those that are needed; returns their number.

        `needed` returns those of a page of names.
        """
        before, deleted = time.time() - older_than_s, 0
        old = [
            str(meta["path"])
            for meta in await self._listed(folder)
            if older_than_s == 0 or meta["last_modified"].timestamp() < before
        ]
        for first in range(0, len(old), _NAMES_PER_PAGE):
            page = old[first : first + _NAMES_PER_PAGE]
            kept = () if needed is None else await needed(page)
            names = [name for name in page if name not in kept]
            await self.delete(*names)
            deleted += len(names)
        if self.folder is not None:
            await asyncio.to_thread(_delete_incomplete, self.folder / folder, before)
        return deleted

    async def names(self, folder: str) -> list[str]:
        """The files in a folder, the oldest first."""
        found = sorted(await self._listed(folder), key=lambda meta: meta["last_modified"])
        return [str(meta["path"]) for meta in found]

    async def delete_all_but_newest(self, folder: str, kept: int) -> None:
        found = await self.names(folder)
        await self.delete(*found[: max(len(found) - kept, 0)])

    def _make_folder_of(self, name: str) -> None:
        """Private, unlike the folders that obstore creates."""
        if self.folder is not None:
            private_files.make_folder((self.folder / name).parent)

    def _make_private(self, name: str) -> None:
        if self.folder is not None:
            private_files.restrict(self.folder / name)
            private_files.give_to_folder_owner(self.folder / name)

    async def _listed(self, folder: str) -> Sequence[Any]:
        import obstore  # noqa: PLC0415 - takes 80 ms

        with _explained(self.place):
            return [meta async for page in obstore.list(self._store, folder) for meta in page]

    @cached_property
    def _store(self) -> Any:
        from obstore.store import LocalStore, S3Store  # noqa: PLC0415 - takes 80 ms

        if self.folder is not None:
            private_files.make_folder(self.folder)
            return LocalStore(self.folder)
        parts = urlsplit(self._settings.files_url)
        return S3Store(
            parts.netloc,
            prefix=unquote(parts.path).strip("/") or None,
            config=self._s3_options(),
            client_options={
                "allow_http": self._settings.files_s3_endpoint.startswith("http:"),
                "connect_timeout": timedelta(seconds=5),
                "read_timeout": self._silence,
                "timeout": _MAX_DURATION,
            },
            retry_config={"max_retries": 3, "retry_timeout": self._silence},
        )

    def _s3_options(self) -> Any:
        options = {
            "region": self._settings.files_s3_region,
            "endpoint": self._settings.files_s3_endpoint,
            "access_key_id": self._settings.files_s3_key_id,
            "secret_access_key": self._settings.files_s3_secret,
        }
        return {name: value for name, value in options.items() if value}


async def _chunks(found: Any, place: str) -> AsyncIterator[bytes]:
    with _explained(place):
        async for chunk in found.stream(_READ_BYTES):
            yield bytes(chunk)


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Turns errors into a Refusal. Its cause, for the log, has the place and the reason."""
    from obstore.exceptions import BaseError  # noqa: PLC0415 - takes 80 ms

    try:
        yield
    except (BaseError, OSError) as error:
        if _DISK_FULL in str(error):
            raise errors.unavailable("The server has no disk space left for files.", 30) from error
        cause = ConnectionError(f"{place}: {error}")
        cause.__cause__ = error
        raise errors.unavailable("The files cannot be reached at the moment.", 30) from cause


def _delete_incomplete(folder: Path, before: float) -> None:
    """Deletes what killed writers left behind: their files end in # and a number."""
    for path in folder.rglob("*#*"):
        # Its writer may finish or delete it at the same time.
        with suppress(FileNotFoundError):
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()


# The others are deleted after a day.
MOST_PER_START: Final = 1_000
_NAME: Final = re.compile(r"[0-9]+-upload[0-9a-f]{16}-[a-z0-9_]{8}")
_LOCK: Final = "lock"


class UploadFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        unlocked = path / f"{_LOCK}.new"
        self._lock = private_files.open_new(unlocked)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # It appears under its name only while it is locked.
        unlocked.rename(path / _LOCK)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


class UploadFolders:
    def __init__(self, data_dir: Path) -> None:
        self._scratch = Scratch(data_dir)
        self._folder = data_dir.absolute() / _SCRATCH

    def create(self, account_id: int) -> UploadFolder:
        return UploadFolder(self._scratch.create(account_id, f"upload{secrets.token_hex(8)}"))

    @contextmanager
    def receiving(self, account_id: int) -> Iterator[UploadFolder]:
        """A new folder, which is removed again if what is done inside fails."""
        folder = self.create(account_id)
        try:
            yield folder
        except BaseException:
            folder.remove()
            raise

    def delete_leftovers(self) -> None:
        """Deletes folders whose process was killed."""
        for path in islice(self._own(), MOST_PER_START):
            # Without a lock, it has no content yet.
            with suppress(OSError):
                lock = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
                finally:
                    os.close(lock)

    def _own(self) -> Iterator[Path]:
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    yield Path(entry.path)


_SCRATCH: Final = "scratch"


class Scratch:
    def __init__(self, data_dir: Path) -> None:
        # Absolute: the processes that write export files run in another folder.
        self._folder = data_dir.absolute() / _SCRATCH

    def create(self, account_id: int, job_id: str) -> Path:
        """Creates an empty folder for a job, and deletes those of its earlier attempts."""
        private_files.make_folder(self._folder)
        prefix = f"{account_id}-{job_id}-"
        self._delete(f"{prefix}*")
        created = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))
        private_files.give_to_folder_owner(created)
        return created

    def delete_of_account(self, account_id: int) -> None:
        self._delete(f"{account_id}-*")

    def delete_old(self, before: float) -> None:
        for path in self._folder.glob("*"):
            # Its job may delete it at the same time.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    shutil.rmtree(path, ignore_errors=True)

    def _delete(self, pattern: str) -> None:
        for path in self._folder.glob(pattern):
            shutil.rmtree(path, ignore_errors=True)
