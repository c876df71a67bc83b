"""Measures `bowerbird import` with a JSON file: first all posts are new, then all unchanged."""

import os
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from rich.progress import track

from benchmarks import library, load, posts, servers, token_texts
from benchmarks.figures import Row, at_least_row, below_row, ratio_row
from benchmarks.load import Request
from benchmarks.options import Options

_EMAIL: Final = "importer@example.com"
_NEW_TARGET, _UNCHANGED_TARGET, _MEMORY_TARGET_MB = 8_000, 13_000, 300
_READS_TARGET: Final = 0.7
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
    yield _row("import, all new", new, count, _NEW_TARGET)
    yield _row("import again, all unchanged", again, count, _UNCHANGED_TARGET)
    peaks = [run.peak_mb for run in new]
    yield below_row("import, peak memory", peaks, "MB", _MEMORY_TARGET_MB)
    yield from token_texts.measure(options)
    yield _reads(file, options)


def _reads(file: Path, options: Options) -> Row:
    """Compares lists alone with lists of the same server while another account imports."""
    ours = library.prepare(options.scale)
    requests = [Request("/v1/bookmarks?limit=100", key) for key in ours.keys[1:]]
    folder = options.work_folder / "reads"
    alone, beside = [], []
    for number in range(options.rounds):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ours.folder, folder)
        _run(folder, options.log, "account", "create", _EMAIL, "--plan", "pro")
        with servers.bowerbird(folder, options.log, answer_cache_mb=0) as server:
            seconds, work = options.seconds, options.work_folder
            alone.append(load.run(server.port, requests, seconds, number, work).per_second)
            with _importing(folder, options.log, file):
                beside.append(load.run(server.port, requests, seconds, number, work).per_second)
    shutil.rmtree(folder)
    return ratio_row("lists while posts are imported", beside, alone, _READS_TARGET)


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


def _row(work: str, runs: Sequence[_Run], count: int, target: float) -> Row:
    rates = [count / run.seconds for run in runs]
    cpu_us = min(run.cpu_seconds for run in runs) / count * 1e6
    detail = f"{count:,} posts, {cpu_us:.0f} µs of CPU per post, including the start"
    return at_least_row(work, rates, "posts/s", target, detail)


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
