"""Starts the measured servers as processes, and stops only those."""

import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.client import Client

START_LIMIT_S: Final = 30.0
_STOP_LIMIT_S: Final = 10.0
_POLL_S: Final = 0.005
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE_KB: Final = resource.getpagesize() // 1024


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    process_id: int

    def resident_mb(self) -> float:
        """The resident memory of the server, which is a single process."""
        pages = Path(f"/proc/{self.process_id}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * _PAGE_KB / 1024

    def cpu_seconds(self) -> float:
        """The CPU time used so far on all cores, including time in the kernel."""
        stat = Path(f"/proc/{self.process_id}/stat").read_text(encoding="ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / _TICKS


def command() -> list[str]:
    return [sys.executable, "-m", "bowerbird"]


def environment(data_dir: Path, **settings: str | int) -> dict[str, str]:
    """The environment of a server. It replaces all BOWERBIRD settings of the caller."""
    env = {name: text for name, text in os.environ.items() if not name.startswith("BOWERBIRD_")}
    # No model by default, so that embedding does not compete with the load.
    values = {"data_dir": data_dir, "admin_port": 0, "model_dir": os.devnull, **settings}
    return env | {f"BOWERBIRD_{name.upper()}": str(value) for name, value in values.items()}


@contextmanager
def bowerbird(data_dir: Path, log: Path, **settings: str | int) -> Iterator[Server]:
    port = free_port()
    words = [*command(), "serve", "--port", str(port)]
    with _running(words, port, log, environment(data_dir, **settings)) as server:
        yield server


@contextmanager
def module(name: str, argument: Path, log: Path) -> Iterator[Server]:
    """Runs a server that is a module of this package."""
    port = free_port()
    words = [sys.executable, "-m", f"benchmarks.{name}", str(port), str(argument)]
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
