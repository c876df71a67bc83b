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

from benchmarks import bars, posts, servers
from benchmarks.bars import Bar
from benchmarks.figures import Rates, Row, bar_row, ratio_row
from benchmarks.loads import daily_bounds, load
from benchmarks.loads.client import Client
from benchmarks.loads.load import Request
from benchmarks.options import Options
from benchmarks.servers import Server

_EMAIL: Final = "exporter@example.com"
_BATCH: Final = 2_000
_ROUNDS: Final = 3
_LIMIT_S: Final = 600
_FORMATS: Final = {"json": bars.JSON_EXPORT, "csv": bars.CSV_EXPORT}
_PDF_POSTS, _VOLUMES_POSTS = 1_000, 10_000


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "exported"
    shutil.rmtree(folder, ignore_errors=True)
    key = _fill(folder, options)
    rounds = range(min(_ROUNDS, options.rounds))
    # The formats take turns, so that both meet the same load of the machine.
    runs: dict[str, list[dict[str, Any]]] = {format: [] for format in _FORMATS}
    pdfs = []
    for _ in track(rounds, description="Exporting"):
        for format, of_format in runs.items():
            of_format.append(_run(folder, format))
        pdfs.append(_run(folder, "pdf", _PDF_POSTS))
    for format, bar in _FORMATS.items():
        yield from _format_rows(bar, runs[format], options.scale.import_posts)
    yield from _pdf_rows(pdfs, _run(folder, "pdf", _VOLUMES_POSTS))
    yield _reads(folder, key, options)
    shutil.rmtree(folder)


def _pdf_rows(runs: Sequence[dict[str, Any]], volumes: dict[str, Any]) -> Iterator[Row]:
    clock = f"{statistics.median(run['seconds'] for run in runs):.2f} s by the clock"
    yield bar_row(bars.PDF_CPU, [run["cpu"] for run in runs], detail=clock)
    yield bar_row(bars.PDF_MEMORY, [run["child_mb"] for run in runs])
    cpu = f"{volumes['cpu']:.1f} s"
    yield bar_row(bars.PDF_VOLUMES_MEMORY, [volumes["child_mb"]], cpu=cpu)


def _format_rows(bar: Bar, runs: Sequence[dict[str, Any]], count: int) -> Iterator[Row]:
    # CPU time, because the writing process has low priority and waits on a busy machine.
    times = [run["cpu"] / run["reading"] for run in runs]
    cpu_us, reading_us = (
        statistics.median(run[name] for run in runs) / count * 1e6 for name in ("cpu", "reading")
    )
    seconds = statistics.median(run["seconds"] for run in runs)
    detail = f"{count:,} posts, {count / seconds:,.0f} posts/s by the clock"
    cpu = f"{cpu_us:.1f} against {reading_us:.1f} µs per post"
    yield bar_row(bar, times, cpu=cpu, detail=detail)
    peaks = [max(run["own_mb"], run["child_mb"]) for run in runs]
    yield bar_row(bars.EXPORT_MEMORY, peaks, work=f"{bar.name.partition(' /')[0]}, peak memory")


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
    words = [
        sys.executable,
        "-m",
        "benchmarks.measurements.single_export",
        str(folder),
        format,
        str(limit),
    ]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if result.returncode:
        raise RuntimeError(f"The export failed: {result.stderr[-500:]}")
    figures: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return figures


def _reads(folder: Path, key: str, options: Options) -> Row:
    """Compares lists alone with lists while exports run continuously."""
    requests = [Request("/v1/bookmarks?limit=100", key)]
    alone, beside = Rates(), Rates()
    with (
        servers.bowerbird(folder, options.log, answer_cache_mb=0) as server,
        daily_bounds.forgotten(folder),
    ):
        for number in range(options.rounds):
            load.add_round(alone, server, requests, options, number)
            stop = threading.Event()
            exporting = threading.Thread(target=_export_until, args=(server, key, stop))
            exporting.start()
            load.add_round(beside, server, requests, options, number)
            stop.set()
            exporting.join()
    return ratio_row(bars.LISTS_WHILE_EXPORTING, beside, alone, shared="the export's reading")


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
