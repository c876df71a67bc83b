"""Runs the measurements and prints one table: `make bench`, or `python -m benchmarks --help`."""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks import (
    attacks,
    exports,
    growth,
    imports,
    lists,
    meaning,
    report,
    scales,
    searches,
    signed_in_pages,
    starts,
    tool_calls,
    turns,
    writes,
    x_pages,
)
from benchmarks.figures import Row
from benchmarks.options import Options

MEASUREMENTS: Final[dict[str, Callable[[Options], Iterator[Row]]]] = {
    "lists": lists.measure,
    "growth": growth.measure,
    "search": searches.measure,
    "meaning": meaning.measure,
    "import": imports.measure,
    "x-pages": x_pages.measure,
    "writes": writes.measure,
    "turns": turns.measure,
    "exports": exports.measure,
    "tools": tool_calls.measure,
    "pages": signed_in_pages.measure,
    "attacks": attacks.measure,
    "start": starts.measure_start,
    "memory": starts.measure_memory,
}


def main() -> int:
    arguments = _arguments()
    options = Options(
        scale=scales.SMALL if arguments.small else scales.FULL,
        rounds=arguments.rounds,
        seconds=arguments.seconds,
        log_level=arguments.log_level,
    )
    options.log.write_bytes(b"")
    names = arguments.only or MEASUREMENTS
    rows = [row for name in names for row in _measure(name, options)]
    report.print_table(rows)
    if not arguments.small and not arguments.only:
        print(f"Saved in {report.save(rows, options)}")
    return 1 if any(row.is_met is False for row in rows) else 0


def _measure(name: str, options: Options) -> list[Row]:
    """Turns a failure into a row, so that the other measurements still run."""
    try:
        return list(MEASUREMENTS[name](options))
    except (RuntimeError, OSError) as error:
        return [Row(name, "failed", "", is_met=False, detail=str(error))]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="50,000 posts, a quick trial; ignore the targets then"
    )
    parser.add_argument(
        "--only", action="append", choices=MEASUREMENTS, help="measure only this; may be repeated"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="how many times each server is loaded"
    )
    parser.add_argument("--seconds", type=float, default=5, help="duration of one load")
    parser.add_argument("--log-level", default="info", help="the log level of the service")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
