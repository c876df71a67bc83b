"""Connections to the server, kept open between calls; each carries one call at a time."""

import http.client
import select
import socket
import threading
from contextlib import suppress
from typing import Any, Final

from bowerbird_mcp import __version__
from bowerbird_mcp.configuration import Configuration

_CONNECT_S: Final = 10.0
# Longer than any tool waits before it answers.
_ANSWER_S: Final = 90.0
# A host or a path that cannot be written as the protocol wants it is a ValueError.
_FAILURES: Final = (OSError, ValueError, http.client.HTTPException)


class Gone(Exception):  # noqa: N818 - named for what it is
    """There is no answer; says why in a sentence."""


class Exchange:
    """One call under way, which another thread may give up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_given_up = False

    def hold(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._socket = connection.sock
            if self.is_given_up:
                self._close()

    def release(self) -> bool:
        """Lets go of the connection; whether it can carry another call."""
        with self._lock:
            self._socket = None
            return not self.is_given_up

    def give_up(self) -> None:
        """Closes the connection: the server sees it and stops working on the answer."""
        with self._lock:
            self.is_given_up = True
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
        self, body: bytes, headers: dict[str, str], exchange: Exchange
    ) -> tuple[int, str, bytes]:
        """Status, content type and body of the answer."""
        connection = self._open()
        try:
            exchange.hold(connection)
            connection.request("POST", self._configuration.path, body, self._headers(headers))
            response = connection.getresponse()
            answer = response.read()
        except _FAILURES as error:
            exchange.release()
            connection.close()
            raise Gone(self._why(error)) from None
        # Before another call can have it: who gives this one up must not close that one's.
        if exchange.release() and not response.will_close:
            with self._lock:
                self._idle.append(connection)
        else:
            connection.close()
        return response.status, response.headers.get_content_type(), answer

    def close(self) -> None:
        """Those that stand open; one under way is its call's own."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _open(self) -> http.client.HTTPConnection:
        """One that stands open, unless the server has closed it meanwhile; else a new one."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if not _is_closed(connection):
                    return connection
                connection.close()
        try:
            return self._connected()
        except _FAILURES as error:
            raise Gone(self._why(error)) from None

    def _connected(self) -> http.client.HTTPConnection:
        configuration = self._configuration
        kind: Any = http.client.HTTPConnection
        if configuration.scheme == "https":
            kind = http.client.HTTPSConnection
        made: http.client.HTTPConnection = kind(
            configuration.host, configuration.port, timeout=_CONNECT_S
        )
        made.connect()
        # Answers are small and wanted at once.
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.sock.settimeout(_ANSWER_S)
        return made

    def _headers(self, more: dict[str, str]) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._configuration.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "User-Agent": f"bowerbird-mcp/{__version__}",
            **more,
        }

    def _why(self, error: Exception) -> str:
        address = self._configuration.address
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return (
                f"Cannot reach {address}: {error.strerror or error}. Is `bowerbird serve` running "
                "there? SERVICE_URL says where the server is."
            )
        if isinstance(error, TimeoutError):
            return f"{address} did not answer in time."
        return f"The connection to {address} broke: {error or type(error).__name__}."


def _is_closed(connection: http.client.HTTPConnection) -> bool:
    """An idle connection has nothing to read, except its end."""
    if connection.sock is None:
        return True
    readable, _, _ = select.select([connection.sock], [], [], 0)
    return bool(readable)
