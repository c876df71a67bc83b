"""What /metrics tells of requests. Labels are route templates: never an id, a key or a text."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.registry import Collector

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class Measures:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        requests = Counter(
            "bowerbird_requests",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        seconds = Histogram(
            "bowerbird_request_seconds",
            "Time from a request's arrival to its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        # Looking a child up by its labels costs more than counting.
        self._request = cache(requests.labels)
        self._duration = cache(seconds.labels)

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        self._request(route, method if method in _METHODS else "other", status).inc()
        self._duration(route).observe(seconds)

    def add(self, collector: Collector) -> None:
        self.registry.register(collector)
