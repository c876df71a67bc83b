"""Exports: against reading the same rows, their memory, and what lists lose while one runs."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich.progress import track

from benchmarks import load, posts, servers
from benchmarks.client import Client
from benchmarks.figures import Row, most_row, ratio_row
from benchmarks.load import Ask
from benchmarks.options import Options
from benchmarks.servers import Server

_EMAIL: Final = "exporter@example.com"
_BATCH: Final = 2_000
_ROUNDS: Final = 3
_LIMIT_S: Final = 600
_TIMES_BARS: Final = {"json": 3, "csv": 4}
_MEMORY_BAR_MB: Final = 150
# Posts of a PDF -> bars of CPU seconds and memory.
_PDF_BARS: Final[dict[int, tuple[float | None, float]]] = {1_000: (2, 250), 10_000: (None, 400)}
_READS_BAR: Final = 0.7


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "exported"
    shutil.rmtree(folder, ignore_errors=True)
    key = _fill(folder, options)
    rounds = range(min(_ROUNDS, options.rounds))
    for format, bar in _TIMES_BARS.items():
        runs = [_run(folder, format) for _ in track(rounds, description=f"Exporting {format}")]
        # By CPU time: the writing process is nice, and waits on a busy machine.
        times = [run["cpu"] / run["reading"] for run in runs]
        detail = f"{options.scale.import_posts:,} posts in {runs[0]['seconds']:.2f} s"
        yield most_row(f"export as {format}", times, "times reading the rows", bar, detail)
        peaks = [max(run["own_mb"], run["child_mb"]) for run in runs]
        yield most_row(f"export as {format}, peak memory", peaks, "MB", _MEMORY_BAR_MB)
    for count, (cpu_bar, memory_bar) in _PDF_BARS.items():
        run = _run(folder, "pdf", count)
        yield most_row(f"PDF of {count:,} posts", [run["cpu"]], "s of CPU", cpu_bar)
        yield most_row(f"PDF of {count:,} posts, memory", [run["child_mb"]], "MB", memory_bar)
    yield _reads(folder, key, options)
    shutil.rmtree(folder)


def _fill(folder: Path, options: Options) -> str:
    """A library of one account; returns its key."""
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
    ran = subprocess.run(
        [*servers.command(), *words], env=env, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(f"bowerbird {words[0]} failed: {ran.stderr}")
    return ran.stdout


def _run(folder: Path, format: str, most: int = 0) -> dict[str, Any]:
    words = [sys.executable, "-m", "benchmarks.exporting", str(folder), format, str(most)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if ran.returncode:
        raise RuntimeError(f"The export failed: {ran.stderr[-500:]}")
    figures: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return figures


def _reads(folder: Path, key: str, options: Options) -> Row:
    """Lists alone, and lists while one export follows the other."""
    asks = [Ask("/v1/bookmarks?limit=100", key)]
    alone, beside = [], []
    with servers.bowerbird(folder, options.log, answer_cache_mb=0) as server:
        for number in range(options.rounds):
            seconds, work = options.seconds, options.work_folder
            alone.append(load.run(server.port, asks, seconds, number, work).per_second)
            is_over = threading.Event()
            exporting = threading.Thread(target=_export_until, args=(server, key, is_over))
            exporting.start()
            beside.append(load.run(server.port, asks, seconds, number, work).per_second)
            is_over.set()
            exporting.join()
    return ratio_row("lists while an export runs", beside, alone, _READS_BAR)


def _export_until(server: Server, key: str, is_over: threading.Event) -> None:
    number = 0
    with Client(server.port) as client:
        while not is_over.is_set():
            number += 1
            begun = client.post("/v1/exports/json", key, b"{}", f"{id(is_over)}-{number}")
            path = begun.headers["location"]
            while not is_over.wait(0.1) and client.get(path, key).json["data"]["status"] in (
                *("pending", "processing"),
            ):
                pass
