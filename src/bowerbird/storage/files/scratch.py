"""Temporary folders of jobs, named after account and job so that leftovers can be found."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from bowerbird.storage import private_files

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
