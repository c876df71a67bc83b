"""Opens the database that the settings name."""

from bowerbird.settings import Settings
from bowerbird.storage import sqlite_schema
from bowerbird.storage.database import Database
from bowerbird.storage.postgres import PostgresDatabase, open_pool
from bowerbird.storage.sqlite import SqliteDatabase


async def open_database(settings: Settings) -> Database:
    """A SQLite library is migrated first; PostgreSQL is migrated by a command of its own."""
    if settings.is_sqlite:
        sqlite_schema.prepare(settings.data_dir)
        return SqliteDatabase(settings.data_dir)
    pool = await open_pool(settings.database_url, settings.postgres_connections)
    return PostgresDatabase(pool)
