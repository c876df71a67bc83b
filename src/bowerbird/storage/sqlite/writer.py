"""SQLite's only writer: a thread that commits waiting writes in groups.

Each write runs in its own savepoint, so a failing write does not undo the others. Its answer is
delivered after the group's commit, which syncs the disk once for the whole group. Processes wait
at a lock file, where the kernel wakes the next one, instead of polling SQLite's lock. Accounts take
turns (`write_queue.py`).
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
from bowerbird.storage.sqlite.generation import Generation
from bowerbird.storage.sqlite.write_queue import WriteQueue

T = TypeVar("T")
Work = Callable[[Transaction], Awaitable[Any]]

LOCK_NAME: Final = "write.lock"
# A request whose write has not started by then gets 503.
WRITE_WAIT_S: Final = 8.0
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
    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        folder: Path,
        wait_s: float = WRITE_WAIT_S,
    ) -> None:
        self._connection = connect()
        self._wait_s = wait_s
        self._lock = (folder / LOCK_NAME).open("a+b")
        self.generation = Generation(self._lock)
        self._jobs: WriteQueue[_Job] = WriteQueue()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    async def write(
        self, work: Callable[[Transaction], Awaitable[T]], account_id: int | None = None
    ) -> T:
        if self._is_closing:
            raise errors.stopping()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        job = _Job(work, loop, answer)
        self._jobs.put(job, account_id)
        expiry = None
        if account_id is not None:
            expiry = loop.call_later(self._wait_s, self._expire, job, account_id)
        try:
            return await answer
        except asyncio.CancelledError:
            self._jobs.remove(job, account_id)
            raise
        finally:
            if expiry is not None:
                expiry.cancel()

    def _expire(self, job: _Job, account_id: int) -> None:
        """Refuses a write that has not started yet."""
        if self._jobs.remove(job, account_id) and not job.answer.done():
            sentence = "The change waited too long behind others and was not made; retry later."
            job.answer.set_exception(errors.unavailable(sentence))

    async def close(self) -> None:
        """Finishes the writes that wait, then closes the file. Later writes are refused.

        Refusing starts here, on the thread of the event loop, where writes are queued: from
        another thread the end of the queue could pass a write that has just been accepted.
        """
        self._is_closing = True
        self._jobs.close()
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
            # The event loop may have ended before its writes; then no caller waits for them.
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
                        # Errors such as a full disk undo the whole transaction.
                        return _failed(jobs, outcomes, outcomes[-1].error)
        except BaseException as error:  # noqa: BLE001 - the thread must survive every error
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
            yield job

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Tells every process that its cached answers may be outdated."""
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
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            self._undo()
            failure = translated(error) if isinstance(error, apsw.Error) else error
            return _Outcome(job, None, failure)
        return _Outcome(job, value, None)

    def _undo(self) -> None:
        """Rolls back one job, or the whole group if the job's savepoint is gone."""
        if not self._connection.in_transaction:
            return
        try:
            self._connection.execute("ROLLBACK TO job")
            self._connection.execute("RELEASE job")
        except apsw.Error:
            self._connection.execute("ROLLBACK")


class SqliteTransaction:
    """Statements inside the writer's transaction. No method here waits."""

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
            # If SQLite has undone the whole transaction, the savepoint is gone too.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO inner")
                self._connection.execute("RELEASE inner")
            raise
        self._connection.execute("RELEASE inner")


def run_to_end(work: Awaitable[T]) -> T:
    """Runs a coroutine that never waits, without an event loop."""
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
    """A refusal for a temporary problem (disk full, file unreachable); bugs are not translated."""
    if isinstance(error, apsw.ConnectionClosedError):
        return errors.stopping()
    return _away(error) if isinstance(error, _AWAY) else error


def _away(error: BaseException) -> errors.Refusal:
    refusal = errors.unavailable("The database cannot be reached at the moment.")
    if isinstance(error, apsw.FullError):
        refusal = errors.unavailable("The disk is full; this change was not made.", 30)
    # For the log only; the caller does not see it.
    refusal.__cause__ = error
    return refusal


def _failed(
    jobs: Sequence[_Job], outcomes: Sequence[_Outcome], error: BaseException | None
) -> list[_Outcome]:
    """The whole group was undone: each job gets its own error, or the error that undid all."""
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
