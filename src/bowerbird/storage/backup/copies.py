"""Backs up a SQLite library to one file while it is in use, and restores such a backup."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import apsw
from msgspec import Struct

from bowerbird import __version__
from bowerbird.clock import Clock
from bowerbird.model import instants, jobs
from bowerbird.model.arrival import CHECKED_FILES
from bowerbird.storage import private_files, queries
from bowerbird.storage.backup import archives
from bowerbird.storage.backup.archives import Advance, BadArchive, Manifest
from bowerbird.storage.sqlite import replacing
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME, connect
from bowerbird.storage.sqlite.schema import FolderLock, SqliteSchema

_PAGES_PER_STEP: Final = 512
_MEGABYTE: Final = 1 << 20
# During a copy, SQLite's own text may belong to another call and be "not an error".
_REASONS: Final[dict[type[apsw.Error], str]] = {
    apsw.IOError: "the disk is full or failing",
    apsw.CantOpenError: "a file cannot be opened",
    apsw.BusyError: "another program has locked the database",
}
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CopyFailed(Exception):  # noqa: N818 - named for what it is
    """The backup or restore failed and changed nothing. The message says why."""


class Restored(Struct, frozen=True):
    manifest: Manifest
    # Where the previous library is kept: its database, its files.
    kept: list[Path]
    migrated: list[str]


def back_up(
    folder: Path, target: Path, *, overwrite: bool, clock: Clock, advance: Advance
) -> Manifest:
    """Writes a verified backup to `target`. The file appears only when it is complete."""
    if not (folder / FILE_NAME).exists():
        raise CopyFailed(f"No library found in {folder}.")
    if not target.parent.is_dir():
        raise CopyFailed(f"The folder {target.parent.absolute()} does not exist. Create it first.")
    if target.exists() and not overwrite:
        raise CopyFailed(f"{target} already exists. Choose another name, or add --force.")
    with _explained(target.parent), _shared(folder), _part(target) as part:
        snapshot = target.with_name(f"{target.name}.db.part")
        try:
            step = _snapshot(folder / FILE_NAME, snapshot, advance)
            about = Manifest(
                release=__version__, schema_step=step, made_at=instants.with_offset(clock())
            )
            archives.write(part, _parts(snapshot, folder), about, advance)
        finally:
            _remove_database(snapshot)
        part.flush()
        os.fsync(part.fileno())
        part.seek(0)
        manifest = archives.read(part, None, advance)
    _sync_folder(target.parent)
    return manifest


def outline(archive: Path) -> Manifest:
    """What a backup says about itself. Reads little of the file, and refuses what is none."""
    if not archive.exists():
        raise CopyFailed(f"No such file: {archive.absolute()}.")
    if not archive.is_file():
        raise CopyFailed(f"{archive.absolute()} is not a file.")
    with _named(archive), archive.open("rb") as file:
        return archives.outline(file)


def require_unused(folder: Path) -> None:
    """Raises FolderInUse if a server or a command uses the library."""
    lock = FolderLock(folder)
    try:
        with lock.alone():
            pass
    finally:
        lock.close()


def restore(folder: Path, archive: Path, advance: Advance) -> Restored:
    """Replaces the library with a backup. Validates all of it before it changes anything."""
    outline(archive)
    lock = FolderLock(folder)
    part = folder / replacing.PART
    try:
        with _explained(folder), lock.alone():
            replacing.finish(folder)
            _require_room(folder, archive)
            shutil.rmtree(part, ignore_errors=True)
            private_files.make_folder(part)
            try:
                manifest = _unpack(archive, part, advance)
                migrated = _prepare(part, advance)
                kept = replacing.replace(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
            return Restored(manifest, kept, migrated)
    finally:
        lock.close()


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Explains a failure of the disk or of SQLite. `folder` is the one that is written to."""
    full = f"The disk of {folder.absolute()} is full, so nothing was changed. Free some space."
    try:
        yield
    except apsw.FullError as error:
        raise CopyFailed(full) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise CopyFailed("The database file is damaged. Restore a backup.") from error
    except apsw.Error as error:
        reason = _REASONS.get(type(error), str(error))
        raise CopyFailed(f"Cannot copy the library: {reason}.") from error
    except OSError as error:
        if error.errno not in _DISK_FULL:
            raise
        raise CopyFailed(full) from error


