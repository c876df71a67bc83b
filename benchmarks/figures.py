"""The rows of the table: what was measured, by the clock and as CPU time, and the verdicts."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks.bars import Bar


class Row(msgspec.Struct, frozen=True):
    """One line of the table. Work without a bar has no target and no verdict."""

    work: str
    measured: str
    target: str = ""
    is_met: bool | None = None
    detail: str = ""
    # The CPU time of one request, post or run, in words.
    cpu: str = ""
    # Whether the CPU time alone would meet the target. It decides nothing.
    is_met_by_cpu: bool | None = None
    bar: str = ""
    source: str = ""

    @property
    def verdict(self) -> str:
        if self.is_met is None:
            return ""
        verdict = "met" if self.is_met else "MISSED"
        if self.is_met_by_cpu is None or self.is_met_by_cpu is self.is_met:
            return verdict
        return f"{verdict}; by CPU {'met' if self.is_met_by_cpu else 'missed'}"


def bar_row(
    bar: Bar,
    values: Sequence[float],
    *,
    work: str = "",
    cpu: str = "",
    by_cpu: float | None = None,
    detail: str = "",
) -> Row:
    """The median of the values against a bar. `by_cpu` is what the CPU time alone would give."""
    value = statistics.median(values)
    details = [] if by_cpu is None else [f"by CPU {number(by_cpu)} {bar.unit}"]
    return Row(
        work=work or bar.name,
        measured=f"{bar.statistic} {number(value)} {bar.unit}".strip(),
        target=bar.target,
        is_met=bar.is_met(value),
        detail="; ".join([*details, detail] if detail else details),
        cpu=cpu,
        is_met_by_cpu=None if by_cpu is None else bar.is_met(by_cpu),
        bar=bar.name,
        source=bar.source,
    )


def number(value: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def per_one(cpu_seconds: float, name: str) -> str:
    """The CPU time of one request, post or write."""
    microseconds = cpu_seconds * 1e6
    if microseconds < 1_000:
        return f"{number(microseconds)} µs per {name}"
    milliseconds = cpu_seconds * 1000
    return f"{number(milliseconds)} ms per {name}"


@dataclass(slots=True)
class Times:
    """Durations of one kind of request and their CPU time, in seconds."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def add(self, seconds: float, cpu_seconds: float) -> None:
        self.seconds.append(seconds)
        self.cpu_seconds.append(cpu_seconds)

    def percentile(self, percent: float) -> float:
        return percentile(self.seconds, percent)

    def row(self, work: str, bar: Bar | None = None, detail: str = "", shared: str = "") -> Row:
        """A bar decides by the p99 of the times. `shared` is as in `ratio_row`."""
        p50, p99 = self.percentile(50), self.percentile(99)
        cpu_p99 = percentile(self.cpu_seconds, 99)
        count = f"{len(self.seconds)} requests, slowest {max(self.seconds) * 1000:.2f} ms"
        if shared:
            detail = f"the CPU includes {shared}"
        return Row(
            work=work,
            measured=f"p50 {p50:.2f} ms, p99 {p99:.2f} ms",
            target=bar.target if bar else "",
            is_met=bar.is_met(p99) if bar else None,
            detail=f"{count}; {detail}" if detail else count,
            cpu=f"p50 {percentile(self.cpu_seconds, 50):.2f} ms, p99 {cpu_p99:.2f} ms",
            is_met_by_cpu=bar.is_met(cpu_p99) if bar and not shared else None,
            bar=bar.name if bar else "",
            source=bar.source if bar else "",
        )


def percentile(seconds: Sequence[float], percent: float) -> float:
    """In milliseconds, by nearest rank, so the result is always one of the measured times."""
    ordered = sorted(seconds)
    rank = max(0, -int(-len(ordered) * percent // 100) - 1)
    return ordered[rank] * 1000


@dataclass(slots=True)
class Rates:
    """Requests per second of a server, and the CPU time of one, round by round."""

    per_second: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def add(self, requests: int, seconds: float, cpu_seconds: float) -> None:
        self.per_second.append(requests / seconds)
        self.cpu_seconds.append(cpu_seconds / requests)

    @property
    def rate(self) -> float:
        return statistics.median(self.per_second)

    @property
    def cpu(self) -> float:
        return statistics.median(self.cpu_seconds)


def ratio_row(bar: Bar, ours: Rates, other: Rates, *, work: str = "", shared: str = "") -> Row:
    """The median of the ratios per round. Each round measured both sides one after the other.

    `shared` is work that the measured process does meanwhile. Its CPU time cannot be told from that
    of the requests, so it gives no verdict.
    """
    ratios = [mine / theirs for mine, theirs in zip(ours.per_second, other.per_second, strict=True)]
    costs = zip(ours.cpu_seconds, other.cpu_seconds, strict=True)
    by_cpu = statistics.median(theirs / mine for mine, theirs in costs)
    rates = (
        f"{ours.rate:,.0f} against {other.rate:,.0f} requests/s, "
        f"{min(ratios):.3g} to {max(ratios):.3g} times"
    )
    return bar_row(
        bar,
        ratios,
        work=work,
        cpu=f"{ours.cpu * 1e6:,.0f} against {other.cpu * 1e6:,.0f} µs per request",
        by_cpu=None if shared else by_cpu,
        detail=f"{rates}; the CPU includes {shared}" if shared else rates,
    )
