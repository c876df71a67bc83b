"""Files and folders that only the user who runs the service can read, whatever the umask is.

If root runs a command, they belong to the owner of the folder they are in, so that the service can
still use them.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
_ROOT: Final = 0
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def create(file: Path) -> None:
    """Creates an empty file, unless it exists; then only the access of other users is removed.

    An existing file is not opened: closing it would release SQLite's locks of this process.
    """
    try:
        os.close(open_new(file))
    except FileExistsError:
        restrict(file)


def open_for_update(file: Path) -> int:
    """A descriptor of the file, which is created if necessary."""
    create(file)
    return os.open(file, os.O_RDWR | os.O_CREAT, FILE_MODE)


def restrict(file: Path) -> None:
    """Removes the access of other users to a file of ours. Earlier releases followed the umask."""
    with suppress(OSError):
        status = file.stat()
        if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != FILE_MODE:
            file.chmod(FILE_MODE)


def make_folder(folder: Path) -> None:
    """Creates the folder and its missing parents. The mode of an existing folder is kept."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(mode=FOLDER_MODE)
        folder.chmod(FOLDER_MODE)
        give_to_folder_owner(folder)


def open_new(file: Path, *, belongs_to_folder: bool = True) -> int:
    """A descriptor to write a file that must not exist yet."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    os.fchmod(descriptor, FILE_MODE)
    if belongs_to_folder:
        _give(descriptor, file.parent)
    return descriptor


def give_to_folder_owner(path: Path) -> None:
    """For files and folders that a library has created."""
    if os.geteuid() != _ROOT:
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            _give(descriptor, path.parent)
        finally:
            os.close(descriptor)


def _give(descriptor: int, folder: Path) -> None:
    if os.geteuid() != _ROOT:
        return
    status = os.fstat(descriptor)
    # The folder's owner may have replaced our file by a link to another file of root.
    is_ours = stat.S_ISDIR(status.st_mode) or status.st_nlink == 1
    # Not every file system has owners.
    with suppress(OSError):
        owner = folder.stat()
        if is_ours and status.st_uid == _ROOT and owner.st_uid != _ROOT:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
