"""The processes of the service: servers and workers that can be killed and started again."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from endurance.soak.findings import Criterion, Findings
from tests.support import serving
from tests.support.waiting import wait_until

SERVERS: Final = 4
WORKERS: Final = 2
_START_S: Final = 120.0
_STOP_S: Final = 60.0
_LOG_TAIL: Final = 600


@dataclass
class Life:
    """One process of a node, from its start to its end."""

    process: subprocess.Popen[bytes]
    # The signal that we sent. Set before it is sent, so that nobody sees an end without a cause.
    ended_by: signal.Signals | None = None


@dataclass
class Node:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    port: int = 0
    lives: list[Life] = field(default_factory=list)

    @property
    def life(self) -> Life:
        return self.lives[-1]

    @property
    def is_running(self) -> bool:
        return bool(self.lives) and self.life.process.poll() is None

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*self.command],
                cwd=self.folder,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                # Ctrl-C must reach only the soak, which then stops the nodes.
                start_new_session=True,
            )
        self.lives.append(Life(process))

    def end(self, how: signal.Signals) -> None:
        """Sends the signal; `reap` waits for the end."""
        self.life.ended_by = how
        self.life.process.send_signal(how)

    def reap(self, findings: Findings) -> None:
        try:
            self.life.process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            findings.add(Criterion.PROCESSES, f"{self.name} did not stop within {_STOP_S:.0f} s")
            self.life.process.kill()
            self.life.process.wait()

    def check(self, findings: Findings) -> None:
        """Reports a process that ended although nobody stopped it."""
        status = self.life.process.poll()
        if status is None or self.life.ended_by is not None:
            return
        tail = self.log.read_text(errors="replace")[-_LOG_TAIL:].replace("\n", " ")
        findings.add(Criterion.PROCESSES, f"{self.name} ended with {status} by itself: {tail}")
        self.start()


@dataclass
class Nodes:
    servers: list[Node]
    workers: list[Node]

    @property
    def all(self) -> list[Node]:
        return [*self.servers, *self.workers]

    def start(self) -> None:
        for node in self.all:
            node.start()

    def wait_until_ready(self) -> None:
        for node in self.servers:
            wait_until(partial(_is_ready, node), _START_S, pause_s=0.1)

    def stop(self, findings: Findings) -> None:
        running = [node for node in self.all if node.is_running]
        for node in running:
            node.end(signal.SIGTERM)
        for node in running:
            node.reap(findings)

    def ends(self, kind: Sequence[Node], how: signal.Signals) -> int:
        return sum(life.ended_by is how for node in kind for life in node.lives)

    def logged(self) -> Counter[str]:
        """What the nodes logged, by level and event."""
        found = Counter[str]()
        for node in self.all:
            for line in node.log.read_text(encoding="utf-8", errors="replace").splitlines():
                found[_event(line)] += 1
        return found


def prepared(folder: Path, settings: Mapping[str, Any]) -> Nodes:
    """Nodes that share the database and the folder of files, none of them started."""
    servers = []
    for number in range(1, SERVERS + 1):
        port = serving.free_port()
        environment = serving.environment_of(**settings, port=port)
        command = (*serving.BOWERBIRD, "serve", "--no-worker")
        servers.append(Node(f"server-{number}", command, environment, folder, port))
    environment = serving.environment_of(**settings)
    workers = [
        Node(f"worker-{number}", (*serving.BOWERBIRD, "worker"), environment, folder)
        for number in range(1, WORKERS + 1)
    ]
    return Nodes(servers, workers)


def _is_ready(node: Node) -> bool:
    try:
        return serving.http.get(f"http://127.0.0.1:{node.port}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _event(line: str) -> str:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:
        # A process that is killed may leave half a line.
        return f"not JSON: {line[:80]}"
    return f"{entry.get('level')}: {entry.get('event')}"
