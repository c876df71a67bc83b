"""Prints what an import did with each file: counts on stdout, single records on stderr."""

from typing import IO

import click

from bowerbird.library.imports.report import WORDING, FileReport, ImportReport, Row, nothing_new
from bowerbird.sources.file_posts import shown
from bowerbird.sources.found import Reason


class LeftOutRows:
    """Counts the records that were left out, and writes all of them to a file."""

    def __init__(self, output: IO[str] | None) -> None:
        self._output = output
        self._counts: dict[int, int] = {}

    def add(self, file: FileReport, row: Row) -> None:
        self._counts[id(file)] = self.count(file) + 1
        if self._output is not None:
            self._output.write(f"{_line(file, row)}\n")

    def count(self, file: FileReport) -> int:
        return self._counts.get(id(file), 0)


def _line(file: FileReport, row: Row) -> str:
    return f"{file.name}:{row.line}: {row.sentence}" if row.line else f"{file.name}: {row.sentence}"


def print_file(file: FileReport, rows: LeftOutRows) -> None:
    if file.problem:
        click.echo(f"{file.name}: {file.problem}", err=True)
        return
    click.echo(f"{file.name}: {file.format}")
    counts = {
        "posts found": file.found,
        "new": file.new,
        "changed": file.changed,
        "unchanged": file.unchanged,
    }
    for name, count in counts.items():
        click.echo(f"  {name} {count}")
    _print_if_any("deleted here, not imported again", file.ignored_deleted)
    _print_left_out(file)
    _print_if_any("new labels", file.labels_created, _label_names(file))
    _print_if_any("labels left out", file.labels_left_out)
    _print_if_any("labels shortened", file.labels_shortened)
    _print_if_any("notes", file.notes)
    _print_if_any("dates of saving in the future, not used", file.future_dates)
    for notice in file.notices:
        click.echo(f"  {notice}")
    for row in file.rows:
        click.echo(_line(file, row), err=True)
    if more := rows.count(file) - len(file.rows):
        click.echo(f"and {more} more in {file.name}; --refused FILE writes all of them.", err=True)


def _print_left_out(file: FileReport) -> None:
    _print_if_any("left out", sum(file.left_out.values()))
    for reason, count in file.left_out.items():
        click.echo(f"    {WORDING[Reason(reason)].in_command}: {count}")
    if file.left_out and (sentence := nothing_new(file, "add --with-likes")):
        click.echo(f"  {sentence}")


def _label_names(file: FileReport) -> str:
    names = ", ".join(map(shown, file.new_labels))
    more = file.labels_created - len(file.new_labels)
    return f": {names} and {more} more" if more else f": {names}"


def _print_if_any(name: str, count: int, more: str = "") -> None:
    if count:
        click.echo(f"  {name} {count}{more}")


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
