"""Notices that the files of an open library were deleted or replaced by another program.

SQLite keeps reading and writing the files it has opened, even if they have no name any more.
Everything written to such a file is lost, so the service refuses to use it.
"""

import os
import time
from pathlib import Path
from typing import Final

import structlog

from bowerbird import errors

_INTERVAL_S: Final = 1.0
_RETRY_AFTER_S: Final = 30
_Identity = tuple[int, int]


class FileWatch:
    def __init__(self) -> None:
        self._opened: dict[Path, _Identity] = {}
        self._changed: Path | None = None
        self._checked_at = time.monotonic()

    def add(self, file: Path) -> None:
        """Watches an open file."""
        if found := _identity(file):
            self._opened[file] = found

    def require_unchanged(self) -> None:
        """Checks now. May be called from any thread."""
        if changed := self._find_changed():
            raise _refusal(changed)

    def require_unchanged_lately(self) -> None:
        """Checks at most once per second, for reads. Call it on the event loop."""
        if not self.is_unchanged_lately():
            assert self._changed
            raise _refusal(self._changed)

    def is_unchanged_lately(self) -> bool:
        now = time.monotonic()
        if now - self._checked_at >= _INTERVAL_S:
            self._checked_at = now
            self._note(self._find_changed())
        return self._changed is None

    def _note(self, changed: Path | None) -> None:
        """Logs when the problem begins and when it ends, not once per request."""
        before, self._changed = self._changed, changed
        if changed is not None and before is None:
            structlog.get_logger().error("library_file_replaced", reason=str(_refusal(changed)))
        elif changed is None and before is not None:
            structlog.get_logger().warning("library_file_returned", file=before.name)

    def _find_changed(self) -> Path | None:
        for file, identity in self._opened.items():
            if _identity(file) != identity:
                return file
        return None


def _identity(file: Path) -> _Identity | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - twice as fast as Path.stat, before every write
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _refusal(file: Path) -> errors.Refusal:
    return errors.unavailable(
        f"{file.name} was deleted or replaced while the service runs, so nothing is read or saved. "
        "Restart the service, and restore a backup if posts are missing.",
        _RETRY_AFTER_S,
    )
