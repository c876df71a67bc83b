"""An in-memory SQLite library whose writes are only rehearsed: each runs and is then rolled back.

There are two copies. Reads use the first, which never changes after it is filled. Writes run on
the second, one at a time, and are rolled back before their answer is sent. So no write is stored,
and no other request can see one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

import apsw

from bowerbird.storage import migrations
from bowerbird.storage.database import Database, Row, Transaction, Values, WordRead
from bowerbird.storage.sqlite.database import SqliteDialect, connect
from bowerbird.storage.sqlite.schema import SqliteSchema
from bowerbird.storage.sqlite.writer import SqliteTransaction, run_to_end, translated

T = TypeVar("T")

_MEMORY: Final = Path(":memory:")


class MemoryDatabase(SqliteDialect):
    """A library that exists as long as this object. Its methods never wait."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def generation(self) -> int | None:
        return None

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise translated(error) from error

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        return await self.rows(sql, values)

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        return await self.rows(read.sql, read.values)

    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,  # noqa: ARG002 - all callers share one sample account
        *,
        is_continuing: bool = False,  # noqa: ARG002 - no write is refused
    ) -> T:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            done = await work(SqliteTransaction(self._connection))
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        return done

    async def require_ready(self) -> None:
        """Always ready."""

    async def close(self) -> None:
        self._connection.close()


class RehearsalDatabase(MemoryDatabase):
    """Can be used once `fill` has returned."""

    def __init__(self) -> None:
        super().__init__(connect(_MEMORY, mapped_mb=0))
        self._stage = connect(_MEMORY, mapped_mb=0)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rehearsal")

    @property
    def stage(self) -> MemoryDatabase:
        """The library as a rehearsed write sees it. Use it only inside such a write."""
        return MemoryDatabase(self._stage)

    @property
    def stored(self) -> MemoryDatabase:
        """The library as reads see it, whose writes are stored. Only for the service itself."""
        return MemoryDatabase(self._connection)

    async def fill(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """Fills the library by `work`, which must not wait. These writes are stored."""
        return await self._on_thread(lambda: self._filled(work))

    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,  # noqa: ARG002 - all callers share one sample account
        *,
        is_continuing: bool = False,  # noqa: ARG002 - no write is refused
    ) -> T:
        return await self._on_thread(lambda: self._rehearsed(work))

    async def close(self) -> None:
        await asyncio.to_thread(self._thread.shutdown)
        self._stage.close()
        await super().close()

    async def _on_thread(self, work: Callable[[], T]) -> T:
        # A write may parse a megabyte, which must not block the event loop.
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _filled(self, work: Callable[[Database], Awaitable[T]]) -> T:
        # In a third database, so that a failure leaves both copies empty and `fill` can be retried.
        draft = connect(_MEMORY, mapped_mb=0)
        try:
            for migration in migrations.available(self.dialect):
                SqliteSchema(draft).apply(migration)
            done = run_to_end(work(MemoryDatabase(draft)))
            for copy in (self._connection, self._stage):
                with copy.backup("main", draft, "main") as copying:
                    copying.step()
        finally:
            draft.close()
        return done

    def _rehearsed(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        self._stage.execute("BEGIN IMMEDIATE")
        try:
            return run_to_end(work(SqliteTransaction(self._stage)))
        except apsw.Error as error:
            raise translated(error) from error
        finally:
            if self._stage.in_transaction:
                self._stage.execute("ROLLBACK")
