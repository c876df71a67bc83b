"""Opens the database that the settings name."""

from pathlib import Path

import apsw

from bowerbird.settings import Settings
from bowerbird.storage import sqlite_schema
from bowerbird.storage.database import Database
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.postgres import PostgresDatabase, open_pool
from bowerbird.storage.sqlite import SqliteDatabase
from bowerbird.storage.sqlite_schema import FolderLock


async def open_database(settings: Settings, *, is_mapped: bool = True) -> Database:
    """A SQLite library is migrated first; PostgreSQL is migrated by a command of its own.

    Mapped, a SQLite file is read faster, but all that is read of it counts as memory in use.
    """
    if settings.is_sqlite:
        return _opened_file(settings.data_dir, is_mapped=is_mapped)
    pool = await open_pool(settings.database_url, settings.postgres_connections)
    return PostgresDatabase(pool)


def _opened_file(folder: Path, *, is_mapped: bool) -> SqliteDatabase:
    lock = FolderLock(folder)
    try:
        sqlite_schema.prepare(folder)
        # Before the file is opened: a restore in between would leave us on the file it replaced.
        lock.share()
        return SqliteDatabase(folder, lock.close, is_mapped=is_mapped)
    except BaseException as error:
        lock.close()
        if isinstance(error, apsw.Error):
            raise SchemaProblem(
                f"The library in {folder} cannot be opened: {error}. Restore a backup."
            ) from error
        raise
