"""Remembers in the data folder when a backup last succeeded.

In the folder and not in the database: a restored database would name an older backup.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.storage import private_files

FILE_NAME: Final = "last-backup.json"


class LastBackup(Struct, frozen=True):
    made_at: int
    # Of the library before it was packed.
    bytes: int


def remember(folder: Path, backup: LastBackup) -> None:
    """Raises OSError if the folder cannot be written."""
    part = folder / f"{FILE_NAME}.part"
    with suppress(FileNotFoundError):
        part.unlink()
    with os.fdopen(private_files.open_new(part), "wb") as file:
        file.write(msgspec.json.encode(backup))
    part.replace(folder / FILE_NAME)


def read(folder: Path) -> LastBackup | None:
    """None if no backup is known."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=LastBackup)
    except (OSError, msgspec.DecodeError):
        return None
