"""Folders for work under way, named by whose it is: what a killed worker leaves can be found."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

FOLDER: Final = "scratch"


class Scratch:
    def __init__(self, data_dir: Path) -> None:
        # Absolute: the processes that write export files run in a folder of their own.
        self._folder = data_dir.absolute() / FOLDER

    def fresh(self, account_id: int, job_id: str) -> Path:
        """An empty folder for a job; what an earlier try of it left is removed."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        whose = f"{account_id}-{job_id}-"
        self._remove(f"{whose}*")
        return Path(tempfile.mkdtemp(prefix=whose, dir=self._folder))

    def forget(self, account_id: int) -> None:
        """Removes all that was made for an account."""
        self._remove(f"{account_id}-*")

    def remove_old(self, before: float) -> None:
        for path in self._folder.glob("*"):
            # Its job may come to its end meanwhile.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    shutil.rmtree(path, ignore_errors=True)

    def _remove(self, pattern: str) -> None:
        for path in self._folder.glob(pattern):
            shutil.rmtree(path, ignore_errors=True)
