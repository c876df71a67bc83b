"""Strangers cannot stop the service: silent, slow and oversized requests have bounds."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import serving
from tests.support.serving import Server
from tests.support.waiting import PATIENCE_S, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("connections")
    with serving.serving(
        folder, max_connections=50, header_timeout_s=1, body_timeout_s=1, idle_timeout_s=1
    ) as running:
        yield running


@contextlib.contextmanager
def connected(server: Server, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as connection:
        connection.sendall(sent)
        yield connection


def test_2000_silent_connections_do_not_stop_the_service(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(2_000):
            stack.enter_context(connected(server))

        assert server.is_answering()
        assert server.get("/v1/bookmarks").status_code == 401


def test_a_slow_body_with_a_key_is_refused_in_the_usual_format(server: Server) -> None:
    key = server.new_key("slow@example.com")
    head = (
        "POST /v1/labels/add HTTP/1.1\r\nHost: a\r\n"
        f"Authorization: Bearer {key}\r\nContent-Length: 9\r\n"
    )

    with connected(server, f"{head}\r\n{{".encode()) as connection:
        received = connection.recv(65_536)

    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"The request's body took longer than 1 second to arrive." in received
    assert b"access-control-allow-origin" in received


def test_half_a_request_does_not_delay_the_stop(tmp_path: Path) -> None:
    with serving.serving(tmp_path) as server, connected(server, b"GET /"):
        assert server.stop() == 0


def test_a_refused_request_is_logged_with_its_id(server: Server) -> None:
    sent = b"GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: refused-1\r\nContent-Length: -1\r\n\r\n"

    with connected(server, sent) as connection:
        received = connection.recv(65_536)

    assert b"x-request-id: refused-1\r\n" in received
    wait_until(lambda: "refused-1" in server.errors())
    (line,) = [line for line in server.log() if line.get("id") == "refused-1"]
    assert (line["event"], line["status"]) == ("request refused", 400)
    assert "Content-Length" in line["reason"]
