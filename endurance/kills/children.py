"""Forked processes that return a value. The parent has imported everything, so a start is cheap.

The parent itself opens no library and starts no thread: threads do not survive a fork.
"""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple

_FORK: Final = multiprocessing.get_context("fork")
_PARENT_DIED: Final = 1
_MOST_CHARACTERS: Final = 2_000


class Ended(NamedTuple):
    value: Any
    # Why there is no value.
    problem: str


class Child:
    def __init__(self, work: Callable[[], Any], output: Path) -> None:
        """What the process prints is appended to `output`."""
        self.connection, other = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_run, args=(other, work, output))
        self._process.start()
        other.close()
        self.started = time.monotonic()

    def end(self) -> Ended:
        """Waits for the end."""
        try:
            ended: Ended = self.connection.recv()
        except EOFError:
            ended = Ended(None, "The process ended without an answer.")
        self._process.join()
        self.connection.close()
        return ended

    def kill(self) -> None:
        """Also kills the processes it has started."""
        assert self._process.pid
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


class Beside:
    """A process that serves until it is stopped."""

    def __init__(self, serve: Callable[[Path, Callable[..., None]], None], folder: Path) -> None:
        receiving, sending = _FORK.Pipe(duplex=False)
        output = folder / "output"
        self._process = _FORK.Process(
            target=_serve, args=(sending, serve, folder, output), daemon=True
        )
        self._process.start()
        sending.close()
        # Its settings, and its address.
        self.options, self.address = receiving.recv()
        receiving.close()

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def _run(connection: Connection, work: Callable[[], Any], output: Path) -> None:
    _detach(output)
    try:
        ended = Ended(work(), "")
    except BaseException as error:  # noqa: BLE001 - the parent reports it
        ended = Ended(None, _described(error))
    connection.send(ended)


def _serve(
    connection: Connection,
    serve: Callable[[Path, Callable[..., None]], None],
    folder: Path,
    output: Path,
) -> None:
    _detach(output)

    def ready(options: dict[str, Any], address: Any) -> None:
        connection.send((options, address))
        connection.close()

    serve(folder, ready)


def _detach(output: Path) -> None:
    """Ctrl-C must reach only the parent, and no process may outlive it."""
    os.setpgid(0, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def _described(error: BaseException) -> str:
    """The traceback with local variables: a plain assert does not say what differed."""
    found = traceback.TracebackException.from_exception(error, capture_locals=True)
    lines = "".join(found.format()).splitlines()
    return "\n".join(line[:_MOST_CHARACTERS] for line in lines)
