"""Measures `bowerbird import` with a JSON file: first all posts are new, then all unchanged."""

import os
import shutil
import sqlite3
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from rich.progress import track

from benchmarks import bars, library, posts, servers
from benchmarks.bars import Bar
from benchmarks.figures import Rates, Row, bar_row, per_one, ratio_row
from benchmarks.loads import load
from benchmarks.loads.load import Request
from benchmarks.measurements import token_texts
from benchmarks.options import Options

_EMAIL: Final = "importer@example.com"
_LIMIT_S: Final = 300.0
_ROUNDS: Final = 3
_BATCH: Final = 2_000


class _Run(NamedTuple):
    seconds: float
    cpu_seconds: float
    peak_mb: float


def measure(options: Options) -> Iterator[Row]:
    count = options.scale.import_posts
    file = _write_file(options.work_folder / "posts.json", count)
    new, again = [], []
    for _ in track(range(min(_ROUNDS, options.rounds)), description="Importing"):
        folder = options.work_folder / "imported"
        shutil.rmtree(folder, ignore_errors=True)
        _run(folder, options.log, "account", "create", _EMAIL, "--plan", "pro")
        new.append(_run(folder, options.log, "import", _EMAIL, str(file)))
        again.append(_run(folder, options.log, "import", _EMAIL, str(file)))
        _check_count(folder, count)
    shutil.rmtree(folder)
    yield _row(bars.IMPORT_NEW, new, count)
    yield _row(bars.IMPORT_UNCHANGED, again, count)
    yield bar_row(bars.IMPORT_MEMORY, [run.peak_mb for run in new], detail=f"{count:,} posts")
    yield from token_texts.measure(options)
    yield _reads(file, options)


def _reads(file: Path, options: Options) -> Row:
    """Compares lists alone with lists of the same server while another account imports."""
    ours = library.prepare(options.scale)
    requests = [Request("/v1/bookmarks?limit=100", key) for key in ours.keys[1:]]
    folder = options.work_folder / "reads"
    alone, beside = Rates(), Rates()
    for number in range(options.rounds):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ours.folder, folder)
        _run(folder, options.log, "account", "create", _EMAIL, "--plan", "pro")
        with servers.bowerbird(folder, options.log, answer_cache_mb=0) as server:
            load.add_round(alone, server, requests, options, number)
            with _importing(folder, options.log, file):
                load.add_round(beside, server, requests, options, number)
    shutil.rmtree(folder)
    return ratio_row(bars.LISTS_WHILE_IMPORTING, beside, alone)


@contextmanager
def _importing(folder: Path, log: Path, file: Path) -> Iterator[None]:
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*servers.command(), "import", _EMAIL, str(file)],
            env=servers.environment(folder),
            stdout=output,
            stderr=output,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _row(bar: Bar, runs: Sequence[_Run], count: int) -> Row:
    cpu_s = statistics.median(run.cpu_seconds for run in runs) / count
    return bar_row(
        bar,
        [count / run.seconds for run in runs],
        cpu=per_one(cpu_s, "post"),
        by_cpu=1 / cpu_s,
        detail=f"{count:,} posts, with the start of the command, all its processes",
    )


def _write_file(file: Path, count: int) -> Path:
    """Writes a JSON array, like a JSON export."""
    with file.open("wb") as output:
        output.write(b"[\n")
        for first in range(0, count, _BATCH):
            batch = posts.batch(0, first, min(_BATCH, count - first))
            output.write((b",\n" if first else b"") + b",\n".join(batch))
        output.write(b"\n]\n")
    return file


def _run(folder: Path, log: Path, *words: str) -> _Run:
    folder.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            [*servers.command(), *words],
            env=servers.environment(folder),
            stdout=output,
            stderr=output,
        )
        limit = threading.Timer(_LIMIT_S, process.kill)
        limit.start()
        peak = _Peak(process.pid)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"bowerbird {words[0]} failed; see {log}.")
    return _Run(seconds, used.ru_utime + used.ru_stime, peak.megabytes)


class _Peak:
    """The peak resident memory of a process, read while it runs.

    `wait4` would report the size of this program, because the process starts as a copy of it.
    """

    def __init__(self, pid: int) -> None:
        self.megabytes = 0.0
        self._status = Path(f"/proc/{pid}/status")
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while (line := self._line()) is not None:
            self.megabytes = int(line.split()[1]) / 1024
            time.sleep(0.05)

    def _line(self) -> str | None:
        try:
            lines = self._status.read_text(encoding="ascii").splitlines()
        except OSError:
            return None
        return next((line for line in lines if line.startswith("VmHWM")), None)


def _check_count(folder: Path, count: int) -> None:
    connection = sqlite3.connect(folder / "bowerbird.db")
    (found,) = connection.execute("SELECT count(*) FROM bookmark").fetchone()
    connection.close()
    if found != count:
        raise RuntimeError(f"The import stored {found} of {count} posts.")
