"""The log: one JSON object per line on stderr.

Lines are buffered for a fraction of a second; errors are written immediately.
"""

import asyncio
import atexit
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, Any, Final

import msgspec
import structlog

from bowerbird.clock import MICROSECONDS, system_clock

# Writing several lines at once saves system calls, which cost more than formatting a line.
_BUFFER_S: Final = 0.05
_encode: Final = msgspec.json.Encoder(enc_hook=repr).encode


def configure(level: str) -> None:
    lines = LineBuffer(sys.stderr.buffer)
    number = logging.getLevelNamesMapping()[level.upper()]
    # When the event loop ends, its timers no longer write the buffered lines.
    atexit.register(lines.flush)
    structlog.configure(
        processors=[encode_line],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=True,
    )
    _RequestLines.write = lines.info if number <= logging.INFO else _nothing


def write_request(fields: dict[str, Any]) -> None:
    """The line of a request, without the layers of structlog: they cost as much as two lines."""
    write = _RequestLines.write
    if write is None:
        structlog.get_logger().info("request", **fields)
    else:
        at = _timestamp(system_clock())
        write(_encode({"at": at, "level": "info", **fields, "event": "request"}))


class LineBuffer:
    """Buffers lines for a moment. Errors, and lines outside an event loop, are not buffered."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._buffered: list[bytes] = []

    def info(self, line: bytes) -> None:
        self._buffered.append(line)
        if len(self._buffered) == 1:
            try:
                asyncio.get_running_loop().call_later(_BUFFER_S, self.flush)
            except RuntimeError:
                self.flush()

    def error(self, line: bytes) -> None:
        self._buffered.append(line)
        self.flush()

    def flush(self) -> None:
        if not self._buffered:
            return
        text = b"\n".join([*self._buffered, b""])
        self._buffered.clear()
        # A request must not fail because its log line cannot be written.
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()

    debug = warning = info
    critical = exception = error


def _nothing(_: bytes) -> None:
    """Stands in for the log if its level leaves the lines of requests out."""


class _RequestLines:
    """Takes the lines of requests. None until the log is configured."""

    write: Callable[[bytes], None] | None = None


class _CurrentSecond:
    """Caches the text of the current second, which all lines of that second share."""

    number = -1
    text = ""


def encode_line(_: Any, level: str, event: structlog.typing.EventDict) -> bytes:
    """Does everything in one structlog processor, which takes a third of the time of a chain."""
    if "exc_info" in event:
        event = structlog.processors.format_exc_info(_, level, event)
    line = {"at": _timestamp(system_clock()), "level": level, **event}
    return _encode(line)


def _timestamp(now: int) -> str:
    seconds, microseconds = divmod(now, MICROSECONDS)
    if seconds != _CurrentSecond.number:
        _CurrentSecond.text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        _CurrentSecond.number = seconds
    return f"{_CurrentSecond.text}.{microseconds // 1000:03d}Z"
