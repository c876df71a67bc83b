"""A WebSocket client (RFC 6455) for one local server, as far as WebDriver BiDi needs it."""

import base64
import os
import socket
import struct
from typing import Final

_TEXT: Final = 1
_CLOSE: Final = 8
_PING: Final = 9
_PONG: Final = 10
_FINAL: Final = 0x80
_MASKED: Final = 0x80
# Firefox refuses a mask of zeros. The mask protects proxies, and there is none.
_MASK: Final = b"mask"


class WebSocket:
    def __init__(self, port: int, path: str, timeout_s: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self._received = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        )
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        status = self._received.readline()
        assert b" 101 " in status, status
        while self._received.readline() != b"\r\n":
            pass

    def send(self, text: str) -> None:
        self._send(_TEXT, text.encode())

    def receive(self) -> str:
        """The next text; parts of one message are joined."""
        parts = b""
        while True:
            kind, is_final, content = self._frame()
            if kind == _PING:
                self._send(_PONG, content)
            elif kind == _CLOSE:
                raise ConnectionError("the browser has closed the connection")
            else:
                parts += content
                if is_final:
                    return parts.decode()

    def close(self) -> None:
        self._received.close()
        self._socket.close()

    def _send(self, kind: int, content: bytes) -> None:
        size = len(content)
        if size < 126:
            head = struct.pack("!BB", _FINAL | kind, _MASKED | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", _FINAL | kind, _MASKED | 126, size)
        else:
            head = struct.pack("!BBQ", _FINAL | kind, _MASKED | 127, size)
        self._socket.sendall(head + _MASK + _masked(content))

    def _frame(self) -> tuple[int, bool, bytes]:
        first, second = self._exactly(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self._exactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self._exactly(8))
        return first & 0x0F, bool(first & _FINAL), self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        read = self._received.read(size)
        if len(read) < size:
            raise ConnectionError("the browser has closed the connection")
        return read


def _masked(content: bytes) -> bytes:
    size = len(content)
    mask = (_MASK * (size // len(_MASK) + 1))[:size]
    return (int.from_bytes(content) ^ int.from_bytes(mask)).to_bytes(size)
