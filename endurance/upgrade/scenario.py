"""The upgrade itself: old nodes under load, the migration, and new nodes one after the other."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from endurance.upgrade import ledger, posts, releases
from endurance.upgrade.ledger import Ledger
from endurance.upgrade.load import CLIENTS, LARGE, SMALL, Client
from endurance.upgrade.locks import LockWatch, LongReader
from endurance.upgrade.nodes import Balancer, Installation, Node
from endurance.upgrade.releases import Release
from endurance.upgrade.verdict import Verdict
from tests.support.waiting import wait_until

# As long as the dump of a small library takes; longer than a request waits for a lock is not
# needed to see whether requests queue behind the migration.
BACKUP_S: Final = 8.0
_DONE: Final = "The schema is up to date."


@dataclass
class Run:
    """One upgrade, and what was seen."""

    installation: Installation
    old: Release
    new: Release
    is_compatible: bool
    # How long each phase takes.
    phase_s: float
    ledger: Ledger = field(default_factory=Ledger)
    balancer: Balancer = field(default_factory=Balancer)
    keys: dict[str, str] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    migration_s: float = 0.0
    lock_waits: dict[str, float] = field(default_factory=dict)
    # What an old node says that is started after the migration.
    old_node_says: str = ""

    def met(self, question: str, *, is_met: bool, seen: str) -> None:
        self.verdicts.append(Verdict(question, is_met, seen))

    def phase(self, name: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        self.ledger.phase = name

    def wait(self) -> None:
        time.sleep(self.phase_s)


def fill(run: Run, count: int) -> list[str]:
    """Creates the library with the old release; returns the ids of its posts."""
    old, there = run.old, run.installation
    there.command(old, "migrate")
    for email in (LARGE, SMALL):
        there.command(old, "account", "create", email, "--plan", "pro")
        run.keys[email] = there.command(old, "key", "create", email).splitlines()[-1]
    file = there.folder / "posts.jsonl"
    lines = posts.first_posts(count)
    file.write_bytes(b"\n".join(lines))
    there.command(old, "import", LARGE, str(file))
    return [line.decode().partition('"post_id":"')[2].partition('"')[0] for line in lines]


def upgrade(run: Run, known: Sequence[str]) -> Node:
    """Returns a new node that answers."""
    old_nodes = [run.installation.start(run.old, f"old-{n}") for n in (1, 2)]
    old_worker = run.installation.start(run.old, "old-worker", "worker")
    for node in old_nodes:
        node.wait_until_ready()
        run.balancer.add(node)
    _create_view(old_nodes[0], run.keys[LARGE])
    with _clients(run, known):
        run.phase(ledger.BEFORE)
        run.wait()
        first = _early_node(run)
        if run.is_compatible:
            second = _replace(run, first, old_nodes, old_worker)
        else:
            second = _stop_and_migrate(run, first, old_nodes, old_worker)
    second.stop()
    return first


def _replace(run: Run, first: Node, old_nodes: Sequence[Node], old_worker: Node) -> Node:
    """The nodes keep serving: migrate, then replace one after the other."""
    run.phase(ledger.MIGRATING)
    _migrate(run)
    first.wait_until_ready()
    run.met("A new node becomes ready without a restart", is_met=True, seen="it did")
    run.phase(ledger.OLD_NODES)
    run.wait()
    run.phase(ledger.REPLACING)
    run.balancer.add(first)
    _take_out(run, old_nodes[0])
    run.installation.start(run.new, "new-worker", "worker")
    run.wait()
    second = run.installation.start(run.new, "new-2")
    second.wait_until_ready()
    run.balancer.add(second)
    _take_out(run, old_nodes[1])
    old_worker.stop()
    run.phase(ledger.NEW_NODES)
    run.wait()
    run.phase(ledger.RETURNED)
    returned = run.installation.start(run.old, "old-3")
    returned.wait_until_ready()
    run.old_node_says = "It starts and is ready, as every new step is compatible."
    run.balancer.add(returned)
    run.wait()
    _take_out(run, returned)
    run.phase(ledger.NEW_NODES)
    return second


def _stop_and_migrate(run: Run, first: Node, old_nodes: Sequence[Node], old_worker: Node) -> Node:
    """A step is not compatible: requests wait until new nodes run."""
    for node in old_nodes:
        run.balancer.remove(node)
    run.phase(ledger.MIGRATING)
    old_nodes[0].stop()
    old_worker.stop()
    _migrate(run)
    status, text = old_nodes[1].readiness()
    run.met(
        "An old node that was left running is not ready any more",
        is_met=status == 503,
        seen=f"/readyz: {status} {text}",
    )
    old_nodes[1].stop()
    first.wait_until_ready()
    run.met("A new node becomes ready without a restart", is_met=True, seen="it did")
    run.installation.start(run.new, "new-worker", "worker")
    second = run.installation.start(run.new, "new-2")
    second.wait_until_ready()
    run.phase(ledger.NEW_NODES)
    run.balancer.add(first)
    run.balancer.add(second)
    run.wait()
    _start_refused(run)
    return second


def _start_refused(run: Run) -> None:
    late = run.installation.start(run.old, "old-3")
    answers = wait_until(lambda: late.process.poll() is not None or late.readiness()[0], 60)
    status, text = late.readiness() if answers else (0, "")
    late.stop()
    run.old_node_says = f"/readyz: {status} {text}" if status else f"It exits: {late.tail()}"
    command = run.installation.run(run.old, "account", "list")
    run.old_node_says += f" A command exits with {command.returncode}: {command.stderr.strip()}"
    run.met(
        "An old node that starts after the migration refuses to work",
        is_met=status != 200 and command.returncode != 0,
        seen=run.old_node_says,
    )


def _early_node(run: Run) -> Node:
    """A new node that is started before the migration must wait for it."""
    node = run.installation.start(run.new, "new-1")
    wait_until(lambda: node.readiness()[0], 60)
    status, text = node.readiness()
    headers = {"Authorization": f"Bearer {run.keys[LARGE]}"}
    answer = httpx.get(f"{node.url}/v1/bookmarks", headers=headers, trust_env=False, timeout=30)
    seen = f"/readyz: {status} {text}; a list: {answer.status_code}"
    if not releases.between(run.old, run.new):
        is_met = (status, answer.status_code) == (200, 200)
        run.met("A new node works at once, because no step is new", is_met=is_met, seen=seen)
        return node
    is_met = (status, answer.status_code) == (503, 503) and "bowerbird migrate" in text
    run.met("A new node answers 503 on the old schema, and says why", is_met=is_met, seen=seen)
    return node


def _migrate(run: Run) -> None:
    """Two nodes migrate at the same time, while a backup reads the database."""
    url, started = run.installation.url, time.monotonic()
    with LockWatch(url) as watch, LongReader(url, BACKUP_S), ThreadPoolExecutor(2) as threads:
        both = [threads.submit(run.installation.run, run.new, "migrate") for _ in range(2)]
        results = [one.result() for one in both]
    run.migration_s = time.monotonic() - started
    run.lock_waits = watch.longest
    outputs = [f"{one.stdout}{one.stderr}".strip() for one in results]
    applied = " ".join(outputs).count("applied ")
    run.met(
        "Two nodes that migrate at the same time apply each step once",
        is_met=all(_DONE in output for output in outputs) and applied == _pending(run),
        seen=" / ".join(output.replace("\n", ", ") for output in outputs),
    )


def _pending(run: Run) -> int:
    return len(run.new.steps) - len(run.old.steps)


def _take_out(run: Run, node: Node) -> None:
    run.balancer.remove(node)
    node.stop()


def _create_view(node: Node, key: str) -> None:
    body = {"name": "Upgrade view", "base_query": {"q": "data"}}
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(
        f"{node.url}/v1/views", json=body, headers=headers, trust_env=False, timeout=30
    )
    answer.raise_for_status()


@contextmanager
def _clients(run: Run, known: Sequence[str]) -> Iterator[None]:
    clients = [
        Client(number, run.balancer, run.ledger, run.keys, known) for number in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        for client in clients:
            client.stop()
        for client in clients:
            client.join(120)
    failures = [f"{client.name}: {client.failure!r}" for client in clients if client.failure]
    if failures:
        raise RuntimeError("; ".join(failures))


def folder_of(run: Run) -> Path:
    return run.installation.folder
