"""`import`: imports files of bookmarks into an account's library."""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.progress import Advance, progress_bars
from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.imports import Import, RefusedRecord, Tally
from bowerbird.sources.parsing.json_records import Readable
from bowerbird.storage import private_files

_STDIN: Final = "-"
_OPENED_BY_SHELL: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_MAX_SHOWN: Final = 20
_INTERRUPTED: Final = 130


@click.command("import")
@click.argument("email")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--refused",
    "refused_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the line and reason of every refused record to FILE.",
)
def import_files(email: str, files: Sequence[str], refused_file: Path | None) -> None:
    r"""Import bookmarks into an account's library.

    A FILE contains bookmarks as JSON in the format of the API: an array, one object per line, an
    account export, or a response of the API. "-" reads the standard input. The command skips an
    invalid record, imports the others, and then exits with 1. Importing the same file twice
    changes nothing.

    \b
    Example:
      bowerbird import you@example.com posts.json
      zcat posts.jsonl.gz | bowerbird import you@example.com -
    """
    for file in files:
        _require_readable(file)
    if refused_file is not None and refused_file.exists():
        raise click.ClickException(
            f"{refused_file} already exists. Choose another file for --refused."
        )
    tally = Tally()
    try:
        with _refusals(refused_file) as refusals, progress_bars() as advance:
            work = _Work(email, files, refusals, advance, tally)
            with_library(work.run)
    except KeyboardInterrupt:
        _print_summary(tally, refusals)
        click.echo(
            "Interrupted. The records counted here are stored. To continue, run the command again.",
            err=True,
        )
        sys.exit(_INTERRUPTED)
    except Refusal:
        if tally.imported:
            _print_summary(tally, refusals)
        raise
    _print_summary(tally, refusals)
    sys.exit(1 if tally.refused or tally.left_out_labels else 0)


class _Refusals:
    """Keeps the first few records to show them, and writes all of them to a file."""

    def __init__(self, output: IO[str] | None) -> None:
        self._output = output
        self.first: list[RefusedRecord] = []
        self.count = 0

    def add(self, refusal: RefusedRecord) -> None:
        self.count += 1
        if len(self.first) < _MAX_SHOWN:
            self.first.append(refusal)
        if self._output is not None:
            self._output.write(f"{refusal}\n")


class _Work:
    def __init__(
        self,
        email: str,
        files: Sequence[str],
        refusals: _Refusals,
        advance: Advance,
        tally: Tally,
    ) -> None:
        self._email, self._files = email, files
        self._refusals, self._advance, self._tally = refusals, advance, tally

    async def run(self, opened: LibraryContext) -> None:
        account = await Accounts(opened.database, opened.clock).find(self._email)
        imported = Import(opened.database, opened.clock, account, self._refusals.add, self._tally)
        for file in self._files:
            with _source(file, self._advance) as source:
                await imported.read(source, "stdin" if file == _STDIN else file)


class _FileWithProgress:
    """Shows how much of a file has been read."""

    def __init__(self, source: IO[bytes], name: str, advance: Advance) -> None:
        self._source, self._advance = source, advance
        self._description = f"Reading {Path(name).name}"
        status = os.fstat(source.fileno())
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        self._done = 0

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._done += len(data)
        if self._size:
            self._advance(self._description, self._done, self._size)
        return data


@contextmanager
def _source(file: str, advance: Advance) -> Iterator[Readable]:
    if file == _STDIN:
        yield sys.stdin.buffer
        return
    with Path(file).open("rb") as source:
        yield _FileWithProgress(source, file, advance)


@contextmanager
def _refusals(file: Path | None) -> Iterator[_Refusals]:
    if file is None:
        yield _Refusals(None)
        return
    descriptor = private_files.open_new(file)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as output:
        yield _Refusals(output)


def _require_readable(file: str) -> None:
    """Reports an unreadable file before the import starts, not after the files before it."""
    # These name pipes that the shell has opened for this command, as <(…) does.
    if file == _STDIN or file.startswith(_OPENED_BY_SHELL):
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


def _print_summary(tally: Tally, refusals: _Refusals) -> None:
    outcome = tally.outcome
    click.echo(f"new {outcome.new}")
    click.echo(f"changed {outcome.changed}")
    click.echo(f"unchanged {outcome.unchanged}")
    click.echo(f"refused {tally.refused}")
    if tally.left_out_labels:
        click.echo(f"labels left out {tally.left_out_labels}")
    if tally.removed_characters:
        click.echo(f"characters removed {tally.removed_characters}")
    for refusal in refusals.first:
        click.echo(str(refusal), err=True)
    if more := refusals.count - len(refusals.first):
        records = "records" if tally.left_out_labels else "refused records"
        click.echo(f"and {more} more {records}; --refused FILE writes all of them.", err=True)
