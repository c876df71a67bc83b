"""A collector that is down or does not answer delays no request and no stop."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support import serving
from tests.support.hosts.collector import Collector
from tests.support.hosts.loopback import Handler, on_thread
from tests.support.waiting import wait_until
from tests.telemetry.conftest import traced_server

TOKEN = "quokkaesque"


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a collector that accepts connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=64)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_without_a_collector_requests_are_answered_and_the_log_says_so(
    receiver: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{serving.free_port()}")
    # Seconds. A stop that waited for the exporter would take as long.
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    with traced_server(tmp_path, receiver) as traced:
        assert {traced.call("GET", "/v1/account").status_code for _ in range(50)} == {200}
        [line] = wait_until(
            lambda: [each for each in traced.server.log() if each["event"] == "traces_not_sent"]
        )
        assert traced.server.stop() == 0

    assert line["level"] == "warning"
    assert line["reason"] == "Sending to the collector failed (ConnectionError)."
    events = [each["event"] for each in traced.server.log()]
    assert events.count("traces_not_sent") == 1
    assert receiver.bodies == []


def test_a_collector_that_does_not_answer_does_not_delay_a_stop(
    receiver: Collector, silent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", silent)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8")
    with traced_server(tmp_path, receiver) as traced:
        # More spans than the queue has room for.
        assert {traced.call("GET", "/v1/account").status_code for _ in range(100)} == {200}
        assert traced.server.stop() == 0


@contextmanager
def refusing(status: int) -> Iterator[str]:
    """The URL of a collector that gives every request the same status."""

    class Refusing(Handler):
        def reply(self) -> None:
            self.body()
            self.send_response(status, f"no entry for {TOKEN}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with on_thread(Refusing) as port:
        yield f"http://someone:{TOKEN}@127.0.0.1:{port}"


def test_the_log_names_the_status_and_no_secret(
    receiver: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"Authorization=Bearer%20{TOKEN}")
    with refusing(401) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with traced_server(tmp_path, receiver) as traced:
            traced.call("GET", "/v1/account")
            [line] = wait_until(
                lambda: [each for each in traced.server.log() if each["event"] == "traces_not_sent"]
            )
            assert traced.server.stop() == 0
            assert TOKEN not in traced.server.errors()

    assert line["reason"] == "The collector answered with status 401."


def test_the_spans_that_wait_are_sent_when_the_server_stops(
    receiver: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Milliseconds. No batch is due before the stop.
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    with traced_server(tmp_path, receiver) as traced:
        answer = traced.call("GET", "/v1/account")
        assert receiver.bodies == []
        assert traced.server.stop() == 0

    assert receiver.of_request(answer.headers["x-request-id"]).name == "GET /v1/account"
