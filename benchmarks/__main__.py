"""Runs the measurements and prints one table: `make bench`, or `python -m benchmarks --help`."""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks import (
    exports,
    imports,
    lists,
    meaning,
    report,
    scales,
    searches,
    starts,
    tool_calls,
    writes,
)
from benchmarks.figures import Row
from benchmarks.options import Options

MEASURES: Final[dict[str, Callable[[Options], Iterator[Row]]]] = {
    "lists": lists.measure,
    "search": searches.measure,
    "meaning": meaning.measure,
    "import": imports.measure,
    "writes": writes.measure,
    "exports": exports.measure,
    "tools": tool_calls.measure,
    "start": starts.measure_start,
    "memory": starts.measure_memory,
}


def main() -> int:
    asked = _arguments()
    options = Options(
        scale=scales.SMALL if asked.small else scales.FULL,
        rounds=asked.rounds,
        seconds=asked.seconds,
        log_level=asked.log_level,
    )
    options.log.write_bytes(b"")
    rows = [row for name in asked.only or MEASURES for row in _measured(name, options)]
    report.show(rows)
    if not asked.small and not asked.only:
        print(f"Kept in {report.keep(rows, options)}")
    return 1 if any(row.is_held is False for row in rows) else 0


def _measured(name: str, options: Options) -> list[Row]:
    """A measurement that fails must not cost the others their rows."""
    try:
        return list(MEASURES[name](options))
    except (RuntimeError, OSError) as error:
        return [Row(name, "failed", "", is_held=False, detail=str(error))]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="50,000 posts, for trying out; bars mean little then"
    )
    parser.add_argument(
        "--only", action="append", choices=MEASURES, help="measure just this; may be repeated"
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of loading each server")
    parser.add_argument("--seconds", type=float, default=5, help="length of one load")
    parser.add_argument("--log-level", default="info", help="the service's own setting")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
