"""Temporary folders: of files that are being received and imported, and of jobs.

The former have a lock, which their process holds and which the system releases when the process
ends. A server that starts deletes the folders whose lock nobody holds. Folders of jobs are named
after account and job so that leftovers can be found.
"""

import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

from bowerbird.storage import private_files

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
        self._folder = data_dir.absolute() / FOLDER

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


FOLDER: Final = "scratch"


class Scratch:
    def __init__(self, data_dir: Path) -> None:
        # Absolute: the processes that write export files run in another folder.
        self._folder = data_dir.absolute() / FOLDER

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
