"""Notices what other programs do to the files of an open library, without a query.

SQLite keeps reading and writing the files it has opened, even if they have no name any more.
Everything written to such a file is lost, so the service refuses to use it.

The writers' lock file holds a number. It is odd during a write and grows with each write. If a
reader finds the same even number twice, nothing was committed in between. A writer that is killed
leaves the number odd, and readers ignore it until the next write has ended. Reading it takes
0.5 µs; reading a row from SQLite takes 5 µs and the interpreter lock.
"""

import os
import time
from contextlib import suppress
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


_BYTES: Final = 8


class Generation:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_closed = False
        if self._number() is None:
            self._put(_first_number())

    def begin(self) -> None:
        """Call before a transaction, while the lock is held."""
        number = self._number()
        self._put((_first_number() if number is None else number) | 1)

    def end(self) -> None:
        """Call after the commit or rollback, before any answer is delivered."""
        number = self._number()
        # On a full disk an emptied file stays empty, so the number stays unknown.
        with suppress(OSError):
            self._put(((_first_number() if number is None else number) | 1) + 1)

    def settled(self) -> int | None:
        """The current number; None during a write, after a writer was killed, or when closed."""
        number = None if self._is_closed else self._number()
        return None if number is None or number & 1 else number

    def close(self) -> None:
        self._is_closed = True

    def _number(self) -> int | None:
        data = os.pread(self._descriptor, _BYTES, 0)
        return int.from_bytes(data, "little") if len(data) == _BYTES else None

    def _put(self, number: int) -> None:
        os.pwrite(self._descriptor, number.to_bytes(_BYTES, "little"), 0)


def _first_number() -> int:
    """Even, and higher than any number so far: a write takes longer than two nanoseconds."""
    return time.time_ns() & ~1
