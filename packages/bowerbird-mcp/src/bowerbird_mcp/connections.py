"""Connections to the server. They stay open between calls, and carry one call at a time."""

import http.client
import select
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from bowerbird_mcp import __version__
from bowerbird_mcp.configuration import Configuration
from bowerbird_mcp.http_failures import Answer
from bowerbird_mcp.messages import is_notification

_CONNECT_TIMEOUT_S: Final = 10.0
# Longer than any tool takes.
_RESPONSE_TIMEOUT_S: Final = 90.0
_EVENT_STREAM: Final = "text/event-stream"
# http.client raises ValueError for a host or path that it cannot encode.
_FAILURES: Final = (OSError, ValueError, http.client.HTTPException)


class CallFailedError(Exception):
    """The server did not respond. The message says why in one sentence."""


class Call:
    """A call to the server that another thread can cancel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_cancelled = False

    def attach(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._socket = connection.sock
            if self.is_cancelled:
                self._close()

    def detach(self) -> bool:
        """Releases the connection, and returns whether another call can use it."""
        with self._lock:
            self._socket = None
            return not self.is_cancelled

    def cancel(self) -> None:
        """Closes the connection, which makes the server stop working on the call."""
        with self._lock:
            self.is_cancelled = True
            self._close()

    def _close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class Connections:
    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def post(
        self,
        body: bytes,
        headers: dict[str, str],
        call: Call,
        notify: Callable[[bytes], None] = lambda _: None,
    ) -> Answer:
        """Returns the response. `notify` gets each notification that arrives before it."""
        connection = self._open()
        try:
            call.attach(connection)
            connection.request("POST", self._configuration.path, body, self._headers(headers))
            response = connection.getresponse()
            content_type = response.headers.get_content_type()
            if content_type == _EVENT_STREAM:
                content_type, content = "application/json", _response_in(response, notify)
            else:
                content = response.read()
        except _FAILURES as error:
            call.detach()
            connection.close()
            raise CallFailedError(self._reason(error)) from None
        # Detach before another call can use the connection, or cancelling this call would close it.
        if call.detach() and not response.will_close:
            with self._lock:
                self._idle.append(connection)
        else:
            connection.close()
        return Answer(
            response.status,
            content_type,
            content,
            response.headers.get("Retry-After"),
            response.headers.get("Location"),
        )

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _open(self) -> http.client.HTTPConnection:
        """Returns an idle connection that the server has not closed, or a new one."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if not _is_closed(connection):
                    return connection
                connection.close()
        try:
            return self._connect()
        except _FAILURES as error:
            raise CallFailedError(self._reason(error)) from None

    def _connect(self) -> http.client.HTTPConnection:
        configuration = self._configuration
        kind: Any = http.client.HTTPConnection
        if configuration.scheme == "https":
            kind = http.client.HTTPSConnection
        connection: http.client.HTTPConnection = kind(
            configuration.host, configuration.port, timeout=_CONNECT_TIMEOUT_S
        )
        connection.connect()
        # Messages are small and must not wait for more data.
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sock.settimeout(_RESPONSE_TIMEOUT_S)
        return connection

    def _headers(self, extra: dict[str, str]) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._configuration.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "User-Agent": f"bowerbird-mcp/{__version__}",
            **self._configuration.restrictions,
            **extra,
        }

    def _reason(self, error: Exception) -> str:
        address = self._configuration.address
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return (
                f"Cannot reach {address}: {error.strerror or error}. Check that `bowerbird serve` "
                "is running there, and that SERVICE_URL is correct."
            )
        if isinstance(error, TimeoutError):
            return f"{address} did not respond in time."
        return f"The connection to {address} broke: {error or type(error).__name__}."


def _response_in(lines: Iterable[bytes], notify: Callable[[bytes], None]) -> bytes:
    """Reads an event stream to its end, and returns the response in it."""
    response = b""
    for line in lines:
        field, _, value = line.partition(b":")
        if field == b"data":
            if is_notification(value):
                notify(value.strip())
            else:
                response = value.strip()
    return response


def _is_closed(connection: http.client.HTTPConnection) -> bool:
    """An idle connection becomes readable only when the server closes it."""
    if connection.sock is None:
        return True
    readable, _, _ = select.select([connection.sock], [], [], 0)
    return bool(readable)
