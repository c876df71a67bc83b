"""Kills and restarts servers, workers and the database while the clients work."""

import heapq
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from endurance.soak.findings import Findings
from endurance.soak.service.nodes import Nodes
from endurance.soak.service.postgres import DurablePostgres

_TICK_S: Final = 0.2
_MOST_DOWN_S: Final = 3.0
# The rest get SIGTERM, as in an upgrade.
_KILLED: Final = 0.8
# How often all servers are killed at the same moment.
_ALL: Final = 0.05
_OUTAGE_S: Final = (2.0, 4.0)


@dataclass
class Outage:
    """The restart of PostgreSQL."""

    after_s: float
    down_s: float
    has_recovered: bool


@dataclass
class Chaos:
    nodes: Nodes
    postgres: DurablePostgres
    findings: Findings
    seed: int
    kill_every_s: float
    outages: list[Outage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = Random(f"{self.seed} chaos")
        # Nodes that are down, by the time of their restart.
        self._down: list[tuple[float, int]] = []

    def run(self, seconds: float, report: Callable[[float], None]) -> None:
        """Returns after so many seconds, when all nodes have been started again."""
        started = time.monotonic()
        next_kill = started + self._pause()
        outage_at = started + seconds / 2
        for now in _ticks(started + seconds):
            self._restart(now)
            for node in self.nodes.all:
                node.check(self.findings)
            if now >= next_kill:
                self._end_some(now)
                next_kill = now + self._pause()
            if now >= outage_at and not self.outages:
                self._restart_postgres(now - started)
            report(now - started)
        self._restart(float("inf"))

    def _pause(self) -> float:
        return self.kill_every_s * self._chance.uniform(0.5, 1.5)

    def _end_some(self, now: float) -> None:
        running = [node for node in self.nodes.all if node.is_running]
        if not running:
            return
        if self._chance.random() < _ALL:
            victims, how = [each for each in self.nodes.servers if each.is_running], signal.SIGKILL
        else:
            victims = [self._chance.choice(running)]
            how = signal.SIGKILL if self._chance.random() < _KILLED else signal.SIGTERM
        for node in victims:
            node.end(how)
        for node in victims:
            back_at = now + self._chance.uniform(0, _MOST_DOWN_S)
            heapq.heappush(self._down, (back_at, self.nodes.all.index(node)))

    def _restart(self, now: float) -> None:
        while self._down and self._down[0][0] <= now:
            _, place = heapq.heappop(self._down)
            node = self.nodes.all[place]
            node.reap(self.findings)
            node.start()

    def _restart_postgres(self, after_s: float) -> None:
        started = time.monotonic()
        self.postgres.crash()
        time.sleep(self._chance.uniform(*_OUTAGE_S))
        self.postgres.start()
        down_s = time.monotonic() - started
        self.outages.append(Outage(after_s, down_s, self.postgres.has_recovered()))


def _ticks(deadline: float) -> Iterator[float]:
    while (now := time.monotonic()) < deadline:
        yield now
        time.sleep(_TICK_S)
