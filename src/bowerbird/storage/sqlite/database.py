"""The library in one SQLite file: reads on the loop or a reader thread, writes in groups."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

import apsw

from bowerbird import errors
from bowerbird.storage import migrations
from bowerbird.storage.database import Row, Transaction, Values
from bowerbird.storage.sqlite import fts5_rank
from bowerbird.storage.sqlite.dialect import SqliteDialect
from bowerbird.storage.sqlite.word_order import WordOrder
from bowerbird.storage.sqlite.writer import Writer, translated

T = TypeVar("T")

FILE_NAME: Final = "bowerbird.db"
SLOW_READ_LIMIT_S: Final = 30.0
_READER_THREADS: Final = 2
_INTERRUPT_S: Final = 0.05
_MAPPED_BYTES: Final = 2**31 - 2**16
# Waits only for programs that do not take part in the writers' queue, such as the sqlite3 shell.
_BUSY_MS: Final = 10_000


class SqliteDatabase(SqliteDialect):
    """One open library file. Made and used on one event loop."""

    def __init__(
        self,
        folder: Path,
        release: Callable[[], None] | None = None,
        *,
        is_mapped: bool = True,
        slow_read_limit_s: float = SLOW_READ_LIMIT_S,
    ) -> None:
        """`release` is called when the file is closed: it lets go of the folder."""
        file = folder / FILE_NAME
        self._release = release
        self._slow_read_limit_s = slow_read_limit_s
        read = functools.partial(connect, file, read_only=True, is_mapped=is_mapped)
        self._reader = read()
        self._slow_readers = [read() for _ in range(_READER_THREADS)]
        self._readers = (self._reader, *self._slow_readers)
        self._slow_slots = asyncio.Semaphore(_READER_THREADS)
        self._threads = ThreadPoolExecutor(_READER_THREADS, thread_name_prefix="sqlite-reader")
        self._writer = Writer(functools.partial(connect, file, is_mapped=is_mapped), folder)

        self.word_order = WordOrder(self._on_reader, self.queries("word_order"))

    def generation(self) -> int | None:
        return self._writer.generation.settled()

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        # On the loop itself: a page costs 0.2 ms, handing it to a thread would double that.
        try:
            return self._reader.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise translated(error) from error

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        return await self._on_reader(lambda c: c.execute(sql, values).fetchall())

    async def _on_reader(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` on a reader thread with a connection of its own."""
        async with self._slow_slots:
            connection = self._slow_readers.pop()
            try:
                return await self._on_thread(connection, work)
            finally:
                self._slow_readers.append(connection)

    async def _on_thread(
        self, connection: apsw.Connection, work: Callable[[apsw.Connection], T]
    ) -> T:
        reading = asyncio.get_running_loop().run_in_executor(self._threads, work, connection)
        try:
            return await asyncio.wait_for(asyncio.shield(reading), self._slow_read_limit_s)
        except apsw.InterruptError as error:
            raise errors.unavailable("The library is being closed.") from error
        except apsw.Error as error:
            raise translated(error) from error
        except (TimeoutError, asyncio.CancelledError) as error:
            # The connection is free again only when its thread has let go of it; an interrupt
            # that comes before the thread's statement does is lost.
            while not reading.done():
                connection.interrupt()
                await asyncio.wait([reading], timeout=_INTERRUPT_S)
            reading.exception()
            if isinstance(error, TimeoutError):
                raise errors.unavailable("The read took too long and was stopped.") from None
            raise

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._writer.write(work)

    async def require_ready(self) -> None:
        applied = await self.rows(migrations.READ_APPLIED, {})
        try:
            migrations.require_current(self.dialect, applied)
        except migrations.SchemaProblem as problem:
            raise errors.unavailable(str(problem)) from problem

    async def close(self) -> None:
        ending = asyncio.create_task(asyncio.to_thread(self._threads.shutdown))
        while not ending.done():
            for connection in self._readers:
                connection.interrupt()
            await asyncio.wait([ending], timeout=_INTERRUPT_S)
        for connection in self._readers:
            connection.close()
        # Last, because only a last connection that may write folds the log into the file.
        await asyncio.to_thread(self._writer.close)
        if self._release is not None:
            self._release()


def connect(file: Path, *, read_only: bool = False, is_mapped: bool = True) -> apsw.Connection:
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if read_only
        else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    )
    connection = apsw.Connection(str(file), flags=flags)
    connection.set_busy_timeout(_BUSY_MS)
    # A file that is no database says so here, in its own words.
    connection.execute("PRAGMA schema_version").fetchall()
    fts5_rank.register(connection)
    # A plan is made once a statement. Without this SQLite plans anew for each value it is given,
    # which cost a page of 100 as much as reading it.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("PRAGMA temp_store = MEMORY")
    # Reads come from the system's own cache: a page of 100 takes 186 µs instead of 245.
    connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES if is_mapped else 0}")
    if not read_only:
        # 8 KiB pages hold a rendering of 2 kB whole, several to a page.
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # What is overwritten or deleted does not linger in the pages that are written anyway.
        connection.execute("PRAGMA secure_delete = FAST")
    return connection