@contextmanager
def _shared(folder: Path) -> Iterator[None]:
    lock = FolderLock(folder)
    try:
        if replacing.is_interrupted(folder):
            with lock.alone():
                replacing.finish(folder)
        lock.share()
        yield
    finally:
        lock.close()


@contextmanager
def _part(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside the target; renamed to the target at the end, or deleted."""
    path = target.with_name(f"{target.name}.part")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+b") as part:
        if not _is_exclusive(part, path):
            raise CopyFailed(f"Another backup is writing to {target}.")
        try:
            os.fchmod(part.fileno(), 0o600)
            part.truncate()
            yield part
            path.replace(target)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _is_exclusive(part: IO[bytes], path: Path) -> bool:
    try:
        fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another backup may have renamed the file before we got the lock.
        return os.path.samestat(os.fstat(part.fileno()), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _snapshot(source: Path, target: Path, advance: Advance) -> int:
    """Copies a snapshot of the database and checks it; returns the last step of its schema."""
    _remove_database(target)
    os.close(private_files.open_new(target, belongs_to_folder=False))
    with closing(connect(source, read_only=True)) as original, closing(_created(target)) as copy:
        # This file is temporary: its contents are copied to the archive, which is synced.
        copy.execute("PRAGMA synchronous = OFF")
        _copy_pages(original, copy, advance)
        copy.execute("PRAGMA journal_mode = DELETE")
        return _checked(copy, advance)


def _created(target: Path) -> apsw.Connection:
    return apsw.Connection(str(target))


def _copy_pages(original: apsw.Connection, copy: apsw.Connection, advance: Advance) -> None:
    # The open transaction is a snapshot: without it, every write of the server would restart the
    # copy. Writers continue, but the write-ahead log grows until the copy is done.
    original.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
    with copy.backup("main", original, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_PER_STEP)
            advance("Copying", backup.page_count - backup.remaining, backup.page_count)
    original.execute("ROLLBACK")


def _checked(copy: apsw.Connection, advance: Advance) -> int:
    advance("Checking", 0, 1)
    copy.execute("PRAGMA trusted_schema = OFF")
    # Also checks the full-text index.
    problems = [row[0] for row in copy.execute("PRAGMA integrity_check(3)")]
    if problems != ["ok"]:
        raise CopyFailed(f"The database file is damaged: {'; '.join(map(str, problems))}.")
    applied = SqliteSchema(copy).applied()
    if not applied:
        raise CopyFailed("The database is not a Bowerbird library.")
    advance("Checking", 1, 1)
    return applied[-1].number


def _parts(snapshot: Path, folder: Path) -> dict[str, Path]:
    parts = {archives.DATABASE: snapshot}
    # Exports expire after a day and can be created again; checked files expire too.
    excluded = {folder / archives.FILES / name for name in (jobs.FOLDER, CHECKED_FILES)}
    for path in sorted((folder / archives.FILES).rglob("*")):
        if path.is_file() and not path.is_symlink() and excluded.isdisjoint(path.parents):
            parts[path.relative_to(folder).as_posix()] = path
    return parts


def _unpack(archive: Path, part: Path, advance: Advance) -> Manifest:
    with _named(archive), archive.open("rb") as file:
        return archives.read(file, part, advance)


@contextmanager
def _named(archive: Path) -> Iterator[None]:
    try:
        yield
    except BadArchive as error:
        raise BadArchive(f"Cannot restore {archive.absolute()}. {error}") from None


def _prepare(part: Path, advance: Advance) -> list[str]:
    """Checks and migrates the unpacked library, and invalidates every cache of it."""
    file = part / FILE_NAME
    try:
        with _opened(file) as connection:
            _checked(connection, advance)
        migrated = sqlite_schema.prepare(part)
        with _opened(file) as connection:
            connection.execute(queries.load("accounts", "sqlite")["renew_epochs"])
            # Without a write-ahead log, the database is one file that can be renamed.
            connection.execute("PRAGMA journal_mode = DELETE")
    except apsw.FullError:
        raise
    except apsw.Error as error:
        raise CopyFailed(f"Cannot use the database of the backup: {error}.") from error
    return migrated


@contextmanager
def _opened(file: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        yield connection
    finally:
        connection.close()


def _require_room(folder: Path, archive: Path) -> None:
    needed, free = archive.stat().st_size, shutil.disk_usage(folder).free
    if free < needed:
        raise CopyFailed(
            f"{folder} has {free // _MEGABYTE} MB free. The backup needs "
            f"{needed // _MEGABYTE + 1} MB."
        )


def _remove_database(file: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
