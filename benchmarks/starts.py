"""Measures the startup time of a new installation, and the memory of an idle server."""

import shutil
import time
from collections.abc import Iterator
from typing import Final

from rich.progress import track

from benchmarks import library, servers
from benchmarks.client import Client
from benchmarks.figures import Row, below_row
from benchmarks.options import Options

_START_TARGET_S, _MEMORY_TARGET_MB = 1.5, 120
_SETTLE_S: Final = 3.0


def measure_start(options: Options) -> Iterator[Row]:
    seconds = []
    for _ in track(range(options.rounds), description="Starting"):
        folder = options.work_folder / "empty"
        shutil.rmtree(folder, ignore_errors=True)
        started = time.perf_counter()
        with servers.bowerbird(folder, options.log, log_level=options.log_level):
            seconds.append(time.perf_counter() - started)
    shutil.rmtree(folder)
    detail = f"median of {len(seconds)}, slowest {max(seconds):.2f} s"
    yield below_row("start to first answer, empty folder", seconds, "s", _START_TARGET_S, detail)


def measure_memory(options: Options) -> Iterator[Row]:
    """Measures a server with the full library after one request."""
    ours = library.prepare(options.scale)
    with servers.bowerbird(ours.folder, options.log, log_level=options.log_level) as server:
        with Client(server.port) as client:
            client.get_ok("/v1/bookmarks", ours.keys[0])
        time.sleep(_SETTLE_S)
        resident = server.resident_mb()
    detail = "resident set of the process"
    yield below_row("idle memory", [resident], "MB", _MEMORY_TARGET_MB, detail)
