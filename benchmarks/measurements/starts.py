"""Measures the startup time of a new installation, and the memory of an idle server."""

import shutil
import statistics
import time
from collections.abc import Iterator
from typing import Final

from rich.progress import track

from benchmarks import bars, library, servers
from benchmarks.figures import Row, bar_row
from benchmarks.loads.client import Client
from benchmarks.options import Options

_SETTLE_S: Final = 3.0


def measure_start(options: Options) -> Iterator[Row]:
    seconds, cpu_seconds = [], []
    for _ in track(range(options.rounds), description="Starting"):
        folder = options.work_folder / "empty"
        shutil.rmtree(folder, ignore_errors=True)
        started = time.perf_counter()
        with servers.bowerbird(folder, options.log, log_level=options.log_level) as server:
            seconds.append(time.perf_counter() - started)
            cpu_seconds.append(server.cpu_seconds())
    shutil.rmtree(folder)
    detail = f"median of {len(seconds)}, slowest {max(seconds):.2f} s"
    cpu_s = statistics.median(cpu_seconds)
    yield bar_row(bars.START, seconds, cpu=f"{cpu_s:.2f} s", by_cpu=cpu_s, detail=detail)


def measure_memory(options: Options) -> Iterator[Row]:
    """Measures a server with the full library after one request."""
    ours = library.prepare(options.scale)
    with servers.bowerbird(ours.folder, options.log, log_level=options.log_level) as server:
        with Client(server.port) as client:
            client.get_ok("/v1/bookmarks", ours.keys[0])
        time.sleep(_SETTLE_S)
        resident = server.resident_mb()
    detail = "resident set of the process"
    yield bar_row(bars.IDLE_MEMORY, [resident], detail=detail)
