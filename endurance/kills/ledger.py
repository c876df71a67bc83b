"""The trials so far, one line each, so that a run can be continued after any interruption."""

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from endurance.kills.trials import Order

Pair = tuple[str, str]


class Done(Struct, frozen=True, kw_only=True):
    kind: str
    database: str
    seed: int
    # Only those that hit a living process.
    kills: int
    seconds: float
    cpu_seconds: float = 0.0
    commit: str
    is_failed: bool = False

    @property
    def pair(self) -> Pair:
        return self.kind, self.database


class Ledger:
    def __init__(self, file: Path | None) -> None:
        """Without a file, the trials are recorded only in this process."""
        self._file = file
        self.trials: list[Done] = []
        if file is not None and file.exists():
            for line in file.read_bytes().splitlines():
                # The last line is incomplete if the program was killed.
                with suppress(msgspec.MsgspecError):
                    self.trials.append(msgspec.json.decode(line, type=Done))

    def add(self, done: Done) -> None:
        self.trials.append(done)
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        # A line before, too: the last one may be incomplete.
        with self._file.open("ab") as file:
            file.write(b"\n" + msgspec.json.encode(done) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @property
    def kills(self) -> int:
        return sum(trial.kills for trial in self.trials)


def next_order(
    pairs: Sequence[Pair], trials: Sequence[Done], running: Sequence[Order], wanted: int
) -> Order:
    """First the pair with the fewest kills, until each has half of an even share.

    Then the pair that has taken the least time, so that a slow kind does not hold up the rest.
    """
    kills: dict[Pair, int] = defaultdict(int)
    seconds: dict[Pair, float] = defaultdict(float)
    seeds: dict[Pair, int] = defaultdict(int)
    for trial in trials:
        kills[trial.pair] += trial.kills
        seconds[trial.pair] += trial.seconds
        seeds[trial.pair] = max(seeds[trial.pair], trial.seed)
    busy: dict[Pair, int] = defaultdict(int)
    for order in running:
        pair = (order.kind, order.database)
        busy[pair] += 1
        seeds[pair] = max(seeds[pair], order.seed)
    least = least_share(pairs, wanted)
    behind = [pair for pair in pairs if kills[pair] < least]
    if behind:
        kind, database = min(behind, key=lambda pair: (busy[pair], kills[pair]))
    else:
        kind, database = min(pairs, key=lambda pair: (busy[pair], seconds[pair]))
    return Order(kind, database, seeds[kind, database] + 1)


def least_share(pairs: Sequence[Pair], wanted: int) -> int:
    return wanted // (2 * len(pairs))
