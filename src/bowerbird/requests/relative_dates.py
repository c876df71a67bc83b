"""Dates that move with the day, for queries that are kept: "last 7 days", "-12h"."""

import re
from typing import Final

from bowerbird.clock import MICROSECONDS
from bowerbird.model.instants import FIRST, with_offset

_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_SHORT: Final = re.compile(r"-(\d{1,4})([hdwmy])", re.ASCII)
_SPOKEN: Final = re.compile(r"last (\d{1,4}) (hour|day|week|month|year)s?", re.ASCII)


def resolved(text: str, now: int) -> str | None:
    """The instant a relative date stands for, as ISO 8601; None when it is not relative."""
    match = _SHORT.fullmatch(text.strip().lower()) or _SPOKEN.fullmatch(text.strip().lower())
    if match is None:
        return None
    hours = int(match[1]) * _HOURS[match[2][0]]
    # To the minute, so that a view asked twice in a row answers the same bytes.
    minute = now // (60 * MICROSECONDS) * 60 * MICROSECONDS
    return with_offset(max(minute - hours * 3_600 * MICROSECONDS, FIRST))
