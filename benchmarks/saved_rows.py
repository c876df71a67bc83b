"""Keeps the rows of each measurement as soon as it ends, for a run in several parts.

The table of a result is made from these files. So an interrupted run can go on, and parts that were
measured at different hours appear together, each with its own date, commit and load.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.figures import Row
from benchmarks.options import Options


class Part(msgspec.Struct, frozen=True):
    """The rows of one measurement, and under which circumstances they came about."""

    name: str
    commit: str
    started_at: str
    seconds: float
    # What the machine was doing in the minute before: processes that ran or waited.
    load_average: float
    # Rounds, seconds and log level: parts with others do not go on from these.
    settings: str
    rows: list[Row]
    is_complete: bool
    # CPU time of fixed work before and after: how fast the machine was.
    yardstick: str = ""

    @property
    def is_met(self) -> bool:
        return self.is_complete and not any(row.is_met is False for row in self.rows)


def measure(
    name: str, measurement: Callable[[Options], Iterator[Row]], options: Options, commit: str
) -> Part:
    """Runs a measurement and saves its rows. A failure becomes a row, so that others still run."""
    load_average, started_at = os.getloadavg()[0], datetime.now(UTC).isoformat(timespec="minutes")
    before, started = _yardstick_ms(), time.monotonic()
    rows: list[Row] = []
    is_complete = True
    try:
        # One by one, because those before a failure count.
        for row in measurement(options):
            rows.append(row)  # noqa: PERF402
    except (RuntimeError, OSError) as error:
        is_complete = False
        rows.append(Row(name, "failed", is_met=False, detail=str(error)))
    seconds = time.monotonic() - started
    part = Part(
        name,
        commit,
        started_at,
        seconds,
        load_average,
        _settings(options),
        rows,
        is_complete,
        yardstick=f"{before:.0f}, {_yardstick_ms():.0f} ms",
    )
    folder = _folder(options)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(part)))
    return part


def saved(names: Iterable[str], options: Options) -> list[Part]:
    """What was measured before, in the order of the names."""
    files = [_folder(options) / f"{name}.json" for name in names]
    return [msgspec.json.decode(file.read_bytes(), type=Part) for file in files if file.exists()]


def finished(names: Iterable[str], options: Options, commit: str) -> set[str]:
    """The measurements that need not run again, because nothing has changed since."""
    return {
        part.name
        for part in saved(names, options)
        if part.is_complete and part.commit == commit and part.settings == _settings(options)
    }


def _yardstick_ms() -> float:
    """CPU time of a loop in Python that does not change. The lowest of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        sum(number * number for number in range(200_000))
        times.append(time.process_time() - started)
    return min(times) * 1000


def _settings(options: Options) -> str:
    return f"{options.rounds} rounds of {options.seconds:g} s, log level {options.log_level}"


def _folder(options: Options) -> Path:
    return options.scale.folder / "rows"
