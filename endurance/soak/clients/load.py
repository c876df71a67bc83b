"""What all clients of the soak share, and the threads that run them."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from endurance.soak.clients.client import Client, Statistics, UnansweredError
from endurance.soak.findings import Criterion, Findings
from endurance.soak.known_posts import Holder
from endurance.soak.ledger import Ledger
from endurance.soak.service.balancer import Balancer

Step = Callable[[], None]
_JOIN_S: Final = 400.0


@dataclass(frozen=True)
class Setting:
    balancer: Balancer
    keys: dict[str, str]
    statistics: Statistics
    findings: Findings
    ledger: Ledger
    seed: int

    def client(self, holder: Holder) -> Client:
        return Client(self.balancer, self.keys[holder.name], self.statistics, self.findings)


@dataclass(frozen=True)
class Role:
    """A client, and the mean pause between its steps."""

    name: str
    step: Step
    pause_s: float


@contextmanager
def running(roles: Sequence[Role], setting: Setting) -> Iterator[None]:
    """Runs each role in a thread; at the end, each finishes its step."""
    stopping = threading.Event()
    threads = [
        threading.Thread(target=_work, args=(role, setting, stopping), name=role.name, daemon=True)
        for role in roles
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    except BaseException:
        # Nobody is interested in their answers any more.
        stopping.set()
        raise
    stopping.set()
    deadline = time.monotonic() + _JOIN_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            sentence = f"{thread.name}: a request was not answered until the end"
            setting.findings.add(Criterion.ERRORS, sentence)


def _work(role: Role, setting: Setting, stopping: threading.Event) -> None:
    chance = random.Random(f"{setting.seed} {role.name}")
    while not stopping.wait(chance.uniform(0.5, 1.5) * role.pause_s):
        try:
            role.step()
        except UnansweredError as error:
            setting.findings.add(Criterion.ERRORS, f"{role.name}: {error}")
            return
        except Exception as error:  # noqa: BLE001 - an answer that cannot be read is wrong
            setting.findings.add(Criterion.WRONG, f"{role.name}: {error!r}")
            return
