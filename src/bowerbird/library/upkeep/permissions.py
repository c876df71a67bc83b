"""Finds files of the data folder that other users of the machine can read."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bowerbird.storage.private_files import OTHERS

_MAX_CHECKED: Final = 100_000
_MAX_NAMED: Final = 3


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
