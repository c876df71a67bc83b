"""The lock file at which processes that write to a SQLite library take turns.

The kernel wakes the next process when the lock is released. A process that is stopped (Ctrl-Z)
while it holds the lock keeps it, so a wait can last forever: it is measured, and at the end of
this process it is abandoned.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bowerbird import errors
from bowerbird.storage import private_files

LOCK_NAME: Final = "write.lock"
_RETRY_AFTER_S: Final = 5


class LockAbandoned(Exception):  # noqa: N818 - named for what it is
    """The process ends, so nobody waits for the lock any more."""


class WriteLock:
    """Taken by one thread of this process. Other threads ask how long it has been waiting."""

    def __init__(self, folder: Path, limit_s: float) -> None:
        """After `limit_s` of waiting, the lock counts as held for too long."""
        self._file = folder / LOCK_NAME
        self.descriptor = private_files.open_for_update(self._file)
        self._limit_s = limit_s
        self._guard = threading.Lock()
        self._waiting_since: float | None = None
        self._is_reported = False
        self._is_abandoned = False

    @contextmanager
    def held(self) -> Iterator[None]:
        self._waiting_since = time.monotonic()
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)
            with self._guard:
                self._waiting_since = None
                if self._is_abandoned:
                    raise LockAbandoned
            yield
        finally:
            self._waiting_since = None
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def is_free(self) -> bool:
        """Whether no process holds the lock at this moment."""
        descriptor = os.open(self._file, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

    def waited_s(self) -> float:
        """How long our thread has been waiting for the lock."""
        since = self._waiting_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def is_stuck(self) -> bool:
        return self.waited_s() >= self._limit_s

    def refusal(self) -> errors.Refusal:
        return errors.unavailable(
            f"Another process has held {LOCK_NAME} for {self.waited_s():.0f} seconds, so nothing "
            "can be saved. Continue or end the command that was stopped.",
            _RETRY_AFTER_S,
        )

    def start_report(self) -> bool:
        """True once per wait that has become too long."""
        with self._guard:
            if self._is_reported or not self.is_stuck:
                return False
            self._is_reported = True
            return True

    def end_report(self) -> bool:
        """True if the wait that has just ended was reported."""
        with self._guard:
            was_reported, self._is_reported = self._is_reported, False
            return was_reported

    def abandon(self) -> bool:
        """Makes the waiting thread end without a write. False if it does not wait for too long."""
        with self._guard:
            self._is_abandoned = self._is_abandoned or self.is_stuck
            return self._is_abandoned

    def close(self) -> None:
        os.close(self.descriptor)
