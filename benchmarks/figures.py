"""The results of measurements, and whether they meet their targets."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

_VERDICTS: Final = {None: "", True: "met", False: "MISSED"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. The target is optional."""

    work: str
    measured: str
    target: str = ""
    is_met: bool | None = None
    detail: str = ""

    @property
    def verdict(self) -> str:
        return _VERDICTS[self.is_met]


@dataclass(slots=True)
class Times:
    """Durations of one kind of request, in seconds."""

    seconds: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> None:
        self.seconds.append(seconds)

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        return cls(list(seconds))

    def percentile(self, percent: float) -> float:
        """In milliseconds, by nearest rank, so the result is always one of the measured times."""
        ordered = sorted(self.seconds)
        rank = max(0, -int(-len(ordered) * percent // 100) - 1)
        return ordered[rank] * 1000

    def row(self, work: str, target_ms: float | None = None) -> Row:
        p50, p99 = self.percentile(50), self.percentile(99)
        return Row(
            work=work,
            measured=f"p50 {p50:.2f} ms, p99 {p99:.2f} ms",
            target="" if target_ms is None else f"p99 < {target_ms:g} ms",
            is_met=None if target_ms is None else p99 < target_ms,
            detail=f"{len(self.seconds)} requests, slowest {max(self.seconds) * 1000:.2f} ms",
        )


def ratio_row(work: str, ours: Sequence[float], other: Sequence[float], target: float) -> Row:
    """The median of the ratios per round. Each round measured both sides one after the other."""
    ratios = [mine / theirs for mine, theirs in zip(ours, other, strict=True)]
    median = statistics.median(ratios)
    return Row(
        work=work,
        measured=f"{median:.3g} times ({min(ratios):.3g} to {max(ratios):.3g})",
        target=f"≥ {target:g} times",
        is_met=median >= target,
        detail=f"{statistics.median(ours):,.0f} against {statistics.median(other):,.0f} requests/s",
    )


def at_least_row(
    work: str, values: Sequence[float], unit: str, target: float, detail: str = ""
) -> Row:
    median = statistics.median(values)
    return Row(work, f"{median:,.0f} {unit}", f"≥ {target:,.0f} {unit}", median >= target, detail)


def below_row(
    work: str, values: Sequence[float], unit: str, target: float | None, detail: str = ""
) -> Row:
    median = statistics.median(values)
    measured = f"{median:,.0f} {unit}" if median >= 10 else f"{median:.2f} {unit}"
    if target is None:
        return Row(work, measured, detail=detail)
    return Row(work, measured, f"< {target:,g} {unit}", median < target, detail)
