"""The library in PostgreSQL, shared by any number of server processes.

Also says which errors are temporary, and which refusal each of them becomes.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final, TypeVar, cast

import asyncpg
from msgspec import Struct

from bowerbird import errors
from bowerbird.model.accounts import Account
from bowerbird.model.words import Match, WordQuery
from bowerbird.storage import migrations, queries
from bowerbird.storage.database import (
    Lists,
    LockTimeoutError,
    Row,
    Transaction,
    Values,
    WordRead,
    observed,
)
from bowerbird.storage.fair_queue import IN_BACKGROUND, Bounds, FairQueue, Owner
from bowerbird.storage.queries import counting_in_tsquery, for_tsquery, vector_text

AWAY: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.LockNotAvailableError,
    LockTimeoutError,
)
# The connection is lost, but the server may be up. asyncpg raises an internal error when the server
# ended the connection between two requests.
CUT: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.IdleSessionTimeoutError,
    ConnectionError,
)
# A transaction that lost against a concurrent one succeeds when it runs again.
LOST: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)

_UNREACHABLE: Final = "The database cannot be reached at the moment."
_FULL: Final = "The database's disk is full; this change was not made."
_NOT_MIGRATED: Final = "The database has not been migrated. Run: bowerbird migrate"
_READ_LOCKED: Final = "The read waited too long for a change to finish."
_WRITE_LOCKED: Final = "The change waited too long for another one to finish; nothing was changed."
_SOON_S: Final = 1


def refused_read(error: BaseException) -> errors.Refusal:
    if isinstance(error, asyncpg.QueryCanceledError):
        return errors.unavailable("The read took too long and was stopped.")
    if isinstance(error, asyncpg.LockNotAvailableError):
        return errors.unavailable(_READ_LOCKED, _SOON_S)
    return _unavailable(error)


def refused_write(error: BaseException | None) -> errors.Refusal:
    if isinstance(error, LOST):
        return errors.unavailable("Concurrent changes to this account conflicted; retry.", _SOON_S)
    if isinstance(error, asyncpg.QueryCanceledError):
        return errors.unavailable("The change took too long and was undone.")
    if isinstance(error, LockTimeoutError):
        return errors.unavailable(_WRITE_LOCKED, _SOON_S)
    return _unavailable(error)


def unreachable() -> errors.Refusal:
    return errors.unavailable(_UNREACHABLE)


def _unavailable(error: BaseException | None) -> errors.Refusal:
    if isinstance(error, TimeoutError):
        return errors.unavailable("The database did not answer in time.")
    if isinstance(error, asyncpg.DiskFullError):
        return errors.unavailable(_FULL, 30)
    if isinstance(error, asyncpg.UndefinedTableError):
        return errors.unavailable(_NOT_MIGRATED)
    return unreachable()


T = TypeVar("T")

_TRIES: Final = 3
# Writes of one account wait for each other's lock on the library, so a few connections suffice.
_LEAST_WRITES: Final = 2
_WRITE_SHARE: Final = 4
# With this many connections, two accounts can read slowly and one connection is left.
_SHARED_FROM: Final = 3
_WAITING: Final = 1_000
# Enough for a connection that is open already.
_LEAST_ACQUIRE_S: Final = 0.1
# The server stops a slow statement itself; only a server that does not answer exceeds this.
_ANSWER_MARGIN_S: Final = 0.5
# Per connection.
_STATEMENTS: Final = 100


class Limits(Struct, frozen=True):
    """How long a call may take: together under ten seconds, even if the server is frozen."""

    # For a free connection, whether it is in use by others or has to be opened.
    wait_s: float = 2.5
    # For a lock that another transaction holds.
    lock_s: float = 5.0
    statement_s: float = 6.5

    @property
    def answer_s(self) -> float:
        """After this time without an answer the server counts as unreachable."""
        return self.statement_s + _ANSWER_MARGIN_S


class PostgresDatabase:
    dialect: Final = "postgres"

    def __init__(
        self,
        pool: "asyncpg.Pool[asyncpg.Record]",
        limits: Limits | None = None,
    ) -> None:
        """`limits` are those that the pool was opened with."""
        self._pool = pool
        self._limits = limits or Limits()
        size = pool.get_max_size()
        # No account takes every connection, whatever it reads and writes.
        most = max(1, size - 1)
        # Half of the connections is reserved for keys, pages and writes, which take milliseconds.
        slow = max(2 if size >= _SHARED_FROM else 1, size // 2)
        self._slow_reads = FairQueue("database connection", slow, max(1, slow - 1), Bounds())
        writes = min(most, max(_LEAST_WRITES, size // _WRITE_SHARE))
        self._writes = FairQueue("database connection", size, writes, Bounds(), for_service=size)
        self._connections = FairQueue(
            "database connection",
            size,
            most,
            Bounds(per_account=_WAITING, total=_WAITING),
            for_service=size,
        )
        self._slow_fetches: set[asyncio.Future[Any]] = set()
        # Whether the schema has been seen to fit this release.
        self._fits = False

    def queries(self, resource: str) -> queries.Queries:
        return queries.load(resource, self.dialect)

    def generation(self) -> int | None:
        return None

    def match(self, query: WordQuery) -> Match:
        return for_tsquery(query)

    def counting(self, words: Sequence[str]) -> str:
        return counting_in_tsquery(words)

    def stored_words(self, index_text: str) -> str:
        return vector_text(index_text)

    async def computed(self, work: Callable[[], T]) -> T:
        # Transactions run on the event loop.
        return await asyncio.to_thread(work)

    def lists(self, account: Account) -> Lists:  # noqa: ARG002 - for a subclass
        return self

    @observed()
    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        if not self._fits:
            await self.require_ready()
        return await self._read(sql, values, self._deadline())

    @observed()
    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        if not self._fits:
            await self.require_ready()
        deadline = self._deadline()
        owner, in_background = values.get("account_id"), IN_BACKGROUND.get()
        async with self._slow_reads.slot(owner, self._limits.wait_s, in_background=in_background):
            deadline = self._deadline() if in_background else deadline
            return await self._stoppable(self._read(sql, values, deadline))

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        return await self.slow_rows(read.sql, read.values)

    async def _stoppable(self, reading: Coroutine[Any, Any, Sequence[Row]]) -> Sequence[Row]:
        """Runs a read that closing cancels, and with it its statement."""
        task = asyncio.ensure_future(reading)
        # Retrieve the exception of a read that nobody waits for; asyncio warns otherwise.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._slow_fetches.add(task)
        try:
            await asyncio.wait((task,))
        finally:
            self._slow_fetches.discard(task)
            task.cancel()
        if task.cancelled():
            raise errors.stopping()
        return task.result()

    async def _read(self, sql: str, values: Values, deadline: float) -> Sequence[Row]:
        try:
            return await self._fetch(sql, values, deadline)
        except asyncpg.DataError:
            # asyncpg derives this from InterfaceError, but an invalid argument is our own bug.
            raise
        except CUT:
            return await self._read_again(sql, values)
        except AWAY as error:
            raise refused_read(error) from error

    async def _read_again(self, sql: str, values: Values) -> Sequence[Row]:
        # The server ended a pooled connection, and likely others too; a new one may work.
        await self._pool.expire_connections()
        try:
            return await self._fetch(sql, values, self._deadline())
        except AWAY as error:
            raise refused_read(error) from error

    async def _fetch(self, sql: str, values: Values, deadline: float) -> Sequence[Row]:
        text, arguments = _numbered(sql, values)
        async with self._connection(values.get("account_id"), deadline) as connection:
            await self._prepare(connection, values)
            # A record reads like a tuple, though its type does not say so.
            return cast("Sequence[Row]", await connection.fetch(text, *arguments))

    async def _prepare(self, connection: Any, values: Values) -> None:
        """Called before each read, with the connection that it will use."""

    @observed("transaction")
    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,
        *,
        is_continuing: bool = False,
    ) -> T:
        if not self._fits and not is_continuing:
            await self.require_ready()
        deadline = None if is_continuing else self._deadline()
        async with self._writes.slot(account_id, self._limits.wait_s, in_background=is_continuing):
            return await self._write(work, account_id, deadline)

    async def _write(
        self, work: Callable[[Transaction], Awaitable[T]], owner: Owner, deadline: float | None
    ) -> T:
        """Without a deadline, the work waits for a connection as long as others use them all."""
        failure: BaseException | None = None
        for attempt in range(_TRIES):
            has_begun = False
            try:
                async with (
                    self._connection(owner, deadline) as connection,
                    _transaction(connection),
                ):
                    has_begun = True
                    return await work(PostgresTransaction(connection))
            except asyncpg.DataError:
                raise
            except LOST as error:
                failure = error
                await asyncio.sleep(0.01 * 4**attempt)
            except AWAY as error:
                # If the connection was lost before the transaction began, nothing was written.
                if has_begun or not isinstance(error, CUT):
                    raise refused_write(error) from error
                failure = error
                await self._pool.expire_connections()
            deadline = None if deadline is None else self._deadline()
        raise refused_write(failure) from failure

    def _deadline(self) -> float:
        """Until when a call that starts now may wait for a connection."""
        return asyncio.get_running_loop().time() + self._limits.wait_s

    @asynccontextmanager
    async def _connection(self, owner: Owner, deadline: float | None) -> AsyncIterator[Any]:
        wait_s = None if deadline is None else _left(deadline)
        async with self._connections.slot(owner, wait_s, in_background=deadline is None):
            connection = await self._acquired(deadline or self._deadline())
            try:
                yield connection
            except TimeoutError:
                # The pool would wait again for a server that does not answer.
                connection.terminate()
                raise
            except CUT as error:
                if self._pool.is_closing():
                    raise errors.stopping() from error
                raise
            finally:
                # The work is done or has failed by now; the pool drops a connection that was lost.
                with suppress(*AWAY):
                    await self._pool.release(connection, timeout=self._limits.wait_s)

    async def _acquired(self, deadline: float) -> Any:
        try:
            return await self._pool.acquire(timeout=max(_LEAST_ACQUIRE_S, _left(deadline)))
        except TimeoutError as error:
            raise unreachable() from error

    async def require_ready(self) -> None:
        """Nothing is read or written before this succeeds, or after it finds a newer schema.

        Otherwise a release that the schema does not fit writes rows that others cannot use.
        """
        applied = await self._read(migrations.READ_APPLIED, {}, self._deadline())
        self._fits = False
        try:
            migrations.require_current(self.dialect, applied)
        except migrations.SchemaProblem as problem:
            raise errors.unavailable(str(problem)) from problem
        self._fits = True

    async def close(self) -> None:
        for queue in (self._slow_reads, self._writes, self._connections):
            queue.close()
        # The server then stops their statements, so that closing does not wait for them.
        for fetch in self._slow_fetches:
            fetch.cancel()
        # A server that does not answer must not delay a stop; the pool then drops connections.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._pool.close(), self._limits.wait_s)


class Connection(asyncpg.Connection):
    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as asyncpg has it
        """Does not fail if the connection is already lost: the pool closes such connections too."""
        try:
            await super().close(timeout=timeout)
        except AWAY:
            self.terminate()

    def get_reset_query(self) -> str:
        """Skips the reset: no statement changes the session, and a reset costs a round trip."""
        return ""


class PostgresTransaction:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @observed()
    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        text, arguments = _numbered(sql, values)
        with _lock_timeout():
            rows: Sequence[Row] = await self._connection.fetch(text, *arguments)
        return rows

    @observed()
    async def run(self, sql: str, values: Values) -> None:
        text, arguments = _numbered(sql, values)
        with _lock_timeout():
            await self._connection.execute(text, *arguments)

    @observed()
    async def run_many(self, sql: str, values: Sequence[Values]) -> None:
        if not values:
            return
        text, names = queries.numbered(sql)
        rows = [[row[name] for name in names] for row in values]
        with _lock_timeout():
            await self._connection.executemany(text, rows)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with _transaction(self._connection):
            yield


@asynccontextmanager
async def _transaction(connection: Any) -> AsyncIterator[None]:
    """A transaction, or inside one a savepoint."""
    transaction, is_inner = connection.transaction(), connection.is_in_transaction()
    try:
        await transaction.start()
    except BaseException:
        # It may have begun or not; the driver would log this as a mistake of ours.
        if not is_inner:
            connection.terminate()
        raise
    try:
        yield
    except TimeoutError:
        # A server that does not answer cannot be told to roll back; the connection is dropped.
        raise
    except BaseException:
        await transaction.rollback()
        raise
    await transaction.commit()


@contextmanager
def _lock_timeout() -> Iterator[None]:
    try:
        yield
    except asyncpg.LockNotAvailableError as error:
        raise LockTimeoutError from error


async def open_pool(
    url: str,
    connections: int,
    limits: Limits | None = None,
    kind: type[Connection] = Connection,
    *,
    are_statements_named: bool = True,
) -> "asyncpg.Pool[asyncpg.Record]":
    """A pool that connects on first use, so that the service starts without the database."""
    limits = limits or Limits()
    return await asyncpg.create_pool(
        url,
        min_size=0,
        max_size=connections,
        timeout=limits.wait_s,
        command_timeout=limits.answer_s,
        # Without a cache, the driver gives statements no names.
        statement_cache_size=_STATEMENTS if are_statements_named else 0,
        connection_class=kind,
        server_settings={
            "application_name": "bowerbird",
            "jit": "off",
            # Starting workers costs more than they save on a page.
            "max_parallel_workers_per_gather": "0",
            # Our joins look each row up once, so remembering it only copies it.
            "enable_memoize": "off",
            "lock_timeout": _milliseconds(limits.lock_s),
            "statement_timeout": _milliseconds(limits.statement_s),
        },
    )


def _milliseconds(limit_s: float) -> str:
    """A time limit as PostgreSQL reads it: 0 means none."""
    return "0" if math.isinf(limit_s) else str(round(limit_s * 1000))


def _left(deadline: float) -> float:
    return deadline - asyncio.get_running_loop().time()


def _numbered(sql: str, values: Values) -> tuple[str, list[Any]]:
    text, names = queries.numbered(sql)
    return text, [values[name] for name in names]
