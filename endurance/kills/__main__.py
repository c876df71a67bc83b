"""Kills the service until enough kills are counted: `make crash`."""

import argparse
import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import result_files
from endurance.kills import report
from endurance.kills.ledger import Ledger, Pair
from endurance.kills.run import Runner
from endurance.kills.trials import DATABASES, Kinds, Order
from endurance.kills.work import KINDS

KILLS: Final = 10_000
_FOLDER: Final = Path(__file__).parents[1]
# The service imports them when it needs them, which would be in every forked process.
_LATE: Final = (
    "anyio._backends._asyncio",
    "bowerbird.cli.commands.upkeep",
    "bowerbird.cli.commands.import_files",
    "bowerbird.connections.fetching",
    "encodings.idna",
    "httpcore2",
    "obstore.store",
    "truststore",
)


def main(
    arguments: Sequence[str] | None = None, kinds: Kinds = KINDS, folder: Path = _FOLDER
) -> int:
    chosen = _arguments(arguments, kinds)
    pairs = _pairs(kinds, chosen.only, chosen.database)
    is_repeated = chosen.seed is not None
    ledger = Ledger(None if is_repeated else folder / "data" / "kills.jsonl")
    failed = folder / "data" / "failed"
    runner = Runner(kinds, ledger, result_files.commit(), failed, chosen.processes)
    with _stopped_by_signals(runner):
        if is_repeated:
            for kind, database in pairs:
                runner.repeat(Order(kind, database, chosen.seed))
        elif not chosen.table:
            runner.run(pairs, chosen.kills)
    if is_repeated:
        for one in ledger.trials:
            took = f"{one.seconds:.1f} s, {one.cpu_seconds:.1f} s of processor time"
            print(f"{one.kind} on {one.database}: {one.kills} kills in {took}")
    elif chosen.table or ledger.kills >= chosen.kills:
        print(f"Saved in {report.save(ledger.trials, kinds, chosen.kills, folder / 'results')}")
    # Also if a run before this one recorded the failure, which the result names.
    return int(any(one.is_failed for one in ledger.trials))


@contextmanager
def _stopped_by_signals(runner: Runner) -> Iterator[None]:
    def stop(*_: object) -> None:
        print("Finishing the current trials. To continue later, run it again.", flush=True)
        runner.is_stopped = True

    before = {name: signal.signal(name, stop) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _pairs(kinds: Kinds, only: Sequence[str], database: str | None) -> list[Pair]:
    return [
        (name, each)
        for name, kind in kinds.items()
        for each in kind.databases
        if (not only or name in only) and database in (None, each)
    ]


def _arguments(arguments: Sequence[str] | None, kinds: Kinds) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m endurance.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="total to reach")
    parser.add_argument("--only", action="append", choices=list(kinds), default=[])
    parser.add_argument("--database", choices=DATABASES)
    parser.add_argument("--seed", type=int, help="run this trial of each kind, and count nothing")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--table", action="store_true", help="only write the result so far")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    for module in _LATE:
        importlib.import_module(module)
    # The garbage collector of a forked process would copy all that it looks at.
    gc.freeze()
    sys.exit(main())
