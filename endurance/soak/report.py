"""The result of a soak as a file that is committed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks import result_files
from benchmarks.result_files import table
from endurance.soak.clients.client import Statistics
from endurance.soak.findings import Criterion, Findings
from endurance.soak.service.chaos import Outage

RESULTS: Final = Path(__file__).parents[1] / "results"

_ABOUT_TIMES: Final = (
    "Times are informative: they include the balancer and the client, which share the cores with "
    "the servers. Each attempt counts: a request is repeated after a 503, after a 409 of a key in "
    "progress, and after a broken connection."
)


@dataclass(frozen=True)
class Outcome:
    started: datetime
    minutes: float
    seed: int
    kill_every_s: float
    database: str
    statistics: Statistics
    findings: Findings
    outages: Sequence[Outage]
    # What happened, and how often.
    events: dict[str, int]
    # What servers and workers logged at the level warning or above.
    logged: Counter[str]


def save(outcome: Outcome, commit: str, folder: Path = RESULTS) -> Path:
    lines = document(outcome, commit)
    return result_files.save(folder, outcome.started.date(), f"{commit}-soak", lines)


def document(outcome: Outcome, commit: str) -> list[str]:
    findings = outcome.findings
    result = "FAILED" if findings.total else "passed"
    machine = f"{result_files.machine()}; {outcome.database}"
    return [
        f"# {outcome.started.date().isoformat()}, commit {commit}: soak {result}",
        "",
        (
            f"{outcome.minutes:g} minutes of mixed load on four servers and two workers behind a "
            f"balancer, started {outcome.started:%Y-%m-%d %H:%M} UTC; a process ended every "
            f"{outcome.kill_every_s:g} s on average; seed {outcome.seed}."
        ),
        "",
        f"Machine: {machine}. Other programs shared the machine.",
        "",
        *findings_of(findings),
        *table(("Event", "Number"), ((k, f"{v:,}") for k, v in outcome.events.items())),
        "",
        *(_outage(each) for each in outcome.outages),
        "",
        *table(
            ("Logged by servers and workers", "Number"),
            ((each, f"{count:,}") for each, count in outcome.logged.most_common(20)),
        ),
        "",
        *requests_of(outcome.statistics),
        "",
        "To repeat, run `make soak`. ../soak/README.md says what is checked.",
    ]


def findings_of(findings: Findings) -> list[str]:
    table_lines = table(("Criterion", "Found", ""), _verdicts(findings))
    return [*table_lines, "", *_examples(findings)]


def requests_of(statistics: Statistics) -> list[str]:
    columns = ("Request", "Statuses", "p50", "p99", "Slowest")
    return [_ABOUT_TIMES, "", *table(columns, _requests(statistics))]


def _verdicts(findings: Findings) -> Iterator[tuple[str, ...]]:
    for criterion in Criterion:
        count = findings.count(criterion)
        yield criterion, f"{count:,}", "FAILED" if count else "met"


def _examples(findings: Findings) -> Iterator[str]:
    for criterion in Criterion:
        if examples := findings.examples(criterion):
            yield f"{criterion}, the first ones:"
            yield ""
            yield from (f"- `{each.replace('`', chr(39))}`" for each in examples)
            yield ""


def _outage(outage: Outage) -> str:
    recovery = "recovered from its log" if outage.has_recovered else "did not have to recover"
    return (
        f"PostgreSQL was stopped with SIGQUIT after {outage.after_s:.0f} s, was down for "
        f"{outage.down_s:.1f} s, and {recovery}."
    )


def _requests(statistics: Statistics) -> Iterator[tuple[str, ...]]:
    kinds = sorted({kind for kind, _ in statistics.statuses})
    for kind in kinds:
        yield kind, _statuses(statistics, kind), *_times(statistics.seconds.get(kind, []))
    every = [each for seconds in statistics.seconds.values() for each in seconds]
    yield "all", _statuses(statistics, None), *_times(every)


def _statuses(statistics: Statistics, kind: str | None) -> str:
    counted = Counter[str]()
    for (each, status), count in statistics.statuses.items():
        if kind in (None, each):
            counted[status] += count
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(counted.items()))


def _times(seconds: Sequence[float]) -> tuple[str, str, str]:
    if not seconds:
        return "", "", ""
    ordered = sorted(seconds)
    places = (0.5, 0.99, 1.0)
    chosen = [ordered[min(int(place * len(ordered)), len(ordered) - 1)] for place in places]
    half, most, slowest = (f"{each:.3f} s" for each in chosen)
    return half, most, slowest


def now() -> datetime:
    return datetime.now(UTC)
