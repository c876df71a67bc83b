"""HTTP/2 is off unless it has a port, and its headers are bounded after decompression."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import h2.connection
import h2.events
import h2.settings
import pytest

from tests.support import serving
from tests.support.serving import PATIENCE_SECONDS, Server

REQUEST = [(":method", "GET"), (":scheme", "http")]


@pytest.fixture(scope="module")
def port() -> int:
    return serving.free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("http2")
    with serving.serving(folder, http2_port=port) as running:
        yield running


class Http2Client:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.connection = h2.connection.H2Connection()
        self.connection.initiate_connection()
        self._flush()

    def send_headers(
        self, path: str, *headers: tuple[str, str], authority: str = "localhost"
    ) -> int:
        stream = self.connection.get_next_available_stream_id()
        # Headers that the server has not allowed are what this client is for.
        self.connection.remote_settings.max_header_list_size = 1 << 30
        target = [*REQUEST, (":authority", authority), (":path", path)]
        self.connection.send_headers(stream, [*target, *headers], end_stream=True)
        self._flush()
        return stream

    def status(self, stream: int) -> int | None:
        """The status of the answer; None if the server refuses the stream or the connection."""
        while data := self._received():
            for event in self.connection.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived) and event.stream_id == stream:
                    return int(dict(event.headers)[b":status"])
                if isinstance(event, h2.events.StreamReset | h2.events.ConnectionTerminated):
                    return None
            self._flush()
        return None

    def body(self, stream: int) -> bytes:
        """The body of the answer, up to the end of the stream."""
        body = b""
        while data := self._received():
            for event in self.connection.receive_data(data):
                if isinstance(event, h2.events.DataReceived) and event.stream_id == stream:
                    body += event.data or b""
                if isinstance(event, h2.events.StreamEnded) and event.stream_id == stream:
                    return body
            self._flush()
        return body

    def _received(self) -> bytes:
        try:
            return self._socket.recv(65_536)
        except ConnectionError:
            return b""

    def _flush(self) -> None:
        self._socket.sendall(self.connection.data_to_send())

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def client(server: Server, port: int) -> Iterator[Http2Client]:
    assert server.is_answering()
    opened = Http2Client(port)
    yield opened
    opened.close()


def test_the_main_port_does_not_speak_http2(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

        assert connection.recv(65_536).startswith(b"HTTP/1.1 400 ")


def test_the_http2_port_answers_as_the_main_port_does(client: Http2Client) -> None:
    assert client.status(client.send_headers("/healthz")) == 200
    assert client.status(client.send_headers("/v1/bookmarks")) == 401


def test_cookies_that_arrive_one_by_one_are_all_read(server: Server, client: Http2Client) -> None:
    cookies = [("cookie", "theme=dark"), ("cookie", "other=1")]

    page = client.body(
        client.send_headers("/sign-in", *cookies, authority=f"localhost:{server.port}")
    )

    assert b'data-theme="dark"' in page


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/v1/bookmarks", 7), ("/v1/bookmarks?q=" + "x" * 60_000, 1)],
    ids=["headers", "both"],
)
def test_a_url_and_headers_that_are_too_large_are_refused_in_the_form_of_the_api(
    client: Http2Client, path: str, headers: int
) -> None:
    large = [(f"x-large-{number}", "x" * 10_000) for number in range(headers)]

    refused = json.loads(client.body(client.send_headers(path, *large)))

    assert refused["code"] == "INVALID_REQUEST"
    assert refused["error"] == "The request's URL and headers are larger than 64 KiB."


def test_too_many_headers_are_refused_in_the_form_of_the_api(client: Http2Client) -> None:
    many = [(f"x-{number}", "1") for number in range(200)]

    assert client.status(client.send_headers("/healthz", *many[:150])) == 200
    refused = json.loads(client.body(client.send_headers("/healthz", *many, ("x-more", "1"))))

    assert refused["code"] == "INVALID_REQUEST"
    assert refused["error"] == "The request has more than 200 headers."
    in_sandbox = client.send_headers("/v1/sandbox/views", *many, ("x-more", "1"))
    assert json.loads(client.body(in_sandbox))["meta"] == {"sandbox": True}


def test_a_url_that_the_server_library_cannot_hold_resets_the_stream(client: Http2Client) -> None:
    assert client.status(client.send_headers("/healthz?" + "x" * 70_000)) is None
    assert client.status(client.send_headers("/healthz?" + "x" * 60_000)) == 200


def test_headers_that_grow_when_decompressed_are_refused(
    server: Server, client: Http2Client
) -> None:
    # Sent once; each further use takes one byte on the wire.
    large = ("x-large", "x" * 3_900)

    status = client.status(client.send_headers("/healthz", *[large] * 4_000))

    assert status in (None, 431)
    assert memory_mb(server) < 200
    assert server.is_answering()


def memory_mb(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def test_a_used_http2_port_is_reported_in_one_sentence(server: Server, tmp_path: Path) -> None:
    environment = server.environment | {
        "BOWERBIRD_DATA_DIR": str(tmp_path),
        "BOWERBIRD_PORT": str(serving.free_port()),
        "BOWERBIRD_HTTP2_PORT": str(server.port),
    }

    ran = serving.bowerbird("serve", environment=environment)

    assert ran.returncode == 1
    assert ran.stderr.startswith(f"Error: Cannot listen on 127.0.0.1:{server.port}")
    assert ran.stderr.count("\n") == 1
