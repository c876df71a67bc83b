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


_TODAY: Final = re.compile(r"today(?:([+-]\d{1,4})d)?", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def is_relative(text: str) -> bool:
    return _TODAY.fullmatch(text.strip().lower()) is not None or resolved(text, 0) is not None


def is_day(text: str) -> bool:
    """Whether a text means a whole day, which depends on the time zone."""
    word = text.strip().lower()
    return _TODAY.fullmatch(word) is not None or _DATE.fullmatch(word) is not None


def day_of(text: str, now: int | None, zone: ZoneInfo) -> date | None:
    """The day that a text means: 2026-01-31, or if `now` is known, today or today-1d."""
    word = text.strip().lower()
    if today := _TODAY.fullmatch(word):
        days = timedelta(days=int(today[1] or 0))
        return None if now is None else local_day(now, zone) + days
    if not _DATE.fullmatch(word):
        return None
    try:
        return date.fromisoformat(word)
    except ValueError:
        return None


def beside(text: str, days: int) -> str | None:
    """The day before or after a day, written like it; None if the text does not mean a day."""
    if today := _TODAY.fullmatch(text.strip().lower()):
        # Of four digits at most, as it is read.
        moved = min(max(int(today[1] or 0) + days, -9_999), 9_999)
        return f"today{moved:+}d" if moved else "today"
    try:
        day = date.fromisoformat(text.strip()) if is_day(text) else None
        return None if day is None else (day + timedelta(days=days)).isoformat()
    except ValueError:
        return None
    except OverflowError:
        return with_offset(FIRST if days < 0 else LAST)


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
