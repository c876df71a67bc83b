"""The log on stderr: one JSON object per line, or lines for people if stderr is a terminal.

Lines are buffered for a fraction of a second; errors are written immediately. A line for people has
the time, what happened, then the fields as name=value.
"""

import asyncio
import atexit
import logging
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, Any, Final, NamedTuple

import msgspec
import structlog

from bowerbird.clock import MICROSECONDS, system_clock

# Writing several lines at once saves system calls, which cost more than formatting a line.
_BUFFER_S: Final = 0.05
_encode: Final = msgspec.json.Encoder(enc_hook=repr).encode


class Annotations(NamedTuple):
    """Functions that may add fields to a line before it is written."""

    to_line: Callable[[MutableMapping[str, Any]], None]
    # For the line of a request, with all that is known about the request.
    to_request: Callable[[dict[str, Any]], None]


def configure(level: str, form: str = "auto", annotations: Annotations | None = None) -> None:
    """`form`: `json`, `text`, or `auto`, which is `text` if stderr is a terminal."""
    lines = LineBuffer(sys.stderr.buffer)
    is_json = form == "json" or (form == "auto" and not sys.stderr.isatty())
    people = None if is_json else TerminalLines(has_colour=_has_colour(sys.stderr, os.environ))
    number = logging.getLevelNamesMapping()[level.upper()]
    # When the event loop ends, its timers no longer write the buffered lines.
    atexit.register(lines.flush)
    encode = encode_line if people is None else _for_people(people)
    structlog.configure(
        processors=[encode] if annotations is None else [_annotated(annotations), encode],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=True,
    )
    _RequestLines.annotate = None if annotations is None else annotations.to_request
    if number > logging.INFO:
        _RequestLines.write = _nothing
    elif people is None:
        _RequestLines.write = lines.info
    else:
        # Through structlog: nobody can read so many lines that its time matters.
        _RequestLines.write = None


def _has_colour(stream: IO[str], environment: Mapping[str, str]) -> bool:
    is_wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return is_wanted and stream.isatty()


_RESET: Final = "\x1b[0m"
_DIM: Final = "\x1b[2m"
_YELLOW: Final = "\x1b[33m"
_RED: Final = "\x1b[31m"
_LEVELS: Final = {"warning": _YELLOW, "error": _RED, "critical": _RED}
_REQUEST_FIELDS: Final = ("method", "route", "status", "ms", "bytes")
_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500


class TerminalLines:
    def __init__(self, *, has_colour: bool) -> None:
        self._has_colour = has_colour

    def line(self, now: int, level: str, fields: Mapping[str, Any]) -> bytes:
        rest = dict(fields)
        event = str(rest.pop("event", ""))
        trace = rest.pop("exception", None)
        if event == "request" and all(name in rest for name in _REQUEST_FIELDS):
            what = self._request(*(rest.pop(name) for name in _REQUEST_FIELDS))
        else:
            named = level if level == "info" else self._painted(level, _LEVELS.get(level, ""))
            what = f"{named} {_shown(event, may_have_spaces=True)}"
        details = [f"{name}={_shown(value)}" for name, value in rest.items() if value is not None]
        # The local time: people compare it with their own clock.
        time = datetime.fromtimestamp(now / MICROSECONDS).strftime("%H:%M:%S")  # noqa: DTZ006
        line = " ".join((self._painted(time, _DIM), what, *details))
        if trace:
            line += "".join(f"\n  {_printable(part)}" for part in str(trace).splitlines())
        return line.encode("utf-8", "backslashreplace")

    def _request(self, method: str, route: str, status: int, ms: float, size: int) -> str:
        colour = _RED if status >= _SERVER_ERROR else _YELLOW if status >= _CLIENT_ERROR else ""
        shown = self._painted(str(status), colour)
        return f"{_printable(method)} {_printable(route)} {shown} {ms:.1f} ms {size:,} bytes"

    def _painted(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_RESET}" if self._has_colour and colour else text


def _shown(value: object, *, may_have_spaces: bool = False) -> str:
    text = str(value)
    if text and (may_have_spaces or " " not in text) and text.isprintable():
        return text
    return repr(text)


def _printable(text: str) -> str:
    """A client must not be able to send escape sequences to the operator's terminal."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _for_people(lines: TerminalLines) -> structlog.typing.Processor:
    def encode(logger: Any, level: str, event: structlog.typing.EventDict) -> bytes:
        if "exc_info" in event:
            event = structlog.processors.format_exc_info(logger, level, event)
        return lines.line(system_clock(), level, event)

    return encode


def _annotated(annotations: Annotations) -> structlog.typing.Processor:
    def annotate(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        annotations.to_line(event)
        return event

    return annotate


def write_request(fields: dict[str, Any]) -> None:
    """The line of a request, without the layers of structlog: they cost as much as two lines."""
    annotate, write = _RequestLines.annotate, _RequestLines.write
    if annotate is not None:
        annotate(fields)
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
    annotate: Callable[[dict[str, Any]], None] | None = None


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
