"""The library in one SQLite file: reads on the event loop or a reader thread, writes in groups.

Slow reads run on a few threads, shared fairly between accounts. Each has its own connection.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import apsw
import msgspec

from bowerbird import errors
from bowerbird.model.accounts import Account
from bowerbird.model.words import Match, WordQuery
from bowerbird.storage import migrations, private_files, queries
from bowerbird.storage.database import Row, Transaction, Values, WordRead, observed
from bowerbird.storage.fair_queue import IN_BACKGROUND, Bounds, FairQueue, Owner
from bowerbird.storage.queries import counting_in_fts5, for_fts5
from bowerbird.storage.sqlite import word_reads
from bowerbird.storage.sqlite.write_queue import FileWatch
from bowerbird.storage.sqlite.writer import WRITE_WAIT_S, Writer, translated

T = TypeVar("T")


class SqliteDialect:
    dialect: Final = "sqlite"

    def queries(self, resource: str) -> queries.Queries:
        return queries.load(resource, self.dialect)

    def lists(self, account: Account) -> Self:  # noqa: ARG002 - SQLite has no replicas
        return self

    def match(self, query: WordQuery) -> Match:
        return for_fts5(query)

    def counting(self, words: Sequence[str]) -> str:
        return counting_in_fts5(words)

    def stored_words(self, index_text: str) -> str:
        return index_text

    async def computed(self, work: Callable[[], T]) -> T:
        # Transactions run on the thread of the writer.
        return work()


FILE_NAME: Final = "bowerbird.db"
# SQLite maps at most 2 GB less 64 kB of a file.
MAPPED_MB: Final = 2_047
# Only for programs that do not use the writers' lock file, such as the sqlite3 shell.
_BUSY_MS: Final = 10_000

SLOW_READ_LIMIT_S: Final = 30.0
# One account uses at most two of them at the same time, so that two cores are kept busy by one
# account and the third thread is free for every other account.
_THREADS: Final = 3
_THREADS_PER_ACCOUNT: Final = _THREADS - 1
_INTERRUPT_S: Final = 0.05


class SlowReaders:
    def __init__(self, connect: Callable[[], apsw.Connection], limit_s: float) -> None:
        """A read that takes longer than `limit_s` is stopped."""
        self._connect = connect
        self._opened: tuple[apsw.Connection, ...] = ()
        self._idle: list[apsw.Connection] = []
        self._limit_s = limit_s
        self._queue = FairQueue("database reader", _THREADS, _THREADS_PER_ACCOUNT, Bounds())
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="sqlite-reader")

    @property
    def connections(self) -> tuple[apsw.Connection, ...]:
        self._open()
        return self._opened

    def _open(self) -> None:
        # Not before the first read: each reads the schema, and most commands read nothing slow.
        if not self._opened:
            self._opened = tuple(self._connect() for _ in range(_THREADS))
            self._idle += self._opened

    async def run(self, owner: Owner, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` on a thread, when it is the turn of the account that owns the read."""
        await self._queue.acquire(owner, in_background=IN_BACKGROUND.get())
        try:
            self._open()
            connection = self._idle.pop()
        except apsw.Error as error:
            self._queue.release(owner)
            raise translated(error) from error
        reading = asyncio.get_running_loop().run_in_executor(self._threads, work, connection)
        reading.add_done_callback(functools.partial(self._give_back, owner, connection))
        try:
            await asyncio.wait((reading,), timeout=self._limit_s)
        finally:
            self._interrupt(connection, reading)
        if not reading.done():
            raise errors.unavailable("The read took too long and was stopped.")
        try:
            return reading.result()
        except apsw.InterruptError as error:
            raise errors.stopping() from error
        except apsw.Error as error:
            raise translated(error) from error

    async def close(self) -> None:
        self._queue.close()
        ending = asyncio.create_task(asyncio.to_thread(self._threads.shutdown))
        while not ending.done():
            for connection in self._opened:
                connection.interrupt()
            await asyncio.wait([ending], timeout=_INTERRUPT_S)
        for connection in self._opened:
            connection.close()

    def _give_back(
        self, owner: Owner, connection: apsw.Connection, reading: asyncio.Future[Any]
    ) -> None:
        """Runs when the thread has ended its read, whether or not a caller still waits for it."""
        self._idle.append(connection)
        self._queue.release(owner)
        # Retrieve the exception; asyncio warns otherwise.
        reading.exception()

    def _interrupt(self, connection: apsw.Connection, reading: asyncio.Future[Any]) -> None:
        """Interrupts until the thread has ended: an interrupt before its statement starts is lost.

        By timer and not in the caller's task, which may be cancelled a second time.
        """
        if not reading.done():
            connection.interrupt()
            loop = asyncio.get_running_loop()
            loop.call_later(_INTERRUPT_S, self._interrupt, connection, reading)


