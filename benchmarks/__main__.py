"""Runs the measurements and prints one table: `make bench`, or `python -m benchmarks --help`."""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks import report, result_files, saved_rows, scales
from benchmarks.figures import Row
from benchmarks.measurements import (
    attacks,
    crawls,
    exports,
    growth,
    highlights,
    hostile_requests,
    images,
    imports,
    keys,
    lists,
    meaning,
    searches,
    signed_in_pages,
    starts,
    suggested_labels,
    tool_calls,
    turns,
    writes,
    x_pages,
)
from benchmarks.options import Options

MEASUREMENTS: Final[dict[str, Callable[[Options], Iterator[Row]]]] = {
    "lists": lists.measure,
    "crawls": crawls.measure,
    "growth": growth.measure,
    "search": searches.measure,
    "highlights": highlights.measure,
    "meaning": meaning.measure,
    "suggested-labels": suggested_labels.measure,
    "import": imports.measure,
    "x-pages": x_pages.measure,
    "writes": writes.measure,
    "turns": turns.measure,
    "exports": exports.measure,
    "tools": tool_calls.measure,
    "pages": signed_in_pages.measure,
    "images": images.measure,
    "keys": keys.measure,
    "attacks": attacks.measure,
    "hostile-requests": hostile_requests.measure,
    "start": starts.measure_start,
    "memory": starts.measure_memory,
}


def main() -> int:
    arguments = _arguments()
    # Like Ctrl-C: the servers that were started are stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = Options(
        scale=scales.SMALL if arguments.small else scales.FULL,
        rounds=arguments.rounds,
        seconds=arguments.seconds,
        log_level=arguments.log_level,
    )
    options.log.write_bytes(b"")
    names = [] if arguments.table else arguments.only or list(MEASUREMENTS)
    commit = result_files.commit()
    if arguments.resume:
        finished = saved_rows.finished(names, options, commit)
        names = [name for name in names if name not in finished]
    measured = [
        saved_rows.measure(name, MEASUREMENTS[name], options, commit)
        for name in report.announced(names)
    ]
    is_whole = not arguments.only
    parts = saved_rows.saved(MEASUREMENTS, options) if is_whole or arguments.save else measured
    report.print_parts(parts)
    if not parts:
        print("Nothing was measured yet.")
        return 0
    if arguments.save or (is_whole and not arguments.small and not arguments.table):
        print(f"Saved in {report.save(parts, options)}")
    missing = report.without_row(parts) if is_whole else []
    for bar in missing:
        print(f"No row for the bar: {bar.name} ({bar.target}, {bar.source})")
    return 1 if missing or not all(part.is_met for part in parts) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="50,000 posts, a quick trial; ignore the targets then"
    )
    parser.add_argument(
        "--only", action="append", choices=MEASUREMENTS, help="measure only this; may be repeated"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue after an interruption: skip what was measured with this commit",
    )
    parser.add_argument(
        "--save",
        action="store_true",
        help="with --only, --small or --table: save the table of all parts so far in results/",
    )
    parser.add_argument(
        "--table", action="store_true", help="measure nothing, show what was measured so far"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="how many times each server is loaded"
    )
    parser.add_argument("--seconds", type=float, default=5, help="duration of one load")
    parser.add_argument("--log-level", default="info", help="the log level of the service")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
