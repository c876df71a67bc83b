"""What commands that import share: the files they read, names of labels, and what they print.

Counts go to stdout, single records to stderr. A file can be read more than once, and shows its
progress.
"""

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

from bowerbird import errors
from bowerbird.cli.output import Advance
from bowerbird.library.imports.report import (
    COUNTS,
    FileReport,
    ImportReport,
    Row,
    name_of,
    nothing_new,
)
from bowerbird.model.labels import NAME_RULE, clean_name
from bowerbird.sources.file_posts import shown
from bowerbird.sources.parsing.text_lines import SeekableFile

STDIN: Final = "-"
_OPENED_BY_SHELL: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def printed_name(file: str) -> str:
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


_ALWAYS: Final = ("found", "new", "changed", "unchanged")


class LeftOutRows:
    """Counts the records that were left out, and writes all of them, and their links, to files."""

    def __init__(self, output: IO[str] | None, links: IO[str] | None = None) -> None:
        self._output, self._links = output, links
        self._counts: dict[int, int] = {}

    def add(self, file: FileReport, row: Row) -> None:
        self._counts[id(file)] = self.count(file) + 1
        if self._output is not None:
            self._output.write(f"{_line(file, row)}\n")
        if self._links is not None and row.link:
            self._links.write(f"{row.link}\n")

    def count(self, file: FileReport) -> int:
        return self._counts.get(id(file), 0)


def _line(file: FileReport, row: Row) -> str:
    return f"{file.name}:{row.line}: {row.sentence}" if row.line else f"{file.name}: {row.sentence}"


def print_file(file: FileReport, rows: LeftOutRows) -> None:
    if file.problem:
        click.echo(f"{file.name}: {file.problem}", err=True)
        return
    click.echo(f"{file.name}: {file.format}")
    for field in COUNTS:
        count = getattr(file, field)
        # The first four add up, so they are there even if they are 0.
        if count or field in _ALWAYS:
            names = _label_names(file) if field == "labels_created" else ""
            click.echo(f"  {name_of(field)} {count}{names}")
        if field == "ignored_deleted":
            _print_left_out(file)
    for notice in file.notices:
        click.echo(f"  {notice}")
    for row in file.rows:
        click.echo(_line(file, row), err=True)
    if more := rows.count(file) - len(file.rows):
        click.echo(f"and {more} more in {file.name}; --refused FILE writes all of them.", err=True)


def _print_left_out(file: FileReport) -> None:
    if not file.left_out:
        return
    click.echo(f"  left out {sum(file.left_out.values())}")
    for reason, count in file.left_out.items():
        click.echo(f"    {name_of(reason)} {count}")
    if sentence := nothing_new(file, "add --with-likes"):
        click.echo(f"  {sentence}")


def _label_names(file: FileReport) -> str:
    names = ", ".join(map(shown, file.new_labels))
    more = file.labels_created - len(file.new_labels)
    return f": {names} and {more} more" if more else f": {names}"


def print_end(report: ImportReport, email: str) -> None:
    if report.is_dry_run:
        click.echo("This was a dry run: nothing was changed.")
    elif report.written:
        click.echo(
            f"To undo this import, until {report.undo_until[:10]}: "
            f"bowerbird imports undo {email} {report.run_id}"
        )
    elif report.run_id:
        click.echo("Nothing was changed.")


def read_label_name(text: str) -> str:
    name = clean_name(text)
    if name is None:
        raise click.ClickException(
            f"--label: {errors.shown(text)} is not a name for a label. A name has {NAME_RULE}."
        )
    return name
