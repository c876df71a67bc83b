"""More server processes on the same port; the kernel distributes connections among them."""

import os
import signal
import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

import click


class AdditionalProcesses:
    """They stop when this process ends, and this process stops when one of them fails."""

    def __init__(self, count: int, environment: dict[str, str]) -> None:
        self._count, self._environment = count, environment
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_stopping = threading.Event()

    def start(self) -> None:
        for number in range(1, self._count + 1):
            process = _started(number, self._environment)
            self._processes.append(process)
            threading.Thread(target=self._stop_when_it_ends, args=(process,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_stopping.set()
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait()
        has_failed = any(one.returncode not in (0, -signal.SIGTERM) for one in self._processes)
        if error is None and has_failed:
            raise click.ClickException(
                "A server process failed, so all were stopped. The log shows the reason."
            )

    def _stop_when_it_ends(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if not self._is_stopping.is_set():
            os.kill(os.getpid(), signal.SIGTERM)


def _started(number: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bowerbird", "serve", "--worker-number", str(number)]
    # Nothing is written to the pipe. The new process stops when the pipe closes, which happens
    # however this process ends.
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)  # noqa: S603 - a fixed command
