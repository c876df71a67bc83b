"""The library in PostgreSQL, shared by any number of server processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar, cast

import asyncpg

from bowerbird import errors
from bowerbird.model.words import Match, WordQuery
from bowerbird.storage import migrations, queries
from bowerbird.storage.database import Row, Transaction, Values, WordOrder
from bowerbird.storage.fair_queue import Bounds, FairQueue
from bowerbird.storage.words import for_tsquery, vector_text

T = TypeVar("T")

COMMAND_LIMIT_S: Final = 30.0
WAIT_LIMIT_S: Final = 5.0
_TRIES: Final = 3
_AWAY: Final = (
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
)
# The connection is gone, which says nothing about the server. asyncpg takes it for a fault of its
# own when the server's farewell came between two requests.
_CUT: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.IdleSessionTimeoutError,
    ConnectionError,
)
# A transaction that lost to another is right the next time.
_LOST: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


class PostgresDatabase:
    dialect: Final = "postgres"
    # GIN answers a common word's flags and order in one bitmap scan; no short way is needed.
    word_order: WordOrder | None = None

    def __init__(
        self, pool: "asyncpg.Pool[asyncpg.Record]", wait_limit_s: float = WAIT_LIMIT_S
    ) -> None:
        """`wait_limit_s` bounds the wait for a connection, be it new or in use by others."""
        self._pool = pool
        self._wait_limit_s = wait_limit_s
        # The other half is left to keys, pages and writes, which take milliseconds.
        slow = max(1, pool.get_max_size() // 2)
        self._slow_reads = FairQueue(
            "database connection", slow, max(1, slow - 1), Bounds(wait_s=wait_limit_s)
        )

    def queries(self, resource: str) -> queries.Queries:
        return queries.load(resource, self.dialect)

    def generation(self) -> int | None:
        return None

    def match(self, query: WordQuery) -> Match:
        return for_tsquery(query)

    def stored_words(self, index_text: str) -> str:
        return vector_text(index_text)

    def number_list(self, numbers: Sequence[int]) -> Sequence[int]:
        return numbers

    def text_list(self, texts: Sequence[str]) -> Sequence[str]:
        return texts

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        text, arguments = _numbered(sql, values)
        try:
            return await self._fetch(text, arguments)
        except asyncpg.DataError:
            # A wrong argument is a fault of ours, though asyncpg counts it to its interface.
            raise
        except _CUT:
            return await self._again(text, arguments)
        except _AWAY as error:
            raise _unavailable(error) from error

    async def _again(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        # A kept connection that the server has ended, and likely not alone; a new one may work.
        await self._pool.expire_connections()
        try:
            return await self._fetch(text, arguments)
        except _AWAY as error:
            raise _unavailable(error) from error

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        async with self._connection() as connection:
            # A record reads like a tuple, though its type does not say so.
            return cast("Sequence[Row]", await connection.fetch(text, *arguments))

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        async with self._slow_reads.slot(values.get("account_id")):
            return await self.rows(sql, values)

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        failure: BaseException | None = None
        for attempt in range(_TRIES):
            has_begun = False
            try:
                async with self._connection() as connection, connection.transaction():
                    has_begun = True
                    return await work(PostgresTransaction(connection))
            except asyncpg.LockNotAvailableError:
                # Only the claim of an idempotency key waits with a limit.
                raise errors.Refusal(
                    errors.Code.IDEMPOTENCY_IN_PROGRESS,
                    "Idempotency-Key: the first request with this key still runs.",
                    {"Retry-After": "1"},
                ) from None
            except asyncpg.DataError:
                raise
            except _LOST as error:
                failure = error
                await asyncio.sleep(0.01 * 4**attempt)
            except _AWAY as error:
                # On a connection that was cut before it began, nothing can have been written.
                if has_begun or not isinstance(error, _CUT):
                    raise _unavailable(error) from error
                failure = error
                await self._pool.expire_connections()
        raise _unavailable(failure) from failure

    def _connection(self) -> Any:
        return self._pool.acquire(timeout=self._wait_limit_s)

    async def require_ready(self) -> None:
        applied = await self.rows(migrations.READ_APPLIED, {})
        try:
            migrations.require_current(self.dialect, applied)
        except migrations.SchemaProblem as problem:
            raise errors.unavailable(str(problem)) from problem

    async def close(self) -> None:
        # A server that does not answer must not hold up a stop; the pool then drops connections.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._pool.close(), self._wait_limit_s)


class _Connection(asyncpg.Connection):
    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as asyncpg has it
        """Takes a goodbye that nobody hears for said: the pool parts from cut connections so."""
        try:
            await super().close(timeout=timeout)
        except _AWAY:
            self.terminate()


class PostgresTransaction:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        text, arguments = _numbered(sql, values)
        rows: Sequence[Row] = await self._connection.fetch(text, *arguments)
        return rows

    async def run(self, sql: str, values: Values) -> None:
        text, arguments = _numbered(sql, values)
        await self._connection.execute(text, *arguments)

    async def run_many(self, sql: str, values: Sequence[Values]) -> None:
        if not values:
            return
        text, names = queries.numbered(sql)
        await self._connection.executemany(text, [[row[name] for name in names] for row in values])

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with self._connection.transaction():
            yield


async def open_pool(
    url: str, connections: int, command_limit_s: float = COMMAND_LIMIT_S
) -> "asyncpg.Pool[asyncpg.Record]":
    """A pool that connects when it is first used: the service starts while the database is away."""
    return await asyncpg.create_pool(
        url,
        min_size=0,
        max_size=connections,
        timeout=WAIT_LIMIT_S,
        command_timeout=command_limit_s,
        connection_class=_Connection,
        server_settings={
            "application_name": "bowerbird",
            "jit": "off",
            # Workers cost a page more than they bring.
            "max_parallel_workers_per_gather": "0",
        },
    )


def _numbered(sql: str, values: Values) -> tuple[str, list[Any]]:
    text, names = queries.numbered(sql)
    return text, [values[name] for name in names]


def _unavailable(error: BaseException | None) -> errors.Refusal:
    if isinstance(error, _LOST):
        return errors.unavailable("Too many writes met on this account; try again.", 1)
    if isinstance(error, asyncpg.DiskFullError):
        return errors.unavailable("The database's disk is full; this change was not made.", 30)
    if isinstance(error, asyncpg.UndefinedTableError):
        return errors.unavailable("The database has not been migrated. Run: bowerbird migrate")
    return errors.unavailable("The database cannot be reached at the moment.")
