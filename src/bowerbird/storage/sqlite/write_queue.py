"""The writes that wait for SQLite's writer thread. Accounts take turns.

An account with a hundred waiting writes delays the write of another account by one of them. How
many writes of an account may wait is bounded; the service's own writes are not, because they are
few and must not be refused when callers send many. If very many writes wait in all, only accounts
that already wait are refused: a few busy accounts do not close the queue for the others.

A write that continues another one, of which a part is made, is never refused. A request has at most
one of them.
"""

import queue
import threading
from collections import OrderedDict, deque
from typing import Final, Generic, TypeVar

from bowerbird import errors

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
