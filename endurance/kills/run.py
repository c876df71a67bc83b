"""Runs trials in parallel until enough kills are counted, one fails, or somebody stops it."""

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Final

from endurance.kills.children import Child, Ended
from endurance.kills.ledger import Done, Ledger, Pair, next_order
from endurance.kills.stage import Stage
from endurance.kills.trials import Kinds, Library, Order, Outcome, Performance
from tests.support import serving
from tests.support.engines.postgres_binaries import installed_binaries

# Many times as long as a trial takes on a busy machine.
TRIAL_S: Final = 300.0
_PAUSE_S: Final = 0.5
_PROGRESS_EVERY_S: Final = 10.0
_SHOWN_LINES: Final = 60
_SHOWN_CHARACTERS: Final = 300


@dataclass
class _Running:
    order: Order
    library: Library
    child: Child
    port: int


@dataclass
class Runner:
    kinds: Kinds
    ledger: Ledger
    commit: str
    # Where the folder of a failed trial is kept.
    failed: Path
    processes: int = 2
    is_stopped: bool = False
    _running: list[_Running] = field(default_factory=list)

    def run(self, pairs: Sequence[Pair], wanted: int) -> None:
        """Continues until the ledger has `wanted` kills."""

        def following() -> Order | None:
            if self.ledger.kills >= wanted:
                return None
            orders = [one.order for one in self._running]
            return next_order(pairs, self.ledger.trials, orders, wanted)

        self._run_all(following, Progress(self.ledger, wanted))

    def repeat(self, order: Order) -> None:
        """Runs one trial."""
        orders = [order]
        self._run_all(lambda: orders.pop() if orders else None, None)

    def _run_all(self, following: Callable[[], Order | None], progress: "Progress | None") -> None:
        ports = [serving.free_port() for _ in range(self.processes)]
        with Stage() as stage:
            try:
                while True:
                    while not self.is_stopped and ports and (order := following()):
                        self._start(stage, order, ports.pop())
                    if not self._running:
                        return
                    ports += [one.port for one in self._ended(stage)]
                    if progress is not None:
                        progress.show()
            finally:
                for one in self._running:
                    one.child.kill()
                    one.child.end()

    def _start(self, stage: Stage, order: Order, port: int) -> None:
        kind = self.kinds[order.kind]
        library, state = stage.fresh(order.kind, kind, order.database, port)
        performance = Performance(kind, library, state, order)
        child = Child(performance, library.folder / "output")
        self._running.append(_Running(order, library, child, port))

    def _ended(self, stage: Stage) -> list[_Running]:
        """Waits a moment for trials to end, and records those that did."""
        ready = wait([one.child.connection for one in self._running], _PAUSE_S)
        ended = []
        for one in list(self._running):
            if one.child.connection in ready:
                outcome = one.child.end()
            elif time.monotonic() - one.child.started > TRIAL_S:
                one.child.kill()
                one.child.end()
                outcome = Ended(None, f"The trial did not end within {TRIAL_S:.0f} s.")
            else:
                continue
            self._running.remove(one)
            self._record(stage, one, outcome)
            ended.append(one)
        return ended

    def _record(self, stage: Stage, one: _Running, ended: Ended) -> None:
        outcome = ended.value or Outcome(0, 0.0)
        self.ledger.add(
            Done(
                kind=one.order.kind,
                database=one.order.database,
                seed=one.order.seed,
                kills=outcome.kills,
                seconds=round(time.monotonic() - one.child.started, 2),
                cpu_seconds=round(outcome.cpu_s, 2),
                commit=self.commit,
                is_failed=bool(ended.problem),
            )
        )
        if ended.problem:
            self.is_stopped = True
            self._keep(one, ended.problem)
            one.child.kill()
        stage.remove(one.library)

    def _keep(self, one: _Running, problem: str) -> None:
        folder = self.failed / one.order.name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(one.library.folder, folder, ignore_dangling_symlinks=True)
        (folder / "problem").write_text(problem, encoding="utf-8")
        if "database_url" in one.library.options:
            _dump(one.library.options["database_url"], folder / "database.sql")
        shown = [line[:_SHOWN_CHARACTERS] for line in problem.splitlines()[-_SHOWN_LINES:]]
        print("\n".join(shown))
        print(f"A trial failed: {one.order.name}. Its folder is kept in {folder}.")
        print(f"To repeat it, run: python -m endurance.kills {one.order}", flush=True)


class Progress:
    def __init__(self, ledger: Ledger, wanted: int) -> None:
        self._ledger, self._wanted = ledger, wanted
        self._first, self._started = ledger.kills, time.monotonic()
        self._shown = self._started

    def show(self) -> None:
        now, kills = time.monotonic(), self._ledger.kills
        if now - self._shown < _PROGRESS_EVERY_S and kills < self._wanted:
            return
        self._shown = now
        rate = (kills - self._first) / (now - self._started)
        trials = len(self._ledger.trials)
        print(
            f"{kills:,} of {self._wanted:,} kills, {trials:,} trials, {rate:.1f} kills/s",
            flush=True,
        )


def _dump(url: str, target: Path) -> None:
    """Keeps the database of a failed trial, if PostgreSQL's own tool is installed."""
    program = installed_binaries() / "pg_dump"
    if program.is_file():
        subprocess.run([program, f"--dbname={url}", f"--file={target}"], check=False)
