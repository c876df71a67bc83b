"""Relative dates ("last 7 days", "-12h", "today"), and whole days in a time zone."""

import re
from datetime import date, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bowerbird.clock import MICROSECONDS
from bowerbird.model.instants import FIRST, LAST, with_offset
from bowerbird.model.periods import instant_of, local_day

_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_SHORT: Final = re.compile(r"-(\d{1,4})([hdwmy])", re.ASCII)
_SPOKEN: Final = re.compile(r"last (\d{1,4}) (hour|day|week|month|year)s?", re.ASCII)


_TODAY: Final = "today"
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def is_relative(text: str) -> bool:
    return text.strip().lower() == _TODAY or resolved(text, 0) is not None


def is_day(text: str) -> bool:
    """Whether a text means a whole day, which depends on the time zone."""
    return text.strip().lower() == _TODAY or _DATE.fullmatch(text.strip()) is not None


def day_of(text: str, now: int | None, zone: ZoneInfo) -> date | None:
    """The day that a text means: 2026-01-31, or today if `now` is known."""
    word = text.strip().lower()
    if word == _TODAY:
        return None if now is None else local_day(now, zone)
    if not _DATE.fullmatch(word):
        return None
    try:
        return date.fromisoformat(word)
    except ValueError:
        return None


def start_of(day: date, zone: ZoneInfo) -> int:
    """The first instant of a day. The first days of the calendar may begin before it."""
    try:
        return max(instant_of(day, 0, zone), FIRST)
    except OverflowError:
        return FIRST


def end_of(day: date, zone: ZoneInfo) -> int:
    """The first instant after a day."""
    try:
        return min(instant_of(day + timedelta(days=1), 0, zone), LAST + 1)
    except OverflowError:
        return LAST + 1


def resolved(text: str, now: int) -> str | None:
    """The instant of a relative date, as ISO 8601; None if the text is not a relative date."""
    match = _SHORT.fullmatch(text.strip().lower()) or _SPOKEN.fullmatch(text.strip().lower())
    if match is None:
        return None
    hours = int(match[1]) * _HOURS[match[2][0]]
    # To the minute, so that requests in the same minute get the same answer.
    minute = now // (60 * MICROSECONDS) * 60 * MICROSECONDS
    return with_offset(max(minute - hours * 3_600 * MICROSECONDS, FIRST))
