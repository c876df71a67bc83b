"""Puts a restored library in the place of the old one, in steps that any process can finish.

The new library waits in a folder of its own. Renaming that folder to READY decides: before it
the old library stands, after it the new one does, and whoever opens the data folder next takes
the steps that are left. Each of them can be taken twice. All need the data folder alone.
"""

import os
import shutil
from pathlib import Path
from typing import Final

import apsw

from bowerbird.storage.sqlite.database import FILE_NAME, connect

PART: Final = "restore.part"
READY: Final = "restore.ready"
_KEPT: Final = "before-restore"
_KEEP_AS: Final = "keep-as"
_FILES: Final = "files"
_BUSY_MS: Final = 5_000


class LibraryInUse(Exception):  # noqa: N818 - named for what it is
    """A program that does not know our lock has the library open."""


def is_interrupted(folder: Path) -> bool:
    return (folder / READY).is_dir()


def replace(folder: Path) -> list[Path]:
    """Puts the library in PART into place; returns where database and files of the old one are."""
    file, part = folder / FILE_NAME, folder / PART
    suffix = _free_suffix(folder)
    if file.exists():
        _fold_log_in(file)
    (part / _FILES).mkdir(exist_ok=True)
    (part / _KEEP_AS).write_text(suffix, encoding="ascii")
    _sync_tree(part)
    part.rename(folder / READY)
    _sync(folder)
    finish(folder)
    kept = (folder / f"{name}.{suffix}" for name in (FILE_NAME, _FILES))
    return [path for path in kept if path.exists()]


def finish(folder: Path) -> None:
    """Takes the steps that are left of a replacement, if one was decided."""
    ready = folder / READY
    if not ready.is_dir():
        return
    if (ready / _KEEP_AS).exists():
        suffix = (ready / _KEEP_AS).read_text(encoding="ascii")
        _swap_files(folder, suffix)
        _swap_database(folder, suffix)
        # Back to a log beside the file while nobody else is there: changing that needs it alone.
        connect(folder / FILE_NAME).close()
        # First what makes the steps above possible, so that they are never taken on a rest.
        (ready / _KEEP_AS).unlink()
        _sync(ready)
    shutil.rmtree(ready)
    _sync(folder)


def _swap_files(folder: Path, suffix: str) -> None:
    new, files = folder / READY / _FILES, folder / _FILES
    if not new.is_dir():
        return
    if files.exists():
        files.rename(folder / f"{_FILES}.{suffix}")
        _sync(folder)
    if any(new.iterdir()):
        new.rename(files)
    else:
        new.rmdir()
    _sync(folder)


def _swap_database(folder: Path, suffix: str) -> None:
    new, file = folder / READY / FILE_NAME, folder / FILE_NAME
    if not new.exists():
        return
    kept = folder / f"{FILE_NAME}.{suffix}"
    if file.exists():
        _fold_log_in(file)
        _keep(file, kept)
    # SQLite replays a log into whatever file stands beside it. A whole library has none left by
    # now; a broken one's must be out of the way before the new file takes the name.
    for log in ("-wal", "-journal"):
        if (beside := folder / (FILE_NAME + log)).exists():
            beside.rename(folder / (kept.name + log))
    (folder / f"{FILE_NAME}-shm").unlink(missing_ok=True)
    _sync(folder)
    # One rename, so that at every moment the name leads to a whole library, the old or the new.
    new.replace(file)
    _sync(folder)


def _fold_log_in(file: Path) -> None:
    """Brings what stands in the log home into the file, and removes the log."""
    try:
        # Reading shows first whether the file is too broken for that: it is then kept as it is,
        # where SQLite would throw the log away.
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


def _keep(file: Path, kept: Path) -> None:
    if kept.exists():
        return
    try:
        kept.hardlink_to(file)
    except OSError:
        # Not every file system has links.
        part = kept.with_name(f"{kept.name}.part")
        shutil.copyfile(file, part)
        part.chmod(0o600)
        _sync(part)
        part.rename(kept)


def _free_suffix(folder: Path) -> str:
    """Nothing that an earlier restore kept is ever overwritten."""
    count = 1
    suffix = _KEPT
    while any(os.path.lexists(folder / f"{name}.{suffix}") for name in (FILE_NAME, _FILES)):
        count += 1
        suffix = f"{_KEPT}-{count}"
    return suffix


def _sync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
