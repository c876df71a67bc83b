"""Starts the measured servers as processes, and stops only those."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.loads.client import Client

START_LIMIT_S: Final = 60.0
_STOP_LIMIT_S: Final = 10.0
_POLL_S: Final = 0.005
_IDLE_S: Final = 0.3
_IDLE_SHARE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    process_id: int

    def resident_mb(self) -> float:
        """The resident memory of the server, which is a single process."""
        status = Path(f"/proc/{self.process_id}/status").read_text(encoding="utf-8")
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def mapped_mb(self, file_name: str) -> float:
        """The part of the resident memory that belongs to a mapped file."""
        kilobytes, is_of_file = 0, False
        maps = Path(f"/proc/{self.process_id}/smaps").read_text(encoding="utf-8")
        for line in maps.splitlines():
            if "-" in line.partition(" ")[0]:
                is_of_file = line.endswith(f"/{file_name}")
            elif is_of_file and line.startswith("Rss:"):
                kilobytes += int(line.split()[1])
        return kilobytes / 1024

    def cpu_seconds(self) -> float:
        """The CPU time used so far on all cores, including time in the kernel."""
        return time.clock_gettime(_cpu_clock(self.process_id))

    def wait_until_idle(self) -> None:
        """Until the work after a start is done, so that it is not measured with a request."""
        end = time.monotonic() + START_LIMIT_S
        before = self.cpu_seconds()
        while time.monotonic() < end:
            time.sleep(_IDLE_S)
            now = self.cpu_seconds()
            if now - before < _IDLE_S * _IDLE_SHARE:
                return
            before = now


def _cpu_clock(process_id: int) -> int:
    """The clock that counts a process's CPU time in nanoseconds: clock_getcpuclockid(3)."""
    return ~process_id << 3 | 2


def command() -> list[str]:
    return [sys.executable, "-m", "bowerbird"]


def environment(data_dir: Path, **settings: str | int) -> dict[str, str]:
    """The environment of a server. It replaces all BOWERBIRD settings of the caller."""
    env = {name: text for name, text in os.environ.items() if not name.startswith("BOWERBIRD_")}
    # An installation has compiled files. Without them each start would compile every module.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    # No model and no downloads by default: neither competes with the load.
    values = {
        "data_dir": data_dir,
        "admin_port": 0,
        "model_dir": os.devnull,
        "keep_media": "off",
        "fetch_posts": "off",
        **settings,
    }
    return env | {f"BOWERBIRD_{name.upper()}": str(value) for name, value in values.items()}


@contextmanager
def bowerbird(data_dir: Path, log: Path, **settings: str | int) -> Iterator[Server]:
    port = free_port()
    words = [*command(), "serve", "--port", str(port)]
    with _running(words, port, log, environment(data_dir, **settings)) as server:
        yield server


@contextmanager
def module(name: str, argument: Path, log: Path) -> Iterator[Server]:
    """Runs one of the yardsticks."""
    port = free_port()
    words = [sys.executable, "-m", f"benchmarks.yardsticks.{name}", str(port), str(argument)]
    with _running(words, port, log, dict(os.environ)) as server:
        yield server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _running(words: list[str], port: int, log: Path, env: dict[str, str]) -> Iterator[Server]:
    with log.open("ab") as output:
        process = subprocess.Popen(words, env=env, stdout=output, stderr=output)
        try:
            _wait_for_answer(process, port, log)
            yield Server(port, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for_answer(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    end = time.monotonic() + START_LIMIT_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"The server exited during startup; see {log}.")
        try:
            with Client(port) as client:
                client.get("/v1/bookmarks", key=None)
        except OSError:
            time.sleep(_POLL_S)
        else:
            return
    raise RuntimeError(f"The server did not answer within {START_LIMIT_S:.0f} s; see {log}.")
