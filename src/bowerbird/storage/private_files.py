"""Files and folders that only the user who runs the service can read, whatever the umask is."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
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
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, FILE_MODE)
    restrict(file)
    return descriptor


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


def open_new(file: Path) -> int:
    """A descriptor to write a file that must not exist yet."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    os.fchmod(descriptor, FILE_MODE)
    return descriptor
