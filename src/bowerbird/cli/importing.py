"""`import`: takes files of bookmarks into an account's library."""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.progress import Advance, shown_steps
from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.imports import Import, RefusedRecord, Tally
from bowerbird.sources.json_records import Readable

_STDIN: Final = "-"
_SHOWN: Final = 20
_INTERRUPTED: Final = 130


@click.command("import")
@click.argument("email")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--refused",
    "refused_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the place and reason of every refusal to FILE.",
)
def import_files(email: str, files: Sequence[str], refused_file: Path | None) -> None:
    r"""Take bookmarks into an account's library, from JSON in the API's own shape.

    A FILE holds an array, one object a line, an account's export, or an answer of the API; "-"
    is the standard input. A wrong record is refused by itself: the others go in, and the command
    exits with 1. Running it twice changes nothing.

    \b
    Example:
      bowerbird import you@example.com posts.json
      zcat posts.jsonl.gz | bowerbird import you@example.com -
    """
    for file in files:
        _require_readable(file)
    if refused_file is not None and refused_file.exists():
        raise click.ClickException(f"{refused_file} exists. Choose another for the refusals.")
    tally = Tally()
    try:
        with _refusals(refused_file) as refusals, shown_steps() as advance:
            work = _Work(email, files, refusals, advance, tally)
            with_library(work.run)
    except KeyboardInterrupt:
        _tell(tally, refusals)
        click.echo("Stopped. What is counted here is in; run it again to go on.", err=True)
        sys.exit(_INTERRUPTED)
    except Refusal:
        if tally.imported:
            _tell(tally, refusals)
        raise
    _tell(tally, refusals)
    sys.exit(1 if tally.refused else 0)


class _Refusals:
    """Keeps the first few, which is all that people read; hands every one to a file."""

    def __init__(self, output: IO[str] | None) -> None:
        self._output = output
        self.first: list[RefusedRecord] = []

    def add(self, refusal: RefusedRecord) -> None:
        if len(self.first) < _SHOWN:
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


class _Watched:
    """A file that shows how much of it was read."""

    def __init__(self, source: IO[bytes], name: str, advance: Advance) -> None:
        self._source, self._advance = source, advance
        self._what = f"Reading {Path(name).name}"
        status = os.fstat(source.fileno())
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        self._done = 0

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._done += len(data)
        if self._size:
            self._advance(self._what, self._done, self._size)
        return data


@contextmanager
def _source(file: str, advance: Advance) -> Iterator[Readable]:
    if file == _STDIN:
        yield sys.stdin.buffer
        return
    with Path(file).open("rb") as source:
        yield _Watched(source, file, advance)


@contextmanager
def _refusals(file: Path | None) -> Iterator[_Refusals]:
    if file is None:
        yield _Refusals(None)
        return
    with file.open("w", encoding="utf-8", errors="backslashreplace") as output:
        yield _Refusals(output)


def _require_readable(file: str) -> None:
    """Before the first post goes in, rather than after the first file."""
    if file != _STDIN:
        with Path(file).open("rb"):
            pass


def _tell(tally: Tally, refusals: _Refusals) -> None:
    outcome = tally.outcome
    click.echo(f"new {outcome.new}")
    click.echo(f"changed {outcome.changed}")
    click.echo(f"unchanged {outcome.unchanged}")
    click.echo(f"refused {tally.refused}")
    if tally.removed_characters:
        click.echo(f"characters removed {tally.removed_characters}")
    for refusal in refusals.first:
        click.echo(str(refusal), err=True)
    if tally.refused > len(refusals.first):
        more = tally.refused - len(refusals.first)
        click.echo(f"and {more} more refusals; --refused FILE writes them all.", err=True)
