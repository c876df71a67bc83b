"""SQLite's only writer: a thread that commits waiting writes in groups.

Each write runs in its own savepoint, so a failing write does not undo the others. Its answer is
delivered after the group's commit, which syncs the disk once for the whole group. Processes wait
at a lock file, where the kernel wakes the next one, instead of polling SQLite's lock. Accounts take
turns (`write_queue.py`).

Many rows are inserted with few statements. Python's lock is released once per statement: with one
statement per row, the thread would wait for the other threads at each row.
"""

import asyncio
import queue
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import copy_context
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

import apsw
import structlog

from bowerbird import errors
from bowerbird.storage.database import Row, Transaction, Values, observed
from bowerbird.storage.sqlite.write_queue import (
    LOCK_NAME,
    FileWatch,
    Generation,
    LockAbandoned,
    WriteLock,
    WriteQueue,
)

# SQLite allows 32,766 values in one statement; a bookmark has 22.
_ROWS: Final = 50
_INSERT: Final = re.compile(
    r"(INSERT INTO .*?\bVALUES\s*)(\((?:(?!ON CONFLICT\b).)*\))(\s*ON CONFLICT\b[^:]*)?", re.DOTALL
)
_PARAMETER: Final = re.compile(r":(\w+)")


def run_in_blocks(connection: apsw.Connection, sql: str, rows: Sequence[Values]) -> None:
    """Runs the statement for each row, in order."""
    block = _block(sql) if len(rows) >= _ROWS else None
    whole = 0
    if block is not None:
        whole = len(rows) - len(rows) % _ROWS
        statement, names = block
        values_of = itemgetter(*names)
        for first in range(0, whole, _ROWS):
            part = map(values_of, rows[first : first + _ROWS])
            connection.execute(statement, tuple(chain.from_iterable(part)))
    if whole < len(rows):
        connection.executemany(sql, rows[whole:])


def _block(sql: str) -> tuple[str, Sequence[str]] | None:
    """The statement for a block of rows, and the names of a row's values. None if there is none."""
    match = _INSERT.fullmatch(sql)
    if match is None:
        return None
    beginning, row, end = match.groups(default="")
    names = _PARAMETER.findall(row)
    if len(names) == 1:
        # `itemgetter` returns a tuple only for several names.
        return None
    return beginning + ", ".join([_PARAMETER.sub("?", row)] * _ROWS) + end, names


T = TypeVar("T")
Work = Callable[[Transaction], Awaitable[Any]]

# A request whose first write has not started by then gets 503.
WRITE_WAIT_S: Final = 8.0
_GROUP_S: Final = 0.020
_JOIN_S: Final = 0.05
_RETRY_AFTER_S: Final = 5
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
    # Taken once: by the writer, which then runs the job, or by the caller, which then gives up.
    turn: threading.Lock
    # Calls a function with the context variables of the caller, as on PostgreSQL. Not the context
    # itself, because that has no hash.
    in_context: Callable[..., Any]

    def take(self) -> bool:
        return self.turn.acquire(blocking=False)


class _Outcome(NamedTuple):
    job: _Job
    value: Any
    error: BaseException | None


