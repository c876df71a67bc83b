"""Writes the result of an upgrade as a document."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks import result_files
from benchmarks.result_files import table
from endurance.upgrade import ledger
from endurance.upgrade.load import WRITES
from endurance.upgrade.locks import StepCost
from endurance.upgrade.releases import REPOSITORY
from endurance.upgrade.scenario import BACKUP_S, Run

_RESULTS: Final = REPOSITORY / "endurance" / "results"


def save(run: Run, costs: Sequence[StepCost], posts: int) -> Path:
    suffix = "" if run.is_compatible else "-stopped"
    name = f"{run.new.commit}-upgrade{suffix}"
    return result_files.save(_RESULTS, datetime.now(UTC).date(), name, lines(run, costs, posts))


def lines(run: Run, costs: Sequence[StepCost], posts: int) -> Iterator[str]:
    first, last = run.old.steps[-1], run.new.steps[-1]
    is_met = all(verdict.is_met for verdict in run.verdicts)
    yield f"# Upgrade from {run.old.commit} to {run.new.commit}: {'passed' if is_met else 'FAILED'}"
    yield ""
    nodes = "Two old nodes and an old worker ran during the migration, and were then replaced."
    stopped = "A step is not compatible, so the old nodes stopped before the migration."
    yield f"Schema from step {first.name} to {last.name}; PostgreSQL with {posts:,} posts. " + (
        nodes if run.is_compatible else stopped
    )
    yield ""
    load = f"Load average at the end: {os.getloadavg()[0]:.1f}"
    yield f"Machine: {result_files.machine()}. {load}."
    yield ""
    yield from _verdicts(run)
    yield from _steps(costs)
    yield from _waits(run)
    yield from _requests(run)
    yield "## An old node that starts after the migration"
    yield ""
    yield run.old_node_says or "Not tried."


def _verdicts(run: Run) -> Iterator[str]:
    yield from table(
        ("Question", "", "Seen"),
        (
            (question, "yes" if is_met else "NO", _short(seen))
            for question, is_met, seen in run.verdicts
        ),
    )
    yield ""


def _steps(costs: Sequence[StepCost]) -> Iterator[str]:
    yield "## The steps, each alone on a copy of the database"
    yield ""
    yield "A ShareLock stops writers for the time of the step, an AccessExclusiveLock readers too."
    yield ""
    columns = ("Step", "Compatible", "Time", "Locks on tables that existed")
    yield from table(columns, map(_step, costs))
    yield ""


def _step(cost: StepCost) -> tuple[str, ...]:
    step, seconds, locks = cost
    compatible = "yes" if step.is_compatible else "no"
    return step.name, compatible, f"{seconds * 1000:,.0f} ms", ", ".join(locks) or "none"


def _waits(run: Run) -> Iterator[str]:
    yield "## The longest waits"
    yield ""
    yield (
        f"`bowerbird migrate` took {run.migration_s:.1f} s including its start, while a "
        f"transaction held the locks of `pg_dump` for {BACKUP_S:g} s."
    )
    yield ""
    yield from table(("", "Longest write", "Longest read"), _longest(run))
    yield ""
    if run.lock_waits:
        waited = [f"{name} {seconds:.2f} s" for name, seconds in run.lock_waits.items()]
        yield f"Requests that waited for the lock of a table: {', '.join(sorted(waited))}."
    else:
        yield "No sample saw a request that waited for the lock of a table."
    yield ""


def _longest(run: Run) -> Iterator[tuple[str, ...]]:
    kinds = {answer.kind for answer in run.ledger.answers}
    for phase in ledger.PHASES:
        answers = [answer for answer in run.ledger.answers if answer.phase == phase]
        if answers:
            write = ledger.longest(answers, WRITES)
            read = ledger.longest(answers, frozenset(kinds - WRITES))
            yield phase, _wait(write), _wait(read)


def _wait(answer: ledger.Answer | None) -> str:
    return "" if answer is None else f"{answer.seconds:.2f} s ({answer.kind}, {answer.status})"


def _requests(run: Run) -> Iterator[str]:
    yield "## Requests"
    yield ""
    yield from table(("Phase", "Node", "Status", "Requests"), _counts(run))
    yield ""


def _counts(run: Run) -> Iterator[tuple[str, ...]]:
    counts = ledger.by_status(run.ledger.answers)
    order = {phase: place for place, phase in enumerate(ledger.PHASES)}
    for (phase, release, status), number in sorted(
        counts.items(), key=lambda item: (order[item[0][0]], *item[0][1:])
    ):
        yield phase, release, str(status or "broken connection"), f"{number:,}"


def _short(text: str) -> str:
    return text.replace("\n", " ")[:600]
