"""Sends requests through the balancer, repeats those that may be repeated, and counts answers."""

import http.client
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from endurance.soak.findings import Criterion, Findings
from endurance.soak.service.balancer import REQUEST_ID, Balancer
from endurance.soak.service.nodes import Life

# The service promises an answer within ten seconds. On a busy machine, a server that has just been
# started accepts connections some time before it answers.
_TIMEOUT_S: Final = 60.0
# All servers can be down while PostgreSQL recovers, but not for so long.
_PATIENCE_S: Final = 180.0
_MAX_WAIT_S: Final = 2.0
# An answer that is a finding is repeated so often: the next one may be right.
_MOST_UNEXPECTED: Final = 3
_SHOWN: Final = 300
_OK: Final = frozenset({200})
BROKEN: Final = "broken connection"
_ids = itertools.count(1)


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes
    # How many times the request was sent without an answer, so that it may have been carried out.
    broken: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class UnansweredError(Exception):
    """No expected answer within the patience of a client."""


class Statistics:
    """Requests by kind and status, and how long answers took. Threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.seconds: dict[str, list[float]] = {}

    def count(self, kind: str, status: str, seconds: float | None = None) -> None:
        with self._lock:
            self.statuses[kind, status] += 1
            if seconds is not None:
                self.seconds.setdefault(kind, []).append(seconds)

    @property
    def total(self) -> int:
        return self.statuses.total()


class Client:
    """One per thread and account."""

    def __init__(
        self, balancer: Balancer, key: str, statistics: Statistics, findings: Findings
    ) -> None:
        self._balancer, self._key = balancer, key
        self._statistics, self.findings = statistics, findings

    def get(self, kind: str, path: str, expected: Collection[int] = _OK, **headers: str) -> Answer:
        return self.send(kind, "GET", path, expected=expected, headers=headers)

    def send(
        self,
        kind: str,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        expected: Collection[int] = _OK,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Repeats the request until it gets an expected answer, or one that is a finding.

        Only for requests that can be repeated: reads, and writes with an Idempotency-Key.
        """
        sent = {"Authorization": f"Bearer {self._key}", "Connection": "close", **(headers or {})}
        deadline = time.monotonic() + _PATIENCE_S
        broken = unexpected = 0
        while time.monotonic() < deadline and unexpected < _MOST_UNEXPECTED:
            answer = self._once(kind, method, path, body, sent)
            if answer is None:
                broken += 1
                continue
            if answer.status in expected:
                return answer._replace(broken=broken)
            if not self._may_repeat(answer, sent):
                text = answer.body[:_SHOWN].decode(errors="replace")
                example = f"{method} {path}: {answer.status}, expected {sorted(expected)}: {text}"
                self.findings.add(Criterion.ERRORS, example)
                unexpected += 1
            time.sleep(min(float(answer.headers.get("retry-after", "1")), _MAX_WAIT_S))
        raise UnansweredError(f"{method} {path}: no expected answer")

    def _once(
        self,
        kind: str,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> Answer | None:
        """None if the connection broke."""
        request_id = f"soak-{next(_ids)}"
        connection = http.client.HTTPConnection(
            "127.0.0.1", self._balancer.port, timeout=_TIMEOUT_S
        )
        started = time.monotonic()
        try:
            connection.request(method, path, body, {**headers, REQUEST_ID: request_id})
            response = connection.getresponse()
            received = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._statistics.count(kind, BROKEN)
            self._check_break(f"{method} {path}: {error!r}", request_id)
            return None
        finally:
            connection.close()
        life = self._balancer.taken_life(request_id)
        is_from_balancer = life is None
        status = f"{response.status} of the balancer" if is_from_balancer else str(response.status)
        self._statistics.count(kind, status, time.monotonic() - started)
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, fields, received)

    def _check_break(self, what: str, request_id: str) -> None:
        life = self._balancer.taken_life(request_id)
        if not isinstance(life, Life) or life.ended_by is None:
            self.findings.add(Criterion.BROKEN, what)

    @staticmethod
    def _may_repeat(answer: Answer, headers: Mapping[str, str]) -> bool:
        """Whether the answer is one of the two that ask a client to send the request again."""
        if not answer.headers.get("retry-after", "").isdigit():
            return False
        code = answer.json.get("code")
        if answer.status == 409:
            return code == "IDEMPOTENCY_IN_PROGRESS" and "Idempotency-Key" in headers
        return answer.status == 503 and code == "SERVICE_UNAVAILABLE"
