"""Imports a file in two steps: a check that writes nothing to the library, then the import.

In between, the file is where export files are, so that every node of the service can read it.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO, Final

from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.imports.file_imports import ImportOptions
from bowerbird.library.ingest.files import FileJobs, new_job_id, report_of
from bowerbird.library.ingest.rates import Rates
from bowerbird.model.accounts import Account
from bowerbird.model.ingest import FileImport, checked_files_of
from bowerbird.model.jobs import JobState
from bowerbird.requests import limits
from bowerbird.storage import private_files
from bowerbird.storage.files.files import Files
from bowerbird.storage.files.uploads import UploadFolders

_KEPT: Final = limits.CHECKED_FILE_S * MICROSECONDS


class CheckedFiles:
    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    async def keep(self, account_id: int, job_id: str, path: Path) -> None:
        """Keeps the file of a dry run. Older ones of the account give way."""
        folder = checked_files_of(account_id)
        await self._files.delete_all_but_newest(folder, limits.CHECKED_FILES_MAX - 1)
        await self._files.put(_name(account_id, job_id), path)

    def kept_until(self, job: FileImport) -> int:
        return job.created_at + _KEPT

    async def is_kept(self, account_id: int, job: FileImport) -> bool:
        if not job.is_dry_run or self.kept_until(job) < self._clock():
            return False
        return await self._files.size(_name(account_id, job.job_id)) is not None

    async def copy(self, account_id: int, job: FileImport, target: Path) -> bool:
        """Copies the file of a dry run; False if it is not kept any more."""
        if not job.is_dry_run or self.kept_until(job) < self._clock():
            return False
        opened = await self._files.open(_name(account_id, job.job_id), 0, 0)
        if opened is None:
            return False
        with _created(target) as file:
            async for chunk in opened.chunks:
                await asyncio.to_thread(file.write, chunk)
        return True

    async def forget(self, account_id: int, job: FileImport) -> None:
        await self._files.delete(_name(account_id, job.job_id))


def _name(account_id: int, job_id: str) -> str:
    return f"{checked_files_of(account_id)}/{job_id}"


def _created(path: Path) -> IO[bytes]:
    return open(private_files.open_new(path), "wb")  # noqa: PTH123 - the caller closes it


_ID_BYTES: Final = 16
_NO_NAME: Final = "A file without a name"


class ReceivedFile(Struct, frozen=True):
    path: Path
    size: int
    name: str
    with_likes: bool = False


class NotKept(Refusal):
    """The file of a check was imported, deleted or has expired."""


class CheckedImports:
    def __init__(
        self, jobs: FileJobs, folders: UploadFolders, files: CheckedFiles, rates: Rates
    ) -> None:
        self._jobs = jobs
        self._folders = folders
        self._files = files
        self._rates = rates

    async def check(
        self, account: Account, receive: Callable[[Path], Awaitable[ReceivedFile]], client: str
    ) -> FileImport:
        """Receives a file into a folder, keeps it, and starts a dry run."""
        self._rates.count(account)
        await self._jobs.require_room(account)
        with self._rates.receiving(account):
            folder = self._folders.create(account.account_id)
            try:
                sent = await receive(folder.path)
                job_id = new_job_id()
                await self._files.keep(account.account_id, job_id, sent.path)
                return await self._jobs.start(
                    account,
                    sent.path,
                    sent.size,
                    options=ImportOptions(with_likes=sent.with_likes, is_dry_run=True),
                    client=client,
                    on_end=folder.remove,
                    name=sent.name or _NO_NAME,
                    job_id=job_id,
                )
            except BaseException:
                folder.remove()
                raise

    async def run(self, account: Account, job_id: str, *, with_likes: bool, client: str) -> str:
        """Imports the file of a completed check, once; returns the id of the import's job."""
        check = await self._jobs.get(account, job_id)
        if not check.is_dry_run or check.state != JobState.COMPLETED:
            raise NotKept(Code.INVALID_REQUEST, "The check of this file has not finished.")
        import_id = import_id_of(check)
        if await self._exists(account, import_id):
            return import_id
        try:
            await self._start(account, check, import_id, with_likes=with_likes, client=client)
        except Refusal:
            # The form was sent twice, and the other request has started the import.
            if await self._exists(account, import_id):
                return import_id
            raise
        await self._files.forget(account.account_id, check)
        return import_id

    async def _start(
        self, account: Account, check: FileImport, import_id: str, *, with_likes: bool, client: str
    ) -> None:
        await self._jobs.require_room(account)
        folder = self._folders.create(account.account_id)
        try:
            await self._jobs.start(
                account,
                await self._copied(account, check, folder.path),
                check.size,
                options=ImportOptions(with_likes=with_likes),
                client=client,
                on_end=folder.remove,
                name=report_of(check).files[0].name,
                job_id=import_id,
            )
        except BaseException:
            folder.remove()
            raise

    async def _copied(self, account: Account, check: FileImport, folder: Path) -> Path:
        path = folder / "file"
        if not await self._files.copy(account.account_id, check, path):
            raise NotKept(Code.INVALID_REQUEST, "The file is not kept any more. Choose it again.")
        return path

    async def cancel(self, account: Account, job_id: str) -> None:
        """Deletes the file of a check."""
        await self._files.forget(account.account_id, await self._jobs.get(account, job_id))

    async def _exists(self, account: Account, job_id: str) -> bool:
        try:
            await self._jobs.get(account, job_id)
        except Refusal as refused:
            if refused.code is Code.NOT_FOUND:
                return False
            raise
        return True


def import_id_of(check: FileImport) -> str:
    """An id derived from the check, so that a form that is sent twice starts one import."""
    return hashlib.blake2b(check.job_id.encode(), digest_size=_ID_BYTES).hexdigest()
