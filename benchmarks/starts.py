"""How soon a new installation answers, and what a server that does nothing costs."""

import shutil
import time
from collections.abc import Iterator
from typing import Final

from rich.progress import track

from benchmarks import library, servers
from benchmarks.client import Client
from benchmarks.figures import Row, most_row
from benchmarks.options import Options

_START_BAR_S, _MEMORY_BAR_MB = 1.5, 120
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
    yield most_row("start to first answer, empty folder", seconds, "s", _START_BAR_S, detail)


def measure_memory(options: Options) -> Iterator[Row]:
    """Of a server on the full library that has answered one request."""
    ours = library.ready(options.scale)
    with servers.bowerbird(ours.folder, options.log, log_level=options.log_level) as server:
        with Client(server.port) as client:
            client.listed("/v1/bookmarks", ours.keys[0])
        time.sleep(_SETTLE_S)
        resident = server.resident_mb()
    yield most_row("idle memory", [resident], "MB", _MEMORY_BAR_MB, "resident set of the process")