class Writer:
    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        folder: Path,
        watch: FileWatch,
        wait_s: float = WRITE_WAIT_S,
    ) -> None:
        """A write that has not started after `wait_s` is refused, unless it continues another."""
        self._connection = connect()
        self._wait_s = wait_s
        # Writes that come later than half of that are refused without waiting.
        self._lock = WriteLock(folder, wait_s / 2)
        self._watch = watch
        watch.add(folder / LOCK_NAME)
        self._probe: asyncio.Task[None] | None = None
        self.generation = Generation(self._lock.descriptor)
        self._jobs: WriteQueue[_Job] = WriteQueue()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,
        *,
        is_continuing: bool = False,
    ) -> T:
        if self._is_closing:
            raise errors.stopping()
        if self._lock.is_stuck:
            self._report_held_lock()
            if not is_continuing:
                raise self._lock.refusal()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        job = _Job(work, loop, answer, threading.Lock(), copy_context().run)
        self._jobs.put(job, account_id, is_continuing=is_continuing)
        expiry = None
        if not is_continuing:
            expiry = loop.call_later(self._wait_s, self._expire, job, account_id)
        try:
            return await answer
        except asyncio.CancelledError:
            self._jobs.remove(job, account_id)
            raise
        finally:
            if expiry is not None:
                expiry.cancel()

    def require_free_lock(self) -> None:
        """Raises a refusal if another process has held the lock for too long."""
        if self._lock.is_stuck:
            self._report_held_lock()
            raise self._lock.refusal()
        if not self._lock.is_free() and (self._probe is None or self._probe.done()):
            # An empty write finds out whether the lock is only busy or held for too long.
            self._probe = asyncio.create_task(self._try_to_write())

    async def _try_to_write(self) -> None:
        async def nothing(_: Transaction) -> None:
            pass

        with suppress(errors.Refusal):
            await self.write(nothing)

    def _expire(self, job: _Job, account_id: int | None) -> None:
        """Refuses a write that has not started yet."""
        if not job.take() or job.answer.done():
            return
        self._jobs.remove(job, account_id)
        if self._lock.is_stuck:
            self._report_held_lock()
            job.answer.set_exception(self._lock.refusal())
        else:
            sentence = "The change waited too long behind others and was not made; retry later."
            job.answer.set_exception(errors.TooManyWaiting(sentence, _RETRY_AFTER_S))

    def _report_held_lock(self) -> None:
        if self._lock.start_report():
            structlog.get_logger().error(
                "write_lock_held", file=LOCK_NAME, seconds=round(self._lock.waited_s(), 1)
            )

    async def close(self) -> None:
        """Finishes the writes that wait, then closes the file. Later writes are refused.

        Refusing starts here, on the thread of the event loop, where writes are queued: from
        another thread the end of the queue could pass a write that has just been accepted.
        """
        self._is_closing = True
        self._jobs.close()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        while self._thread.is_alive():
            self._thread.join(_JOIN_S)
            if self._lock.abandon():
                self._refuse_waiting()
                return
        self._close_files()

    def _refuse_waiting(self) -> None:
        with suppress(queue.Empty):
            while True:
                if (job := self._jobs.get_nowait()).take():
                    self._deliver([_Outcome(job, None, errors.stopping())])

    def _close_files(self) -> None:
        self._connection.close()
        self.generation.close()
        self._lock.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                outcomes = self._group(job)
            except LockAbandoned:
                self._close_files()
                return
            self._deliver(outcomes)

    def _deliver(self, outcomes: Sequence[_Outcome]) -> None:
        # Waking an event loop takes longer than delivering, so it is woken once per group.
        by_loop: dict[asyncio.AbstractEventLoop, list[_Outcome]] = {}
        for outcome in outcomes:
            by_loop.setdefault(outcome.job.loop, []).append(outcome)
        for loop, some in by_loop.items():
            # The event loop may have ended before its writes; then no caller waits for them.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_deliver, some)

    def _group(self, first: _Job) -> list[_Outcome]:
        jobs: list[_Job] = []
        outcomes: list[_Outcome] = []
        try:
            with self._lock.held():
                self._report_released_lock(first.loop)
                self._watch.require_unchanged()
                with self._noted(), self._transaction():
                    for job in self._waiting(first):
                        if not job.take():
                            continue
                        jobs.append(job)
                        outcomes.append(self._outcome(job))
                        if not self._connection.in_transaction:
                            # Errors such as a full disk undo the whole transaction.
                            return _failed(jobs, outcomes, outcomes[-1].error)
        except LockAbandoned:
            raise
        except BaseException as error:  # noqa: BLE001 - the thread must survive every error
            return _failed(jobs or [first], outcomes, error)
        return outcomes

    def _report_released_lock(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._lock.end_report():
            log = structlog.get_logger()
            # On the loop's thread, which owns the log.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: log.warning("write_lock_released"))

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
            work = job.work(_Observed(self._connection))
            value = job.in_context(run_to_end, work)
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
            run_in_blocks(self._connection, sql, values)

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


class _Observed(SqliteTransaction):
    """In the library's file. Nobody observes statements in memory."""

    rows = observed()(SqliteTransaction.rows)
    run = observed()(SqliteTransaction.run)
    run_many = observed()(SqliteTransaction.run_many)


def run_to_end(work: Awaitable[T]) -> T:
    """Runs a coroutine that never waits, without an event loop."""
    coroutine = cast("Coroutine[Any, Any, T]", work)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    coroutine.close()
    raise RuntimeError("A transaction on SQLite must not wait for anything.")


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
    # A job has the context of its caller, which has no hash.
    own = {outcome.job.answer: outcome.error for outcome in outcomes}
    return [_Outcome(job, None, own.get(job.answer) or error) for job in jobs]


def _deliver(outcomes: Sequence[_Outcome]) -> None:
    for job, value, error in outcomes:
        # The caller was cancelled, or gave up.
        if job.answer.done():
            continue
        if isinstance(error, StopIteration):
            # A future accepts every error but this one. Others of the group must get theirs.
            job.answer.set_exception(RuntimeError("a write raised StopIteration"))
        elif error is not None:
            job.answer.set_exception(error)
        else:
            job.answer.set_result(value)
