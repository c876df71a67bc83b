"""Replaces the library by a restored one, in steps that any process can finish after a crash.

The new library is prepared in a separate folder. Renaming that folder to READY commits the
replacement: before it the old library is valid, after it the new one is. The next process that
opens the data folder runs the remaining steps. Each step can be repeated. All of them need the data
folder to be locked exclusively.
"""

import os
import shutil
from pathlib import Path
from typing import Final

import apsw

from bowerbird.storage import private_files
from bowerbird.storage.sqlite.database import FILE_NAME, connect

PART: Final = "restore.part"
READY: Final = "restore.ready"
_SUFFIX: Final = "before-restore"
_KEEP_AS: Final = "keep-as"
_FILES: Final = "files"
_BUSY_MS: Final = 5_000


class LibraryInUse(Exception):  # noqa: N818 - named for what it is
    """A program that does not use our lock has the library open."""


def is_interrupted(folder: Path) -> bool:
    return (folder / READY).is_dir()


def replace(folder: Path) -> list[Path]:
    """Replaces the library by the one in PART; returns the paths of the old database and files."""
    file, part = folder / FILE_NAME, folder / PART
    suffix = _free_suffix(folder)
    if file.exists():
        _checkpoint(file)
    private_files.make_folder(part / _FILES)
    private_files.create(part / _KEEP_AS)
    (part / _KEEP_AS).write_text(suffix, encoding="ascii")
    _sync_tree(part)
    part.rename(folder / READY)
    sync(folder)
    finish(folder)
    old = (folder / f"{name}.{suffix}" for name in (FILE_NAME, _FILES))
    return [path for path in old if path.exists()]


def finish(folder: Path) -> None:
    """Runs the remaining steps of a committed replacement, if there is one."""
    ready = folder / READY
    if not ready.is_dir():
        return
    if (ready / _KEEP_AS).exists():
        suffix = (ready / _KEEP_AS).read_text(encoding="ascii")
        _swap_files(folder, suffix)
        _swap_database(folder, suffix)
        # Switches back to WAL mode now, because that needs exclusive access.
        connect(folder / FILE_NAME).close()
        # Removed first, so that the steps above never run on a partly deleted folder.
        (ready / _KEEP_AS).unlink()
        sync(ready)
    shutil.rmtree(ready)
    sync(folder)


def _swap_files(folder: Path, suffix: str) -> None:
    new, files = folder / READY / _FILES, folder / _FILES
    if not new.is_dir():
        return
    if files.exists():
        files.rename(folder / f"{_FILES}.{suffix}")
        sync(folder)
    if any(new.iterdir()):
        new.rename(files)
    else:
        new.rmdir()
    sync(folder)


def _swap_database(folder: Path, suffix: str) -> None:
    new, file = folder / READY / FILE_NAME, folder / FILE_NAME
    if not new.exists():
        return
    old = folder / f"{FILE_NAME}.{suffix}"
    if file.exists():
        _checkpoint(file)
        _keep(file, old)
    # SQLite replays a log into any file of the same name. An intact library has no log by now; that
    # of a corrupt library must be moved before the new file gets the name.
    for log in ("-wal", "-journal"):
        if (beside := folder / (FILE_NAME + log)).exists():
            beside.rename(folder / (old.name + log))
    (folder / f"{FILE_NAME}-shm").unlink(missing_ok=True)
    sync(folder)
    # One rename, so that a complete library, old or new, has the name at any time.
    new.replace(file)
    sync(folder)


def _checkpoint(file: Path) -> None:
    """Writes the log into the database file and removes it."""
    try:
        # A file that is too corrupt to be read is left as it is, with its log; opened for writing,
        # SQLite would delete the log.
        _run(file, apsw.SQLITE_OPEN_READONLY, "SELECT count(*) FROM sqlite_schema")
        _run(file, apsw.SQLITE_OPEN_READWRITE, "PRAGMA journal_mode = DELETE")
    except (apsw.BusyError, apsw.LockedError):
        raise LibraryInUse(f"Another program has {file} open. Close it first.") from None
    except apsw.Error:
        return


def _run(file: Path, flags: int, statement: str) -> None:
    connection = apsw.Connection(str(file), flags=flags)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute(statement).fetchall()
    finally:
        connection.close()


def _keep(file: Path, old: Path) -> None:
    if old.exists():
        return
    try:
        old.hardlink_to(file)
    except OSError:
        # Not every file system supports hard links.
        part = old.with_name(f"{old.name}.part")
        shutil.copyfile(file, part)
        part.chmod(0o600)
        private_files.give_to_folder_owner(part)
        sync(part)
        part.rename(old)


def _free_suffix(folder: Path) -> str:
    """A suffix that no earlier restore has used, so that its files are not overwritten."""
    count = 1
    suffix = _SUFFIX
    while any(os.path.lexists(folder / f"{name}.{suffix}") for name in (FILE_NAME, _FILES)):
        count += 1
        suffix = f"{_SUFFIX}-{count}"
    return suffix


def _sync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
