"""The service as an operator runs it: real processes and ports, in a separate folder."""

import itertools
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from click.testing import CliRunner

from bowerbird.cli import program
from tests.support.waiting import PATIENCE_S, wait_until

BOWERBIRD = (sys.executable, "-m", "bowerbird")
# For plain HTTP with a new connection per request. `httpx.get` would load all CA certificates
# each time, which takes 50 ms of processor time that the starting server needs.
http = httpx.Client(
    verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    trust_env=False,
    limits=httpx.Limits(max_keepalive_connections=0),
    timeout=PATIENCE_S,
)


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    folder: Path
    port: int
    admin_port: int
    environment: dict[str, str]

    def get(self, path: str, key: str | None = None, **params: Any) -> httpx.Response:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return http.get(f"http://127.0.0.1:{self.port}{path}", params=params, headers=headers)

    def output(self) -> str:
        return (self.folder / "stdout").read_text(encoding="utf-8")

    def errors(self) -> str:
        return (self.folder / "stderr").read_text(encoding="utf-8")

    def log(self) -> list[dict[str, Any]]:
        """The lines logged so far; each must be a JSON object."""
        return [json.loads(line) for line in self.errors().splitlines()]

    def run(self, *arguments: str) -> str:
        """Runs a command on the same library; returns its output."""
        return command(*arguments, environment=self.environment)

    def new_key(self, email: str = "you@example.com") -> str:
        self.run("account", "create", email)
        return self.run("key", "create", email).splitlines()[-1]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def is_answering(self) -> bool:
        try:
            return self.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def wait_until_it_answers(self) -> None:
        wait_until(lambda: self.process.poll() is not None or self.is_answering())
        assert self.process.poll() is None, self.errors()


def free_port() -> int:
    """A free port whose successor is free too, for the metrics of a second process.

    It is below the range for outgoing connections, and different for each test process.
    """
    for port in _PORTS:
        if _is_free(port) and _is_free(port + 1):
            return port
    raise AssertionError


# 400 test processes have 25 ports each, all below those of `tests.support.hosts.s3`.
_FIRST_PORT = 10_000 + os.getpid() % 400 * 25
_PORTS = itertools.cycle(range(_FIRST_PORT, _FIRST_PORT + 24, 2))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def environment_of(**settings: Any) -> dict[str, str]:
    """The environment of this process with only these settings."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("BOWERBIRD_")}
    # No worker of a test asks the hosts of the networks for images or posts.
    settings = {"keep_media": "off", "fetch_posts": "off", **settings}
    return inherited | {f"BOWERBIRD_{name.upper()}": str(v) for name, v in settings.items()}


def command(*arguments: str, environment: dict[str, str]) -> str:
    """Runs a command in this process, which saves a second; returns its output."""
    ran = CliRunner(env=environment).invoke(program, arguments, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout.strip()


def bowerbird(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BOWERBIRD, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def started(
    folder: Path, *arguments: str, command: Sequence[str] = BOWERBIRD, **settings: Any
) -> Iterator[Server]:
    """Starts `bowerbird serve` with data and output in `folder`; it may not answer yet."""
    port, admin_port = settings.get("port") or free_port(), free_port()
    # No model and no tools, because loading them would slow down tests that do not need them.
    known = {
        "data_dir": folder / "data",
        "port": port,
        "admin_port": admin_port,
        "model_dir": os.devnull,
        "tool_preload": "off",
    }
    environment = environment_of(**{**known, **settings})
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "serve", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
    try:
        yield Server(process, folder, port, admin_port, environment)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


@contextmanager
def serving(
    folder: Path, *arguments: str, command: Sequence[str] = BOWERBIRD, **settings: Any
) -> Iterator[Server]:
    """Starts `bowerbird serve` and waits until it answers."""
    with started(folder, *arguments, command=command, **settings) as server:
        server.wait_until_it_answers()
        yield server
