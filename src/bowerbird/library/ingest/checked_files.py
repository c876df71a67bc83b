"""Keeps a file between its check on the page for imports and its import.

The files are where export files are, so that every node of the service can read them.
"""

import asyncio
from pathlib import Path
from typing import IO, Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.model.ingest import FileImport, checked_files_of
from bowerbird.requests import limits
from bowerbird.storage import private_files
from bowerbird.storage.files.files import Files

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
