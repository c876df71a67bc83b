"""A small blocking HTTP client. It adds less to a measured time than a full client would."""

import socket
import time
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import msgspec

_LIMIT_S: Final = 60.0
_READ: Final = 1 << 18


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Client:
    """One persistent connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), _LIMIT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._socket.close()

    def get(self, path: str, key: str | None) -> Answer:
        return self._send(request_text(self._port, path, key))

    def post(self, path: str, key: str, body: bytes, idempotency_key: str) -> Answer:
        return self._send(post_text(self._port, path, key, body, idempotency_key))

    def send(self, request: bytes) -> Answer:
        """Sends the bytes of a complete request."""
        return self._send(request)

    def _send(self, request: bytes) -> Answer:
        started = time.perf_counter()
        self._socket.sendall(request)
        head, body = self._read_head()
        status, headers = _parse_head(head)
        length = int(headers.get("content-length", "0"))
        pieces, received = [body], len(body)
        while received < length:
            pieces.append(self._receive())
            received += len(pieces[-1])
        seconds = time.perf_counter() - started
        return Answer(status, headers, b"".join(pieces), seconds)

    def get_ok(self, path: str, key: str) -> Answer:
        """Like `get`, but raises if the status is not 200."""
        answer = self.get(path, key)
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}: {answer.body[:300]!r}")
        return answer

    def _read_head(self) -> tuple[bytes, bytes]:
        data = self._receive()
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, _, body = data.partition(b"\r\n\r\n")
        return head, body

    def _receive(self) -> bytes:
        data = self._socket.recv(_READ)
        if not data:
            raise ConnectionResetError("The server closed the connection.")
        return data


def request_text(port: int, path: str, key: str | None) -> bytes:
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{authorization}\r\n".encode()


def post_text(port: int, path: str, key: str, body: bytes, idempotency_key: str) -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"Idempotency-Key: {idempotency_key}\r\n\r\n"
    )
    return head.encode() + body


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, text = line.partition(":")
        headers[name.lower()] = text.strip()
    return int(first.split(" ", 2)[1]), headers
