"""Reads the state of a database for `bowerbird doctor`, without changing it."""

from pathlib import Path
from typing import Final

import apsw
import asyncpg
from msgspec import Struct

from bowerbird.storage import migrations
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.postgres.schema import PostgresSchema, unreachable
from bowerbird.storage.sqlite.database import FILE_NAME, connect
from bowerbird.storage.sqlite.schema import SqliteSchema, require_content

_TIMEOUT_S: Final = 5


class Diagnosis(Struct, frozen=True):
    engine: str
    # Journal mode or extension.
    detail: str
    pending: list[str]
    is_usable: bool = True


async def of_postgres(url: str) -> Diagnosis:
    """Raises SchemaProblem if the server is unreachable or the schema does not fit the release."""
    try:
        connection = await asyncpg.connect(url, timeout=_TIMEOUT_S)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError) as error:
        raise unreachable(url, error) from None
    try:
        version = await connection.fetchval("SHOW server_version")
        has_extension = await connection.fetchval(
            "SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gin'"
        )
        applied = await PostgresSchema(connection).applied()
    finally:
        await connection.close()
    steps = migrations.pending(migrations.available("postgres"), applied)
    detail = (
        "the extension btree_gin is available"
        if has_extension
        else "the extension btree_gin is missing"
    )
    names = [step.name for step in steps]
    return Diagnosis(f"PostgreSQL {version}", detail, names, bool(has_extension))


def of_sqlite(folder: Path) -> Diagnosis:
    """Raises SchemaProblem if the file is unreadable or the schema does not fit the release."""
    require_content(folder)
    try:
        connection = connect(folder / FILE_NAME, read_only=True)
        try:
            mode = connection.execute("PRAGMA journal_mode").fetchall()[0][0]
            applied = SqliteSchema(connection).applied()
        finally:
            connection.close()
    except apsw.Error as error:
        raise SchemaProblem(f"{folder / FILE_NAME} cannot be read: {error}") from None
    steps = migrations.pending(migrations.available("sqlite"), applied)
    names = [step.name for step in steps]
    return Diagnosis(f"SQLite {apsw.sqlite_lib_version()}", f"journal mode {mode}", names)
