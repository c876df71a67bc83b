"""Commands, servers and workers of both releases on one database and one folder of files."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from bowerbird.settings import PREFIX
from endurance.upgrade.releases import Release
from tests.support import serving
from tests.support.waiting import wait_until

_START_S: Final = 120.0
_STOP_S: Final = 60.0
_COMMAND_S: Final = 3_600.0


@dataclass
class Node:
    name: str
    release: Release
    port: int
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def readiness(self) -> tuple[int, str]:
        """The status and the text of /readyz; 0 if nothing listens."""
        try:
            answer = httpx.get(f"{self.url}/readyz", timeout=20, trust_env=False)
        except httpx.TransportError as error:
            return 0, str(error)
        return answer.status_code, answer.text.strip()

    def wait_until_ready(self) -> None:
        wait_until(self._is_ready, _START_S, 0.1)

    def _is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} exited:\n{self.tail()}")
        return self.readiness()[0] == 200

    def tail(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-2_000:]

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@dataclass
class Installation:
    """What all nodes share: the database and the folder of files."""

    url: str
    folder: Path
    _nodes: list[Node] = field(default_factory=list)

    def environment(self, release: Release, port: int = 0) -> dict[str, str]:
        files = self.folder / "files"
        files.mkdir(exist_ok=True)
        environment = serving.environment_of(
            database_url=self.url,
            data_dir=self.folder / release.name,
            files_url=files.as_uri(),
            # No search by meaning: building models takes minutes.
            model_dir=os.devnull,
            admin_port=0,
            postgres_connections=6,
            port=port or 8000,
        )
        # A release refuses a setting that it does not know, such as one of a later release.
        known = {
            name: value
            for name, value in environment.items()
            if not name.startswith(PREFIX) or release.has_setting(name.removeprefix(PREFIX))
        }
        return known | {"PYTHONPATH": str(release.source)}

    def run(self, release: Release, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*serving.BOWERBIRD, *words],
            cwd=self.folder,
            env=self.environment(release),
            capture_output=True,
            text=True,
            check=False,
            timeout=_COMMAND_S,
        )

    def command(self, release: Release, *words: str) -> str:
        """Runs a command that must succeed; returns its output."""
        ran = self.run(release, *words)
        if ran.returncode:
            raise RuntimeError(f"bowerbird {' '.join(words)}:\n{ran.stdout}{ran.stderr}")
        return ran.stdout.strip()

    def start(self, release: Release, name: str, *words: str) -> Node:
        """Starts `serve`, or another command that runs until it is stopped."""
        port = serving.free_port()
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*serving.BOWERBIRD, *(words or ("serve",))],
                cwd=self.folder,
                env=self.environment(release, port),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        node = Node(name, release, port, process, log)
        self._nodes.append(node)
        return node

    def stop_all(self) -> None:
        for node in self._nodes:
            node.stop()


@contextmanager
def installed(url: str, folder: Path) -> Iterator[Installation]:
    installation = Installation(url, folder)
    try:
        yield installation
    finally:
        installation.stop_all()


class Balancer:
    """The nodes that get requests. A node is taken out before it stops, as with /readyz."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._nodes: list[Node] = []
        self._busy: dict[str, int] = {}

    def add(self, node: Node) -> None:
        with self._changed:
            self._nodes.append(node)
            self._changed.notify_all()

    def remove(self, node: Node) -> None:
        """Returns when the node has answered its last request."""
        with self._changed:
            self._nodes.remove(node)
            self._changed.wait_for(lambda: not self._busy.get(node.name), timeout=_STOP_S)

    @contextmanager
    def node(self, choice: int) -> Iterator[Node]:
        """One of the nodes; waits while there is none."""
        with self._changed:
            self._changed.wait_for(lambda: self._nodes)
            node = self._nodes[choice % len(self._nodes)]
            self._busy[node.name] = self._busy.get(node.name, 0) + 1
        try:
            yield node
        finally:
            with self._changed:
                self._busy[node.name] -= 1
                self._changed.notify_all()
