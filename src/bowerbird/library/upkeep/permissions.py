"""Finds files of the data folder that this user cannot use, or that others can read."""

import itertools
import os
import pwd
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.settings import Settings
from bowerbird.storage.backup import last_backup
from bowerbird.storage.private_files import OTHERS
from bowerbird.storage.sqlite.database import FILE_NAME, with_side_files
from bowerbird.storage.sqlite.schema import LOCK_NAME as FOLDER_LOCK
from bowerbird.storage.sqlite.write_lock import LOCK_NAME as WRITE_LOCK

_MAX_CHECKED: Final = 100_000
_MAX_NAMED: Final = 3


def denied(settings: Settings) -> Result | None:
    """The first file of the library that exists but that this user cannot read and write."""
    folder = settings.data_dir.absolute()
    names = (FOLDER_LOCK, WRITE_LOCK, last_backup.FILE_NAME)
    files = (*with_side_files(folder / FILE_NAME), *(folder / name for name in names))
    for path in (folder, *files):
        try:
            owner = path.stat().st_uid
            mode = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
            is_denied = not os.access(path, mode, effective_ids=True)
        except OSError:
            continue
        if is_denied:
            return _denied(folder, path, owner)
    return None


def _denied(folder: Path, path: Path, owner: int) -> Result:
    user = os.geteuid()
    sentence = (
        f"{path} belongs to {_name(owner)}; this user, {_name(user)}, has no permission to read "
        "and write it"
    )
    chown = f"as root, run chown -R {_name(user)}: {shlex.quote(str(folder))}"
    if owner == user:
        fix = f"run chmod u+rwX {shlex.quote(str(path))}"
    elif folder.stat().st_uid == user:
        fix = chown
    else:
        owner_name = _name(folder.stat().st_uid)
        fix = f"run bowerbird as {owner_name}, the owner of the folder; or, {chown}"
    return Result(Mark.BROKEN, "permissions", sentence, fix)


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def open_to_others(folder: Path) -> str:
    """The folder and files that other users can access, as text for a sentence, or ""."""
    found = [str(folder)] if _is_open(folder) else []
    below = itertools.islice(_below(folder), _MAX_CHECKED)
    found += [str(path.relative_to(folder)) for path in below if _is_open(path)]
    named, others = found[:_MAX_NAMED], len(found) - _MAX_NAMED
    if others > 0:
        return f"{', '.join(named)} and {others} more"
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in (*folders, *sorted(files)):
            yield Path(parent) / name


def _is_open(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return not path.is_symlink() and bool(status.st_mode & OTHERS)
