"""Metrics of requests and jobs. Labels are route templates, never ids, keys or user text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_UNFINISHED: Final = ("pending", "processing")
METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class RequestMetrics(Collector):
    """Counts in plain dictionaries on the event loop, and converts them when /metrics is read.

    The counters of prometheus_client each take a lock, which costs a request six times as much.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, float] = {}
        self._buckets: dict[str, list[int]] = {}
        self._followed: list[tuple[str, str, Callable[[], float], bool]] = []
        # The last counts: (kind, state, number, age of the oldest in seconds).
        self.jobs: Sequence[tuple[str, str, int, float]] = ()

    def follow(
        self, name: str, help: str, read: Callable[[], float], *, is_counter: bool = True
    ) -> None:
        """Adds a metric whose value is read from another part."""
        self._followed.append((name, help, read, is_counter))

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests[route, method if method in METHODS else "other", status] += 1
        buckets = self._buckets.get(route)
        if buckets is None:
            buckets = self._buckets[route] = [0] * (len(_SECONDS) + 1)
            self._seconds[route] = 0
        buckets[bisect_left(_SECONDS, seconds)] += 1
        self._seconds[route] += seconds

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "bowerbird_requests", "Requests answered.", labels=("route", "method", "status")
        )
        for (route, method, status), count in list(self._requests.items()):
            requests.add_metric((route, method, str(status)), count)
        yield requests
        durations = HistogramMetricFamily(
            "bowerbird_request_seconds",
            "Time from a request's arrival to its answer.",
            labels=("route",),
        )
        for route, buckets in list(self._buckets.items()):
            durations.add_metric((route,), _cumulative(buckets), self._seconds[route])
        yield durations
        for name, help, read, is_counter in self._followed:
            family = CounterMetricFamily if is_counter else GaugeMetricFamily
            yield family(name, help, value=read())
        yield from self._of_jobs()

    def _of_jobs(self) -> Iterator[Metric]:
        counts = GaugeMetricFamily("bowerbird_jobs", "Stored jobs.", labels=("kind", "state"))
        ages = GaugeMetricFamily(
            "bowerbird_oldest_job_seconds",
            "Time since the oldest unfinished job was added.",
            labels=("kind", "state"),
        )
        for kind, state, count, age_s in self.jobs:
            counts.add_metric((kind, state), count)
            if state in _UNFINISHED:
                ages.add_metric((kind, state), age_s)
        yield counts
        yield ages


def _cumulative(buckets: list[int]) -> list[tuple[str, float]]:
    bounds = [*map(str, _SECONDS), "+Inf"]
    return [(bound, sum(buckets[: index + 1])) for index, bound in enumerate(bounds)]
