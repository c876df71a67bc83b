"""Opens the configured database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.postgres.database import PostgresDatabase, open_pool
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import SLOW_READ_LIMIT_S, SqliteDatabase
from bowerbird.storage.sqlite.schema import FolderLock

_NO_ACCESS: Final = "Check that this user can read and write the folder and its files."
_LOCKED: Final = "Another program has locked the file. Stop it first."
_ADVICE: Final[dict[type[apsw.Error], str]] = {
    apsw.CorruptError: "Restore a backup.",
    apsw.NotADBError: "Restore a backup.",
    apsw.FullError: "Free some disk space.",
    apsw.BusyError: _LOCKED,
    apsw.LockedError: _LOCKED,
    apsw.CantOpenError: _NO_ACCESS,
    apsw.PermissionsError: _NO_ACCESS,
    apsw.ReadOnlyError: _NO_ACCESS,
    apsw.IOError: "Check whether the disk is full or failing.",
}


async def open_database(
    settings: Settings, *, is_mapped: bool = True, read_limit_s: float = SLOW_READ_LIMIT_S
) -> Database:
    """Migrates a SQLite library first. PostgreSQL is migrated by `bowerbird migrate`.

    `is_mapped`: reads of a memory-mapped SQLite file are faster, but everything that was read
    counts as used memory. `read_limit_s`: reads that take longer are cancelled.
    """
    if settings.is_sqlite:
        return _open_file(settings.data_dir, is_mapped=is_mapped, read_limit_s=read_limit_s)
    pool = await open_pool(settings.database_url, settings.postgres_connections, read_limit_s)
    return PostgresDatabase(pool)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turns SQLite errors into a SchemaProblem that says what to do."""
    try:
        yield
    except apsw.Error as error:
        problem = f"Cannot open the library in {folder}: {error}."
        raise SchemaProblem(f"{problem} {_ADVICE.get(type(error), '')}".rstrip()) from error


def _open_file(folder: Path, *, is_mapped: bool, read_limit_s: float) -> SqliteDatabase:
    lock = FolderLock(folder)
    try:
        with explained(folder):
            sqlite_schema.prepare(folder)
            # Locked before the file is opened: otherwise a restore in between would replace the
            # file that we then read.
            lock.share()
            return SqliteDatabase(
                folder, lock.close, is_mapped=is_mapped, slow_read_limit_s=read_limit_s
            )
    except BaseException:
        lock.close()
        raise
