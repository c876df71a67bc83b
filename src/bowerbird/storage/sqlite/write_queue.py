"""How processes and accounts share the files of a SQLite library.

Writers take turns: processes at a lock file, accounts in a queue. The kernel wakes the next process
when the lock is released. A process that is stopped (Ctrl-Z) while it holds the lock keeps it, so a
wait can last forever: it is measured, and at the end of this process it is abandoned.

An account with a hundred waiting writes delays the write of another account by one of them. How
many writes of an account may wait is bounded; the service's own writes are not, because they are
few and must not be refused when callers send many. If very many writes wait in all, only accounts
that already wait are refused: a few busy accounts do not close the queue for the others. A write
that continues another one, of which a part is made, is never refused.

The lock file holds a number, which is odd during a write and grows with each write. If a reader
finds the same even number twice, nothing was committed in between. A writer that is killed leaves
it odd, and readers ignore it until the next write has ended. Reading it takes 0.5 µs; reading a row
from SQLite takes 5 µs and the interpreter lock.

SQLite keeps reading and writing files that it has opened, even if they have no name any more.
Everything written to such a file is lost, so the service refuses to use it.
"""

import fcntl
import os
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Generic, TypeVar

import structlog

from bowerbird import errors
from bowerbird.storage import private_files

LOCK_NAME: Final = "write.lock"
_LOCK_RETRY_AFTER_S: Final = 5


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
            _LOCK_RETRY_AFTER_S,
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


J = TypeVar("J")

WAITING_PER_ACCOUNT: Final = 100
# With this many waiting in all, an account may have one.
_WAITING: Final = 1_000
_WAITING_AT_MOST: Final = 10_000
_RETRY_AFTER_S: Final = 2


class WriteQueue(Generic[J]):
    """Filled on the event loop, emptied by the writer thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # The accounts in the order of their turns. None is the service itself.
        self._waiting: OrderedDict[int | None, deque[J]] = OrderedDict()
        self._count = 0
        self._is_closed = False

    def put(self, job: J, account_id: int | None = None, *, is_continuing: bool = False) -> None:
        """Refuses the job if too many wait. One that continues is the first of its account."""
        with self._changed:
            if account_id is not None and not is_continuing:
                self._require_room(account_id)
            jobs = self._waiting.setdefault(account_id, deque())
            if is_continuing:
                jobs.appendleft(job)
            else:
                jobs.append(job)
            self._count += 1
            self._changed.notify()

    def remove(self, job: J, account_id: int | None) -> bool:
        """Whether the job still waited; then it never runs."""
        with self._changed:
            jobs = self._waiting.get(account_id)
            if jobs is None or job not in jobs:
                return False
            jobs.remove(job)
            self._count -= 1
            if not jobs:
                del self._waiting[account_id]
            return True

    def close(self) -> None:
        """After the jobs that wait, `get` returns None."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def get(self) -> J | None:
        """The next job; waits for one. None when the queue is closed and empty."""
        with self._changed:
            while not self._waiting:
                if self._is_closed:
                    return None
                self._changed.wait()
            return self._next()

    def get_nowait(self) -> J:
        with self._changed:
            if not self._waiting:
                raise queue.Empty
            return self._next()

    def _next(self) -> J:
        account_id, jobs = next(iter(self._waiting.items()))
        job = jobs.popleft()
        self._count -= 1
        if jobs:
            self._waiting.move_to_end(account_id)
        else:
            del self._waiting[account_id]
        return job

    def _require_room(self, account_id: int) -> None:
        own = len(self._waiting.get(account_id, ()))
        if own >= WAITING_PER_ACCOUNT:
            raise errors.TooManyWaiting(
                "Too many changes of this account wait for the database; retry later.",
                _RETRY_AFTER_S,
            )
        if self._count >= (_WAITING if own else _WAITING_AT_MOST):
            raise errors.TooManyWaiting(
                "Too many changes wait for the database; retry later.", _RETRY_AFTER_S
            )


_INTERVAL_S: Final = 1.0
_REPLACED_RETRY_S: Final = 30
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
        _REPLACED_RETRY_S,
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
