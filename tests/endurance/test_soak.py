"""The parts of the soak find what they look for: a soak that cannot fail proves nothing."""

import subprocess
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from endurance.soak import ledger as effects
from endurance.soak import verdict
from endurance.soak.clients.client import Client, Statistics, UnansweredError
from endurance.soak.findings import Criterion, Findings
from endurance.soak.ledger import Effect, Expected, Ledger, Shown, Write
from endurance.soak.service.balancer import Balancer
from endurance.soak.service.nodes import Life

BREAK = 0
UNAVAILABLE = '{"code": "SERVICE_UNAVAILABLE"}'


@dataclass
class Target:
    """A server that gives the next answers of a list; the status 0 breaks the connection."""

    port: int
    life: Life
    answers: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        target = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                target.received.append(self.rfile.read(int(self.headers["Content-Length"] or 0)))
                answers = target.answers
                status, headers, body = answers.pop(0) if answers else (200, {}, "{}")
                if status == BREAK:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        return Handler


def ended_life() -> Life:
    process = subprocess.Popen(["true"])
    process.wait()
    return Life(process)


@contextmanager
def target() -> Iterator[Target]:
    made = Target(0, ended_life())
    with ThreadingHTTPServer(("127.0.0.1", 0), made.handler()) as server:
        made.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def client_of(targets: Sequence[Target]) -> Iterator[Client]:
    with Balancer(targets) as balancer:
        yield Client(balancer, "key", Statistics(), Findings())


def write(client: Client) -> int:
    headers = {"Idempotency-Key": "one"}
    return client.send("write", "POST", "/", b'{"a": 1}', headers=headers).status


def test_a_connection_that_breaks_while_its_server_lives_is_a_finding() -> None:
    with target() as server, client_of([server]) as client:
        server.answers = [(BREAK, {}, "")]

        assert write(client) == 200
        assert client.findings.count(Criterion.BROKEN) == 1


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ((503, {"Retry-After": "0"}, UNAVAILABLE), 0),
        ((409, {"Retry-After": "0"}, '{"code": "IDEMPOTENCY_IN_PROGRESS"}'), 0),
        ((503, {}, UNAVAILABLE), 1),
        ((500, {"Retry-After": "0"}, '{"code": "INTERNAL_ERROR"}'), 1),
        ((404, {"Retry-After": "0"}, '{"code": "NOT_FOUND"}'), 1),
        ((429, {"Retry-After": "0"}, '{"code": "RATE_LIMITED"}'), 1),
    ],
)
def test_only_503_and_409_with_retry_after_are_no_findings(
    answer: tuple[int, dict[str, str], str], found: int
) -> None:
    with target() as server, client_of([server]) as client:
        server.answers = [answer]

        assert write(client) == 200
        assert client.findings.count(Criterion.ERRORS) == found


def test_an_error_that_stays_ends_the_request_instead_of_the_patience() -> None:
    with target() as server, client_of([server]) as client:
        server.answers = [(500, {"Retry-After": "0"}, "{}")] * 3

        with pytest.raises(UnansweredError):
            write(client)

        assert client.findings.count(Criterion.ERRORS) == 3


def bookmark(post_id: str = "1", **fields: Any) -> dict[str, Any]:
    flags = {"is_read": False, "is_archived": False}
    return {
        "post_id": post_id,
        "tweet_details": {"text": "words"},
        "tags": ["kept"],
        **flags,
        **fields,
    }


def compared(*bookmarks: dict[str, Any], views: Sequence[str] = ("mine",)) -> dict[Criterion, int]:
    expected = Expected({"1": Shown("words", {"kept"})}, Counter(["mine"]), {"2": Shown("gone")})
    findings = Findings()
    verdict.compare_library(findings, "bob", expected, bookmarks, views)
    return {each: count for each in Criterion if (count := findings.count(each))}


def test_a_library_as_expected_has_no_findings() -> None:
    assert compared(bookmark()) == {}


@pytest.mark.parametrize(
    ("bookmarks", "criterion"),
    [
        ([], Criterion.LOST),
        ([bookmark(tags=None)], Criterion.LOST),
        ([bookmark(tags=["kept", "removed"])], Criterion.LOST),
        ([bookmark(is_read=True)], Criterion.LOST),
        ([bookmark(), bookmark("2")], Criterion.LOST),
        ([bookmark(), bookmark()], Criterion.DOUBLED),
        ([bookmark(tags=["kept", "kept"])], Criterion.DOUBLED),
        ([bookmark(), bookmark("3")], Criterion.WRONG),
        ([bookmark(tweet_details={"text": "others"})], Criterion.WRONG),
    ],
)
def test_each_difference_in_the_posts_is_found(
    bookmarks: list[dict[str, Any]], criterion: Criterion
) -> None:
    assert compared(*bookmarks) == {criterion: 1}


@pytest.mark.parametrize(
    ("views", "criterion"), [([], Criterion.LOST), (["mine", "mine"], Criterion.DOUBLED)]
)
def test_each_difference_in_the_views_is_found(views: list[str], criterion: Criterion) -> None:
    assert compared(bookmark(), views=views) == {criterion: 1}


def test_counters_versions_and_replays_that_differ_are_found() -> None:
    findings = Findings()
    verdict.compare_labels(findings, "bob", [bookmark()], {"kept": 2})
    verdict.compare_number(findings, "version", 5, 4)
    verdict.compare_number(findings, "version", 5, 6)
    verdict.compare_number(findings, "version", 5, 5)
    verdict.compare_replay(findings, "one", is_replayed=False, is_same=True)
    verdict.compare_replay(findings, "one", is_replayed=True, is_same=False)
    verdict.compare_replay(findings, "one", is_replayed=True, is_same=True)

    found = {each: findings.count(each) for each in Criterion if findings.count(each)}
    assert found == {
        Criterion.LOST: 1,
        Criterion.DOUBLED: 2,
        Criterion.WRONG: 1,
        Criterion.COUNTERS: 1,
    }


def entry(*changes: Effect) -> Write:
    return Write("bob", "save", "POST", "/v1/bookmarks", "{}", "one", 200, "", changes)


def test_the_ledger_says_what_the_library_must_have(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(entry((effects.SAVED, "2", "new"), (effects.VIEW, "mine")))
    ledger.acknowledge(entry((effects.LABEL, "1", "kept", True), (effects.LABEL, "2", "x", True)))
    ledger.acknowledge(
        entry((effects.LABEL, "2", "x", False), (effects.FLAG, "2", "is_read", True))
    )
    ledger.acknowledge(entry((effects.DELETED, "1"), (effects.EXPORT,)))

    # A second ledger reads the same file.
    expected = Ledger(tmp_path / "ledger").expected("bob", {"1": Shown("words")})

    assert expected.posts == {"2": Shown("new", set(), is_read=True)}
    assert expected.trash == {"1": Shown("words", {"kept"})}
    assert expected.views == {"mine": 1}
    ledger.acknowledge(entry((effects.RESTORED, "1")))
    assert ledger.expected("bob", {"1": Shown("words")}).posts.keys() == {"1", "2"}
    assert (ledger.saved("bob"), ledger.total, ledger.count("carol")) == ({"2"}, 5, 0)
