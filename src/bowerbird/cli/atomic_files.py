"""Writes a file completely or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from bowerbird.storage import private_files


def refuse_to_overwrite(file: Path, *, force: bool) -> None:
    if file.exists() and not force:
        raise click.ClickException(f"{file} already exists. To overwrite it, use --force.")


@contextmanager
def written_atomically(file: Path) -> Iterator[IO[bytes]]:
    """Opens a temporary file that replaces `file` on success and is deleted on failure."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    # Only the owner may read it: it holds a whole library.
    descriptor = private_files.open_new(part, belongs_to_folder=False)
    try:
        with os.fdopen(descriptor, "wb") as output:
            yield output
            output.flush()
            os.fsync(descriptor)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
