"""Migrates a SQLite file, and locks its folder during the migration."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import apsw

from bowerbird.storage import migrations, private_files
from bowerbird.storage.migrations import Applied, Migration, SchemaProblem
from bowerbird.storage.sqlite import replacing
from bowerbird.storage.sqlite.database import FILE_NAME, connect, with_side_files

LOCK_NAME: Final = "folder.lock"
# Long enough to wait for another process that migrates, not for one that serves.
_TRIES: Final = 100
_PAUSE_S: Final = 0.05
_SHARE_WAIT_S: Final = 60.0
_JOURNAL: Final = """
CREATE TABLE IF NOT EXISTS schema_migration (
    number        INTEGER NOT NULL PRIMARY KEY,
    checksum      TEXT    NOT NULL,
    is_compatible INTEGER NOT NULL
) STRICT
"""

# Gets the names of the steps that were applied, and the copy of the database as it was before.
Report = Callable[[Sequence[str], Path], None]


class FolderInUse(Exception):  # noqa: N818 - named for what it is
    """Another process uses the data folder."""


class FolderLock:
    """A shared lock for every user of the library, exclusive for migrating or replacing it."""

    def __init__(self, folder: Path) -> None:
        private_files.make_folder(folder)
        self._folder = folder
        descriptor = private_files.open_for_update(folder / LOCK_NAME)
        self._file: IO[bytes] = os.fdopen(descriptor, "r+b")

    def share(self, wait_s: float = _SHARE_WAIT_S) -> None:
        """Waits for a process that migrates or restores, but not for one that was stopped."""
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise FolderInUse(
                        f"Another process migrates or restores the library in {self._folder}. "
                        "Wait until it has finished, or end it if it was stopped."
                    ) from None
                time.sleep(_PAUSE_S)
            else:
                return

    @contextmanager
    def shared(self) -> Iterator[None]:
        self.share()
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    @contextmanager
    def alone(self) -> Iterator[None]:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUse(
                f"Another process is using {self._folder.absolute()}. "
                "Stop bowerbird serve (or the command) first."
            ) from None
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        self._file.close()


class SqliteSchema:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def applied(self) -> Sequence[Applied]:
        rows = self._connection.execute(
            "SELECT name FROM sqlite_schema WHERE name = 'schema_migration'"
        ).fetchall()
        if not rows:
            return []
        done: list[Any] = self._connection.execute(migrations.READ_APPLIED).fetchall()
        return [Applied(number, checksum, bool(yes)) for number, checksum, yes in done]

    def apply(self, migration: Migration) -> None:
        with self._connection:
            self._connection.execute(_JOURNAL)
            self._connection.execute(migration.sql)
            self._connection.execute(
                "INSERT INTO schema_migration VALUES (?, ?, ?)",
                (migration.number, migration.checksum, migration.is_compatible),
            )


def ignore(steps: Sequence[str], kept: Path) -> None:
    pass


def prepare(
    folder: Path, known: Sequence[Migration] | None = None, report: Report = ignore
) -> list[str]:
    """Migrates the library in `folder` if necessary, after a backup.

    `report` is called if a library of an earlier release was migrated.
    Any number of processes may call this concurrently: one migrates, the others wait for it.
    """
    known = migrations.available("sqlite") if known is None else known
    lock = FolderLock(folder)
    try:
        for _ in range(_TRIES):
            # Checked under the lock: waits for a process that migrates, and lets a restore know
            # that the file is open.
            with lock.shared():
                if not pending(folder, known):
                    return []
            with suppress(FolderInUse), lock.alone():
                return _migrate(folder, known, report)
            time.sleep(_PAUSE_S)
        with lock.alone():
            return _migrate(folder, known, report)
    finally:
        lock.close()


def require_content(folder: Path) -> None:
    """Raises if the file was emptied: a library that was just created is never empty."""
    file = folder.absolute() / FILE_NAME
    if not replacing.is_interrupted(folder) and file.exists() and not file.stat().st_size:
        raise SchemaProblem(
            f"{file} is empty, so the library in it is lost. Restore a backup with: bowerbird "
            "restore FILE. To start with a new library, delete the empty file."
        )


def pending(folder: Path, known: Sequence[Migration]) -> Sequence[Migration]:
    file = folder / FILE_NAME
    require_content(folder)
    if not file.exists() or replacing.is_interrupted(folder):
        return known
    connection = connect(file, read_only=True)
    try:
        return migrations.pending(known, SqliteSchema(connection).applied())
    finally:
        connection.close()


def _migrate(folder: Path, known: Sequence[Migration], report: Report) -> list[str]:
    replacing.finish(folder)
    if not (folder / FILE_NAME).exists():
        _create(folder / FILE_NAME)
    connection = connect(folder / FILE_NAME)
    try:
        schema = SqliteSchema(connection)
        applied = schema.applied()
        steps = migrations.pending(known, applied)
        names = [step.name for step in steps]
        kept = None
        if applied and steps:
            kept = folder / f"before-migration-{applied[-1].number:04d}.db"
            _back_up(connection, kept)
        for step in steps:
            schema.apply(step)
        if kept is not None:
            report(names, kept)
        return names
    finally:
        connection.close()


def _create(file: Path) -> None:
    """Under another name first: a process that is killed here must not leave an empty file."""
    new = file.with_name(f"{file.name}.new")
    for left in with_side_files(new):
        left.unlink(missing_ok=True)
    # Writes the header of the file.
    connect(new).close()
    new.rename(file)
    replacing.sync(file.parent)


def _back_up(connection: apsw.Connection, target: Path) -> None:
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    private_files.create(part)
    connection.execute("VACUUM INTO ?", (str(part),))
    # SQLite does not sync the target of VACUUM INTO.
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(target)
