"""How writers of a SQLite library take turns: processes at a lock file, accounts in a queue.

The kernel wakes the next process when the lock is released. A process that is stopped (Ctrl-Z)
while it holds the lock keeps it, so a wait can last forever: it is measured, and at the end of
this process it is abandoned.

An account with a hundred waiting writes delays the write of another account by one of them. How
many writes of an account may wait is bounded; the service's own writes are not, because they are
few and must not be refused when callers send many. If very many writes wait in all, only accounts
that already wait are refused: a few busy accounts do not close the queue for the others.

A write that continues another one, of which a part is made, is never refused. A request has at most
one of them.
"""

import fcntl
import os
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Generic, TypeVar

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
