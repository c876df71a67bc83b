"""Relative dates: "last 7 days", "-12h"."""

import re
from typing import Final

from bowerbird.clock import MICROSECONDS
from bowerbird.model.instants import FIRST, with_offset

_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_SHORT: Final = re.compile(r"-(\d{1,4})([hdwmy])", re.ASCII)
_SPOKEN: Final = re.compile(r"last (\d{1,4}) (hour|day|week|month|year)s?", re.ASCII)


def resolved(text: str, now: int) -> str | None:
    """The instant of a relative date, as ISO 8601; None if the text is not a relative date."""
    match = _SHORT.fullmatch(text.strip().lower()) or _SPOKEN.fullmatch(text.strip().lower())
    if match is None:
        return None
    hours = int(match[1]) * _HOURS[match[2][0]]
    # To the minute, so that requests in the same minute get the same answer.
    minute = now // (60 * MICROSECONDS) * 60 * MICROSECONDS
    return with_offset(max(minute - hours * 3_600 * MICROSECONDS, FIRST))
