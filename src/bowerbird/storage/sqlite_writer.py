"""SQLite's one writer: a thread that commits waiting writes in groups.

A write runs in a savepoint of its own, so that one that fails takes nothing with it; its
answer leaves after the group's commit, which syncs the disk once for all of them. Processes
queue at a lock file, where the kernel wakes the next one, instead of polling SQLite's lock.
"""

import asyncio
import fcntl
import queue
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

import apsw

from bowerbird import errors
from bowerbird.storage.database import Row, Transaction, Values
from bowerbird.storage.generation import Generation

T = TypeVar("T")
Work = Callable[[Transaction], Awaitable[Any]]

LOCK_NAME: Final = "write.lock"
_GROUP_S: Final = 0.020
_AWAY: Final = (
    apsw.FullError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.BusyError,
    apsw.CorruptError,
    apsw.NotADBError,
)


class _Job(NamedTuple):
    work: Work
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


class _Outcome(NamedTuple):
    job: _Job
    value: Any
    error: BaseException | None


class Writer:
    def __init__(self, connect: Callable[[], apsw.Connection], folder: Path) -> None:
        self._connection = connect()
        self._lock = (folder / LOCK_NAME).open("a+b")
        self.generation = Generation(self._lock)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        if self._is_closing:
            raise errors.stopping()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, loop, answer))
        return await answer

    async def close(self) -> None:
        """Finishes the writes that wait, then closes the file. Later writes are refused.

        Refusing starts here, on the thread of the event loop, where writes are queued: from
        another thread the end of the queue could pass a write that has just been accepted.
        """
        self._is_closing = True
        self._jobs.put(None)
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._thread.join()
        self._connection.close()
        self.generation.close()
        self._lock.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._deliver(self._group(job))

    def _deliver(self, outcomes: Sequence[_Outcome]) -> None:
        for outcome in outcomes:
            # Nobody waits for an answer where the loop has ended before its writes did.
            with suppress(RuntimeError):
                outcome.job.loop.call_soon_threadsafe(_deliver, outcome)

    def _group(self, first: _Job) -> list[_Outcome]:
        jobs: list[_Job] = []
        outcomes: list[_Outcome] = []
        try:
            with locked(self._lock), self._noted(), self._transaction():
                for job in self._waiting(first):
                    jobs.append(job)
                    outcomes.append(self._outcome(job))
                    if not self._connection.in_transaction:
                        # Disk full and its like undo the whole transaction, not a savepoint.
                        return _failed(jobs, outcomes, outcomes[-1].error)
        except BaseException as error:  # noqa: BLE001 - the thread must outlive whatever it was
            return _failed(jobs or [first], outcomes, error)
        return outcomes

    def _waiting(self, first: _Job) -> Iterator[_Job]:
        yield first
        end = time.monotonic() + _GROUP_S
        while time.monotonic() < end:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is None:
                self._jobs.put(None)
                return
            yield job

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Lets every process know that what it remembers may be old."""
        self.generation.begin()
        try:
            yield
        finally:
            self.generation.end()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _outcome(self, job: _Job) -> _Outcome:
        try:
            self._connection.execute("SAVEPOINT job")
            value = run_to_end(job.work(SqliteTransaction(self._connection)))
            self._connection.execute("RELEASE job")
        except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
            self._undo()
            failure = translated(error) if isinstance(error, apsw.Error) else error
            return _Outcome(job, None, failure)
        return _Outcome(job, value, None)

    def _undo(self) -> None:
        """Takes one job back, or the whole group where its savepoint is gone."""
        if not self._connection.in_transaction:
            return
        try:
            self._connection.execute("ROLLBACK TO job")
            self._connection.execute("RELEASE job")
        except apsw.Error:
            self._connection.execute("ROLLBACK")


class SqliteTransaction:
    """Statements inside the writer's transaction. Nothing here ever waits."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        return self._connection.execute(sql, values).fetchall()

    async def run(self, sql: str, values: Values) -> None:
        self._connection.execute(sql, values)

    async def run_many(self, sql: str, values: Sequence[Values]) -> None:
        if values:
            self._connection.executemany(sql, values)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        self._connection.execute("SAVEPOINT inner")
        try:
            yield
        except BaseException:
            # Where the whole transaction is gone already, so is the savepoint.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO inner")
                self._connection.execute("RELEASE inner")
            raise
        self._connection.execute("RELEASE inner")


def run_to_end(work: Awaitable[T]) -> T:
    """The result of a coroutine that never waits, without an event loop."""
    coroutine = cast("Coroutine[Any, Any, T]", work)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    coroutine.close()
    raise RuntimeError("A transaction on SQLite must not wait for anything.")


@contextmanager
def locked(file: Any) -> Iterator[None]:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def translated(error: apsw.Error) -> BaseException:
    """A refusal for a temporary problem (disk full, file away); our own bugs stay as they are."""
    if isinstance(error, apsw.ConnectionClosedError):
        return errors.stopping()
    return _away(error) if isinstance(error, _AWAY) else error


def _away(error: BaseException) -> errors.Refusal:
    refusal = errors.unavailable("The database cannot be reached at the moment.")
    if isinstance(error, apsw.FullError):
        refusal = errors.unavailable("The disk is full; this change was not made.", 30)
    # For the log: the caller is not told.
    refusal.__cause__ = error
    return refusal


def _failed(
    jobs: Sequence[_Job], outcomes: Sequence[_Outcome], error: BaseException | None
) -> list[_Outcome]:
    """Nothing of the group stands: each job has its own error, or the one that ended all."""
    if isinstance(error, apsw.Error):
        error = translated(error)
    elif isinstance(error, OSError):
        error = _away(error)
    own = {outcome.job: outcome.error for outcome in outcomes}
    return [_Outcome(job, None, own.get(job) or error) for job in jobs]


def _deliver(outcome: _Outcome) -> None:
    if outcome.job.answer.cancelled():
        return
    if outcome.error is not None:
        outcome.job.answer.set_exception(outcome.error)
    else:
        outcome.job.answer.set_result(outcome.value)
