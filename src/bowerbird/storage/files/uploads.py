"""Temporary folders of files that are being received and imported.

Each has a lock, which its process holds and which the system releases when the process ends. A
server that starts deletes the folders whose lock nobody holds.
"""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from bowerbird.storage import private_files
from bowerbird.storage.files.scratch import FOLDER, Scratch

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
