"""Prints the table of results, and saves the results of a full run."""

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks import load
from benchmarks.figures import Row
from benchmarks.options import Options

_RESULTS: Final = Path(__file__).parent / "results"
_COLUMNS: Final = ("Work", "Measured", "Target", "", "Detail")


def print_table(rows: Sequence[Row]) -> None:
    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*_cells(row), style="bold red" if row.is_met is False else None)
    Console().print(table)


def save(rows: Sequence[Row], options: Options) -> Path:
    _RESULTS.mkdir(exist_ok=True)
    today = datetime.now(UTC).date().isoformat()
    commit = _commit()
    file = _RESULTS / f"{today}-{commit}.md"
    file.write_text(_document(rows, options, today, commit), encoding="utf-8")
    return file


def _document(rows: Sequence[Row], options: Options, today: str, commit: str) -> str:
    scale = options.scale
    setting = (
        f"{scale.total:,} posts in {scale.accounts} accounts, one with {scale.largest:,}; "
        f"SQLite; {options.rounds} rounds of {options.seconds:g} s per server with {load.tool()}; "
        f"log level {options.log_level}."
    )
    lines = [
        f"# {today}, commit {commit}",
        "",
        setting,
        "",
        f"Machine: {_machine()}.",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "|" + " --- |" * len(_COLUMNS),
        *("| " + " | ".join(_cells(row)) + " |" for row in rows),
        "",
        "To repeat, run `make bench` on an idle machine. ../README.md defines each figure.",
        "",
    ]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    return row.work, row.measured, row.target, row.verdict, row.detail


def _commit() -> str:
    """The abbreviated commit, with a suffix if the working tree has changes."""
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty=-changed", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    return run.stdout.strip() or "uncommitted"


def _machine() -> str:
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"{_cpu()}, {os.cpu_count()} cores, {gigabytes:.0f} GB of memory, {_system()}, "
        f"Python {platform.python_version()}"
    )


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, kernel {platform.release()}"
