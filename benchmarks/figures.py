"""What a measurement found, and whether the bar is held."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

_HELD: Final = {None: "", True: "held", False: "MISSED"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Without a bar it only informs."""

    work: str
    measured: str
    bar: str = ""
    is_held: bool | None = None
    detail: str = ""

    @property
    def verdict(self) -> str:
        return _HELD[self.is_held]


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
        """In milliseconds; the nearest rank, so always a time that was measured."""
        ordered = sorted(self.seconds)
        rank = max(0, -int(-len(ordered) * percent // 100) - 1)
        return ordered[rank] * 1000

    def row(self, work: str, bar_ms: float | None = None) -> Row:
        p50, p99 = self.percentile(50), self.percentile(99)
        return Row(
            work=work,
            measured=f"p50 {p50:.2f} ms, p99 {p99:.2f} ms",
            bar="" if bar_ms is None else f"p99 < {bar_ms:g} ms",
            is_held=None if bar_ms is None else p99 < bar_ms,
            detail=f"{len(self.seconds)} requests, slowest {max(self.seconds) * 1000:.2f} ms",
        )


def ratio_row(work: str, ours: Sequence[float], other: Sequence[float], bar: float) -> Row:
    """The median of the rounds' ratios; both sides of each were measured side by side."""
    ratios = [mine / theirs for mine, theirs in zip(ours, other, strict=True)]
    middle = statistics.median(ratios)
    return Row(
        work=work,
        measured=f"{middle:.3g} times ({min(ratios):.3g} to {max(ratios):.3g})",
        bar=f"≥ {bar:g} times",
        is_held=middle >= bar,
        detail=f"{statistics.median(ours):,.0f} against {statistics.median(other):,.0f} requests/s",
    )


def least_row(work: str, values: Sequence[float], unit: str, bar: float, detail: str = "") -> Row:
    middle = statistics.median(values)
    return Row(work, f"{middle:,.0f} {unit}", f"≥ {bar:,.0f} {unit}", middle >= bar, detail)


def most_row(
    work: str, values: Sequence[float], unit: str, bar: float | None, detail: str = ""
) -> Row:
    middle = statistics.median(values)
    measured = f"{middle:,.0f} {unit}" if middle >= 10 else f"{middle:.2f} {unit}"
    if bar is None:
        return Row(work, measured, detail=detail)
    return Row(work, measured, f"< {bar:,g} {unit}", middle < bar, detail)
