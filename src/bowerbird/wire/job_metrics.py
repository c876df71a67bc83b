"""Metrics of the jobs that this process runs. The labels are kinds of jobs and outcomes."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_SECONDS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
LEASE_LOST: Final = "lease_lost"
NOT_STORED: Final = "not_stored"


class JobMetrics(Collector):
    """Counts in plain dictionaries, and converts them when /metrics is read."""

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def ended(self, kind: str, outcome: str) -> None:
        """An attempt to run a job ended."""
        self._outcomes[kind, outcome] += 1

    def took(self, kind: str, seconds: float) -> None:
        """How long the attempt ran, whatever its outcome is."""
        buckets = self._buckets.setdefault(kind, [0] * (len(_SECONDS) + 1))
        buckets[bisect_left(_SECONDS, seconds)] += 1
        self._seconds[kind] = self._seconds.get(kind, 0.0) + seconds

    def collect(self) -> Iterator[Metric]:
        attempts = CounterMetricFamily(
            "bowerbird_job_attempts",
            "Attempts to run a job that ended in this process.",
            labels=("kind", "outcome"),
        )
        for (kind, outcome), count in list(self._outcomes.items()):
            attempts.add_metric((kind, outcome), count)
        yield attempts
        durations = HistogramMetricFamily(
            "bowerbird_job_seconds", "Time that an attempt to run a job took.", labels=("kind",)
        )
        bounds = [*map(str, _SECONDS), "+Inf"]
        for kind, buckets in list(self._buckets.items()):
            cumulative = list(zip(bounds, map(float, accumulate(buckets)), strict=True))
            durations.add_metric((kind,), cumulative, self._seconds[kind])
        yield durations
