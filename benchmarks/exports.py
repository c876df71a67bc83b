"""Measures exports: CPU time, memory, and the speed of lists while an export runs."""

import json
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rich.progress import track

from benchmarks import daily_bounds, load, posts, servers
from benchmarks.client import Client
from benchmarks.figures import Row, below_row, ratio_row
from benchmarks.load import Request
from benchmarks.options import Options
from benchmarks.servers import Server

_EMAIL: Final = "exporter@example.com"
_BATCH: Final = 2_000
_ROUNDS: Final = 3
_LIMIT_S: Final = 600
_TIMES_TARGETS: Final = {"json": 3, "csv": 4}
_MEMORY_TARGET_MB: Final = 150
# The number of posts in a PDF -> the targets for CPU seconds and memory.
_PDF_TARGETS: Final[dict[int, tuple[float | None, float]]] = {1_000: (2, 250), 10_000: (None, 400)}
_READS_TARGET: Final = 0.7


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "exported"
    shutil.rmtree(folder, ignore_errors=True)
    key = _fill(folder, options)
    rounds = range(min(_ROUNDS, options.rounds))
    # The formats take turns, so that both meet the same load of the machine.
    runs: dict[str, list[dict[str, Any]]] = {format: [] for format in _TIMES_TARGETS}
    for _ in track(rounds, description="Exporting"):
        for format, of_format in runs.items():
            of_format.append(_run(folder, format))
    for format, target in _TIMES_TARGETS.items():
        yield from _format_rows(format, target, runs[format], options.scale.import_posts)
    for count, (cpu_target, memory_target) in _PDF_TARGETS.items():
        run = _run(folder, "pdf", count)
        yield below_row(f"PDF of {count:,} posts", [run["cpu"]], "s of CPU", cpu_target)
        yield below_row(f"PDF of {count:,} posts, memory", [run["child_mb"]], "MB", memory_target)
    yield _reads(folder, key, options)
    shutil.rmtree(folder)


def _format_rows(
    format: str, target: float, runs: Sequence[dict[str, Any]], count: int
) -> Iterator[Row]:
    # CPU time, because the writing process has low priority and waits on a busy machine.
    times = [run["cpu"] / run["reading"] for run in runs]
    cpu_us, reading_us = (
        statistics.median(run[name] for run in runs) / count * 1e6 for name in ("cpu", "reading")
    )
    detail = (
        f"{count:,} posts in {runs[0]['seconds']:.2f} s; CPU per post {cpu_us:.1f} µs, "
        f"{reading_us:.1f} µs to read its row"
    )
    yield below_row(f"export as {format}", times, "times reading the rows", target, detail)
    peaks = [max(run["own_mb"], run["child_mb"]) for run in runs]
    yield below_row(f"export as {format}, peak memory", peaks, "MB", _MEMORY_TARGET_MB)


def _fill(folder: Path, options: Options) -> str:
    """Fills a library with one account, and returns its key."""
    folder.mkdir(parents=True)
    file, count = folder / "posts.json", options.scale.import_posts
    with file.open("wb") as output:
        for first in range(0, count, _BATCH):
            output.writelines(post + b"\n" for post in posts.batch(0, first, _BATCH))
    for words in (("account", "create", _EMAIL), ("import", _EMAIL, str(file))):
        _bowerbird(folder, *words)
    file.unlink()
    return _bowerbird(folder, "key", "create", _EMAIL).split()[-1]


def _bowerbird(folder: Path, *words: str) -> str:
    env = servers.environment(folder)
    result = subprocess.run(
        [*servers.command(), *words], env=env, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise RuntimeError(f"bowerbird {words[0]} failed: {result.stderr}")
    return result.stdout


def _run(folder: Path, format: str, limit: int = 0) -> dict[str, Any]:
    words = [sys.executable, "-m", "benchmarks.single_export", str(folder), format, str(limit)]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if result.returncode:
        raise RuntimeError(f"The export failed: {result.stderr[-500:]}")
    figures: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return figures


def _reads(folder: Path, key: str, options: Options) -> Row:
    """Compares lists alone with lists while exports run continuously."""
    requests = [Request("/v1/bookmarks?limit=100", key)]
    alone, beside = [], []
    with (
        servers.bowerbird(folder, options.log, answer_cache_mb=0) as server,
        daily_bounds.forgotten(folder),
    ):
        for number in range(options.rounds):
            seconds, work = options.seconds, options.work_folder
            alone.append(load.run(server.port, requests, seconds, number, work).per_second)
            stop = threading.Event()
            exporting = threading.Thread(target=_export_until, args=(server, key, stop))
            exporting.start()
            beside.append(load.run(server.port, requests, seconds, number, work).per_second)
            stop.set()
            exporting.join()
    return ratio_row("lists while an export runs", beside, alone, _READS_TARGET)


def _export_until(server: Server, key: str, stop: threading.Event) -> None:
    number = 0
    with Client(server.port) as client:
        while not stop.is_set():
            number += 1
            started = client.post("/v1/exports/json", key, b"{}", f"{id(stop)}-{number}")
            path = started.headers["location"]
            while not stop.wait(0.1) and client.get(path, key).json["data"]["status"] in (
                *("pending", "processing"),
            ):
                pass
