"""Opens the configured database, or reads its state for `bowerbird doctor` without changing it."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw
from msgspec import Struct

from bowerbird.settings import Settings
from bowerbird.storage import migrations
from bowerbird.storage.database import Database
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME, SLOW_READ_LIMIT_S, SqliteDatabase, connect
from bowerbird.storage.sqlite.schema import FolderLock, Report, SqliteSchema, require_content
from bowerbird.storage.sqlite.writer import WRITE_WAIT_S

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
    settings: Settings,
    *,
    is_mapped: bool = True,
    read_limit_s: float | None = None,
    write_wait_s: float = WRITE_WAIT_S,
    report: Report = sqlite_schema.ignore,
    reads_replica: bool = False,
) -> Database:
    """A SQLite library is migrated first; PostgreSQL has a command for its migrations.

    A SQLite file is read faster if it is mapped, but then every page read counts as memory in use.
    A read that takes longer than `read_limit_s` is stopped; by default each database has a limit.
    On SQLite, a write that cannot start within `write_wait_s` is refused.
    `report` is called if a library of an earlier release was migrated.
    `reads_replica`: lists may be read from the replica that the settings name.
    """
    if settings.is_sqlite:
        limit_s = SLOW_READ_LIMIT_S if read_limit_s is None else read_limit_s
        opened = functools.partial(
            SqliteDatabase,
            mapped_mb=settings.sqlite_mapped_mb if is_mapped else 0,
            slow_read_limit_s=limit_s,
            write_wait_s=write_wait_s,
        )
        return _open_file(settings.data_dir, opened, report)
    from bowerbird.storage.postgres.database import (  # noqa: PLC0415 - its driver is slow to import
        Limits,
        PostgresDatabase,
        open_pool,
    )
    from bowerbird.storage.postgres.replica import (  # noqa: PLC0415 - as above
        ReplicatedDatabase,
        open_replica,
    )

    limits = Limits()
    if read_limit_s is not None:
        limits = Limits(lock_s=read_limit_s, statement_s=read_limit_s)
    are_named = settings.postgres_named_statements == "on"
    pool = await open_pool(
        settings.database_url,
        settings.postgres_connections,
        limits,
        are_statements_named=are_named,
    )
    if not (reads_replica and settings.database_read_url):
        return PostgresDatabase(pool, limits)
    replica = await open_replica(
        settings.database_read_url,
        settings.postgres_connections,
        are_statements_named=are_named,
    )
    return ReplicatedDatabase(pool, limits, replica)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Explains why a library's file cannot be opened, and suggests a fix."""
    try:
        yield
    except apsw.Error as error:
        problem = f"Cannot open the library in {folder}: {error}."
        raise SchemaProblem(f"{problem} {_ADVICE.get(type(error), '')}".rstrip()) from error


def _open_file(
    folder: Path,
    opened: Callable[[Path, Callable[[], None]], SqliteDatabase],
    report: Report,
) -> SqliteDatabase:
    lock = FolderLock(folder)
    try:
        with explained(folder):
            sqlite_schema.prepare(folder, report=report)
            # Before the file is opened: otherwise a restore in between could replace the file, and
            # we would keep the old one open.
            lock.share()
            return opened(folder, lock.close)
    except BaseException:
        lock.close()
        raise


class Diagnosis(Struct, frozen=True):
    engine: str
    # Journal mode or extension.
    detail: str
    pending: list[str]
    is_usable: bool = True


async def of_postgres(url: str) -> Diagnosis:
    """Raises SchemaProblem if the server is unreachable or the schema does not fit the release."""
    from bowerbird.storage.postgres import schema  # noqa: PLC0415 - its driver is slow to import

    version, has_extension, applied = await schema.found(url)
    steps = migrations.pending(migrations.available("postgres"), applied)
    detail = (
        "the extension btree_gin is available"
        if has_extension
        else "the extension btree_gin is missing"
    )
    names = [step.name for step in steps]
    return Diagnosis(f"PostgreSQL {version}", detail, names, has_extension)


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
