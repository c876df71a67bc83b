"""What commands print: listings, progress and JSON.

Also files that they write completely or not at all.
"""

import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Generic, TypeVar

import click
import msgspec
from rich.cells import cell_len

from bowerbird.model.instants import with_offset, without_offset
from bowerbird.storage import private_files

T = TypeVar("T")

Value = str | int | Mapping[str, int] | None
_GAP: Final = 2
_INTERRUPTED: Final = 130
# Controls and what hides or turns text around; line breaks are those of the JSON itself.
_UNPRINTABLE: Final = re.compile(
    "[\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]"
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print a JSON array of objects.")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    # The field of the JSON object.
    name: str
    heading: str
    value: Callable[[T], Value]
    # For people, where that differs from the value.
    text: Callable[[T], str] | None = None

    def cell(self, item: T) -> str:
        value = self.value(item) if self.text is None else self.text(item)
        return "" if value is None else _one_line(str(value))


def moment_column(name: str, heading: str, at: Callable[[T], int | None]) -> Column[T]:
    """When something happened, to the second."""

    def value(item: T) -> str | None:
        return None if (moment := at(item)) is None else with_offset(moment)

    def text(item: T) -> str:
        return "never" if (moment := at(item)) is None else without_offset(moment)[:19]

    return Column(name, heading, value, text)


def print_listing(items: Sequence[T], columns: Sequence[Column[T]], *, as_json: bool) -> None:
    if as_json:
        records = [{column.name: column.value(item) for column in columns} for item in items]
        # As JSON escapes, so that a name cannot change what a terminal shows.
        text = msgspec.json.format(msgspec.json.encode(records), indent=2).decode()
        click.echo(_UNPRINTABLE.sub(_escape, text))
        return
    rows = [[column.cell(item) for column in columns] for item in items]
    if sys.stdout.isatty():
        _print_table([column.heading for column in columns], rows)
    else:
        for row in rows:
            click.echo("\t".join(row))


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Cuts nothing: a row that is wider than the terminal continues on the next line."""
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    heading = _aligned(headings, widths)
    click.echo(heading if os.environ.get("NO_COLOR") else click.style(heading, bold=True))
    for row in rows:
        click.echo(_aligned(row, widths))


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell + " " * (width - cell_len(cell) + _GAP)
        for cell, width in zip(cells, widths, strict=True)
    ]
    return "".join(padded).rstrip()


def _escape(found: re.Match[str]) -> str:
    encoded = found[0].encode("utf-16-be")
    units = [encoded[start : start + 2] for start in range(0, len(encoded), 2)]
    return "".join(f"\\u{unit.hex()}" for unit in units)


def _one_line(text: str) -> str:
    """Names come from clients, so they may contain a line break or an escape sequence."""
    return "".join(character if character.isprintable() else "?" for character in text)


Advance = Callable[[str, int, int], None]


@contextmanager
def progress_bars() -> Iterator[Advance]:
    """Yields a function that takes a step's description, the amount done and the total."""
    if not sys.stderr.isatty():
        yield _ignore
        return
    # Slow to import, and most commands show no progress.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        # A file name may look like markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks = {}

    def advance(description: str, done: int, total: int) -> None:
        if description not in tasks:
            tasks[description] = bar.add_task(description, total=total)
        bar.update(tasks[description], completed=done, total=total)

    with bar:
        yield advance


def _ignore(_description: str, _done: int, _total: int) -> None:
    """Takes the place of bars that nobody would see."""


@contextmanager
def interruptible(sentence: str, before: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Says after Ctrl-C what is done and how to go on. `before` prints what comes before it."""
    try:
        yield
    except KeyboardInterrupt:
        before()
        click.echo(f"Interrupted{sentence}", err=True)
        sys.exit(_INTERRUPTED)


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
