"""Log lines for people: the time, what happened, then the fields as name=value."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from bowerbird.clock import MICROSECONDS

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
