"""Prints the table of results, and saves it."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks import bars, result_files
from benchmarks.bars import Bar
from benchmarks.figures import Row
from benchmarks.loads import load
from benchmarks.options import Options
from benchmarks.saved_rows import Part

_RESULTS: Final = Path(__file__).parent / "results"
_COLUMNS: Final = ("Work", "Measured", "CPU", "Target", "", "Bar of", "Detail")
_PART_COLUMNS: Final = ("Part", "Commit", "Started", "Took", "Load average before", "Yardstick")

_FILE_WIDTH: Final = 240
_CIRCUMSTANCES: Final = (
    "The load average is the number of processes that ran or waited in the minute before a part. "
    "After another part it is that of the benchmarks themselves, about 2. The yardstick is the CPU "
    "time of the sum of 200,000 squares in Python before and after a part: a machine that is "
    "slower, or slower in that hour, takes more CPU time for everything."
)


def announced(names: Iterable[str]) -> Iterator[str]:
    """Prints each name before it is measured."""
    for name in names:
        Console().rule(name)
        yield name


def print_parts(parts: Sequence[Part]) -> None:
    print_table([row for part in parts for row in part.rows])
    circumstances = Table(*_PART_COLUMNS)
    for part in parts:
        circumstances.add_row(*_part_cells(part))
    _console().print(circumstances)


def print_table(rows: Sequence[Row]) -> None:
    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*_cells(row), style="bold red" if row.is_met is False else None)
    _console().print(table)


def _console() -> Console:
    """In a file, lines are as long as they have to be."""
    return Console() if sys.stdout.isatty() else Console(width=_FILE_WIDTH)


def without_row(parts: Sequence[Part]) -> list[Bar]:
    """The bars that nothing was measured for."""
    measured = {row.bar for row in _rows(parts)}
    return [bar for bar in bars.MEASURED.values() if bar.name not in measured]


def save(parts: Sequence[Part], options: Options) -> Path:
    today, commit = datetime.now(UTC).date(), result_files.commit()
    size = "" if options.scale.name == "full" else f"-{options.scale.name}"
    title = f"# {today.isoformat()}, commit {commit}"
    lines = [title, "", *_document(parts, options)]
    return result_files.save(_RESULTS, today, f"{commit}{size}", lines)


def _rows(parts: Sequence[Part]) -> Iterator[Row]:
    for part in parts:
        yield from part.rows
    for bar in bars.ELSEWHERE:
        detail = f"see {bar.elsewhere}"
        yield Row(bar.name, "not measured here", bar.target, detail=detail, source=bar.source)


def _document(parts: Sequence[Part], options: Options) -> list[str]:
    scale, rows = options.scale, [*_rows(parts)]
    setting = (
        f"{scale.total:,} posts in {scale.accounts} accounts, one with {scale.largest:,}; accounts "
        f"of {', '.join(f'{size:,}' for size in scale.growing)} posts in a second library; "
        f"SQLite; {options.rounds} rounds of {options.seconds:g} s per server with {load.tool()}; "
        f"log level {options.log_level}."
    )
    missed = sum(row.is_met is False for row in rows)
    met = sum(row.is_met is True for row in rows)
    return [
        setting,
        "",
        f"Machine: {result_files.machine()}.",
        "",
        f"{met} rows meet their target, {missed} miss it.",
        *(f"No row for the bar: {bar.name}." for bar in without_row(parts)),
        "",
        *result_files.table(_COLUMNS, map(_cells, rows)),
        "",
        _CIRCUMSTANCES,
        "",
        *result_files.table(_PART_COLUMNS, map(_part_cells, parts)),
        "",
        "To repeat, run `make bench` on an idle machine. ../README.md defines each figure.",
    ]


def _cells(row: Row) -> tuple[str, ...]:
    return row.work, row.measured, row.cpu, row.target, row.verdict, row.source, row.detail


def _part_cells(part: Part) -> tuple[str, ...]:
    took, load_average = f"{part.seconds:.0f} s", f"{part.load_average:.1f}"
    return part.name, part.commit, part.started_at, took, load_average, part.yardstick
