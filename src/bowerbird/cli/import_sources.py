"""Opens the files of an import: each can be read more than once, and shows its progress."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_SET
from pathlib import Path
from typing import IO, Final

import click

from bowerbird.cli.output import Advance
from bowerbird.sources.parsing.text_lines import SeekableFile

STDIN: Final = "-"
_OPENED_BY_SHELL: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def name_of(file: str) -> str:
    """The name to print. The name of a file may contain anything."""
    name = "stdin" if file == STDIN else file
    return "".join(character if character.isprintable() else "?" for character in name)


@contextmanager
def opened(file: str, advance: Advance) -> Iterator[SeekableFile]:
    if file == STDIN:
        with _copied(sys.stdin.buffer) as source:
            yield _FileWithProgress(source, "stdin", advance)
        return
    with Path(file).open("rb") as source:
        if source.seekable():
            yield _FileWithProgress(source, Path(file).name, advance)
        else:
            with _copied(source) as copy:
                yield _FileWithProgress(copy, Path(file).name, advance)


@contextmanager
def _copied(pipe: IO[bytes]) -> Iterator[IO[bytes]]:
    """A pipe can be read once, but a format is recognised before it is read."""
    # It has no name, so that nobody else can open it, and nothing stays behind.
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(pipe, copy)
        yield copy


class _FileWithProgress:
    def __init__(self, source: IO[bytes], name: str, advance: Advance) -> None:
        self._source, self._advance = source, advance
        self._description = f"Reading {name}"
        self._size = os.fstat(source.fileno()).st_size

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        if self._size:
            self._advance(self._description, self._source.tell(), self._size)
        return data

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        return self._source.seek(offset, whence)


def require_readable(file: str) -> None:
    """Reports an unreadable file before the import starts, not after the files before it."""
    # These name pipes that the shell has opened for this command, as <(…) does.
    if file == STDIN or file.startswith(_OPENED_BY_SHELL):
        return
    mode = Path(file).stat().st_mode
    if stat.S_ISREG(mode):
        with Path(file).open("rb"):
            pass
    elif stat.S_ISDIR(mode):
        raise click.ClickException(f"{file} is a folder. Name the files in it.")
    elif stat.S_ISFIFO(mode):
        # Opening it would wait until another program writes to it.
        raise click.ClickException(f"{file} is a named pipe. To read a pipe, use - and < {file}.")
    else:
        raise click.ClickException(f"{file} is a socket or a device, not a file.")
