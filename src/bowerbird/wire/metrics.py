"""Metrics of requests and jobs, and the port for operators that serves them."""

import asyncio
import ipaddress
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_UNFINISHED: Final = ("pending", "processing")
METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class _Durations:
    """How many of each kind took at most so long, and how long all of them together."""

    def __init__(self, name: str, help: str, label: str, bounds: Sequence[float]) -> None:
        self._name, self._help, self._label, self._bounds = name, help, label, bounds
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def add(self, kind: str, seconds: float) -> None:
        buckets = self._buckets.setdefault(kind, [0] * (len(self._bounds) + 1))
        buckets[bisect_left(self._bounds, seconds)] += 1
        self._seconds[kind] = self._seconds.get(kind, 0.0) + seconds

    def family(self) -> Metric:
        family = HistogramMetricFamily(self._name, self._help, labels=(self._label,))
        bounds = [*map(str, self._bounds), "+Inf"]
        for kind, buckets in list(self._buckets.items()):
            cumulative = list(zip(bounds, map(float, accumulate(buckets)), strict=True))
            family.add_metric((kind,), cumulative, self._seconds[kind])
        return family


class RequestMetrics(Collector):
    """Counts in plain dictionaries on the event loop, and converts them when /metrics is read.

    The counters of prometheus_client each take a lock, which costs a request six times as much.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._durations = _Durations(
            *("bowerbird_request_seconds", "Time from a request's arrival to its answer.", "route"),
            _SECONDS,
        )
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
        self._durations.add(route, seconds)

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "bowerbird_requests", "Requests answered.", labels=("route", "method", "status")
        )
        for (route, method, status), count in list(self._requests.items()):
            requests.add_metric((route, method, str(status)), count)
        yield requests
        yield self._durations.family()
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


_JOB_SECONDS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
LEASE_LOST: Final = "lease_lost"
NOT_STORED: Final = "not_stored"


class JobMetrics(Collector):
    """Counts in plain dictionaries, and converts them when /metrics is read."""

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._durations = _Durations(
            *("bowerbird_job_seconds", "Time that an attempt to run a job took.", "kind"),
            _JOB_SECONDS,
        )

    def ended(self, kind: str, outcome: str) -> None:
        """An attempt to run a job ended."""
        self._outcomes[kind, outcome] += 1

    def took(self, kind: str, seconds: float) -> None:
        """How long the attempt ran, whatever its outcome is."""
        self._durations.add(kind, seconds)

    def collect(self) -> Iterator[Metric]:
        attempts = CounterMetricFamily(
            "bowerbird_job_attempts",
            "Attempts to run a job that ended in this process.",
            labels=("kind", "outcome"),
        )
        for (kind, outcome), count in list(self._outcomes.items()):
            attempts.add_metric((kind, outcome), count)
        yield attempts
        yield self._durations.family()


PATH: Final = "/metrics"


def metrics_app(configured_host: str, registry: CollectorRegistry) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await _response(scope, configured_host, registry)
        await response(scope, receive, send)

    return app


async def _response(scope: Scope, configured_host: str, registry: CollectorRegistry) -> Response:
    headers = Headers(scope=scope)
    if not is_allowed(headers.get("host", ""), configured_host):
        return _refusal(
            403,
            "This Host is not allowed. Use an IP address, localhost, or the name in "
            "BOWERBIRD_ADMIN_HOST.",
        )
    if scope["path"] != PATH:
        return _refusal(404, f"The admin port has only {PATH}.")
    encode, content_type = choose_encoder(headers.get("accept", ""))
    # Off the event loop: there may be thousands of series.
    body = await asyncio.to_thread(encode, registry)
    return Response(body, headers={"content-type": content_type, "cache-control": "no-store"})


def is_allowed(sent: str, configured: str) -> bool:
    """Whether the value of `Host` cannot be the name of somebody else's web page."""
    if "@" in sent:
        return False
    try:
        name = urlsplit(f"//{sent}").hostname or ""
    except ValueError:
        return False
    if name in ("localhost", configured.lower()):
        return bool(name)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _refusal(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status, headers={"cache-control": "no-store"})