class SqliteDatabase(SqliteDialect):
    """One open library file. Created and used on one event loop."""

    def __init__(
        self,
        folder: Path,
        release: Callable[[], None] | None = None,
        *,
        mapped_mb: int = MAPPED_MB,
        slow_read_limit_s: float = SLOW_READ_LIMIT_S,
        write_wait_s: float = WRITE_WAIT_S,
    ) -> None:
        """`release` is called when the file is closed; it releases the folder's lock.

        `mapped_mb`: how much of the file short reads and the writer map into memory.
        """
        file = folder / FILE_NAME
        self._release = release
        read = functools.partial(connect, file, read_only=True)
        self._reader = read(mapped_mb=mapped_mb)
        # Not mapped: long reads take as long, and each connection would keep its pages in memory.
        unmapped = functools.partial(read, mapped_mb=0)
        self._slow_readers = SlowReaders(unmapped, slow_read_limit_s)
        write = functools.partial(connect, file, mapped_mb=mapped_mb)
        self._watch = FileWatch()
        self._writer = Writer(write, folder, self._watch, write_wait_s)
        # Now all of them exist.
        for watched in with_side_files(file):
            self._watch.add(watched)
        self._word_sql = self.queries("word_reads")

    def generation(self) -> int | None:
        return self._writer.generation.settled() if self._watch.is_unchanged_lately() else None

    @observed()
    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        self._watch.require_unchanged_lately()
        # On the event loop: a page takes 0.2 ms, and twice that on a thread.
        try:
            return self._reader.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise translated(error) from error

    @observed()
    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        self._watch.require_unchanged_lately()
        return await self._slow_readers.run(
            values.get("account_id"), lambda c: c.execute(sql, values).fetchall()
        )

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        return await self._word_rows(read.sql, read)

    @observed()
    async def _word_rows(self, _sql: str, read: WordRead) -> Sequence[Row]:
        self._watch.require_unchanged_lately()
        return await self._slow_readers.run(
            read.account.account_id, lambda c: word_reads.rows(c, self._word_sql, read)
        )

    @observed("transaction")
    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,
        *,
        is_continuing: bool = False,
    ) -> T:
        return await self._writer.write(work, account_id, is_continuing=is_continuing)

    async def require_ready(self) -> None:
        self._watch.require_unchanged()
        applied = await self.rows(migrations.READ_APPLIED, {})
        try:
            migrations.require_current(self.dialect, applied)
        except migrations.SchemaProblem as problem:
            raise errors.unavailable(str(problem)) from problem
        self._writer.require_free_lock()

    async def close(self) -> None:
        await self._slow_readers.close()
        self._reader.close()
        # The writer last: SQLite moves the log into the file when the last connection closes, if
        # that connection may write.
        await self._writer.close()
        if self._release is not None:
            self._release()


def with_side_files(file: Path) -> list[Path]:
    """A database file and the files that SQLite creates beside it, with the same mode."""
    return [file.with_name(file.name + suffix) for suffix in ("", "-wal", "-shm")]


def connect(file: Path, *, read_only: bool = False, mapped_mb: int = MAPPED_MB) -> apsw.Connection:
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if read_only
        else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    )
    if not (read_only or str(file) == ":memory:"):
        private_files.create(file)
        for beside in with_side_files(file):
            private_files.restrict(beside)
    connection = apsw.Connection(str(file), flags=flags)
    connection.set_busy_timeout(_BUSY_MS)
    # Raises SQLite's own error if the file is not a database.
    connection.execute("PRAGMA schema_version").fetchall()
    word_reads.register(connection)
    connection.convert_binding = _list_text
    # SQLite then plans each statement once. Otherwise it plans again for each new value, which took
    # as long as reading a page of 100.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("PRAGMA temp_store = MEMORY")
    # Reads then use the operating system's cache: a page of 100 takes 186 µs instead of 245.
    connection.execute(f"PRAGMA mmap_size = {mapped_mb * 1024 * 1024}")
    if not read_only:
        # Several renderings of 2 kB fit into one page of 8 KiB.
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # Overwrites deleted data in the pages that are written anyway.
        connection.execute("PRAGMA secure_delete = FAST")
    return connection


def _list_text(_cursor: apsw.Cursor, _number: int, value: object) -> str:
    """A list is one value: statements read it with `json_each`."""
    if isinstance(value, (list, tuple)):
        return msgspec.json.encode(value).decode()
    raise TypeError(f"SQLite has no type for {type(value).__name__}")
