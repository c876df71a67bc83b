"""Prints what an import did with each file: counts on stdout, single records on stderr.

Also reads names of labels on the command line.
"""

from typing import IO, Final

import click

from bowerbird import errors
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
