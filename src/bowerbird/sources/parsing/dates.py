"""Reads the dates of other programs' files.

The result is an ISO 8601 text with an offset. A time without an offset is UTC, and a date without
a time is midnight UTC. Text that can mean two days is not read.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from bowerbird.model import instants

_MAX_CHARACTERS: Final = 64
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds from 1990 to 2199; milliseconds and microseconds of the same years. The bounds tell
# them apart: no number is in two of these spans.
_FIRST_SECOND: Final = 631_152_000
_LAST_SECOND: Final = 7_258_118_400
_UNITS: Final = ((1, 1_000_000), (1_000, 1_000), (1_000_000, 1))
# Chrome counts microseconds from 1601. Those of the same years are in none of these spans.
_FROM_1601_US: Final = 11_644_473_600_000_000

_MONTHS_PER_YEAR: Final = 12
_HALF_DAY: Final = 12
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun"),
            *("july jul", "august aug", "september sept sep", "october oct", "november nov"),
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_ZONES: Final = {"z": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5}
_ZONES_WEST: Final = {"mst": -7, "mdt": -6, "pst": -8, "pdt": -7}

_TIME: Final = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[ap])\.?m\.?)?"
)
_ZONE: Final = r"(?:\s?(?P<zone>[a-z]{1,4}|(?:utc|gmt)?[+-]\d\d:?\d\d)(?:\s?\([a-z ]{1,30}\))?)?"
_WEEKDAY: Final = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},?\s)?"
_MONTH: Final = r"(?P<month>[a-z]{3,9})\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_AT: Final = r"(?:,|\sat|,\sat|\s·|\s-|t)?\s?"
_FORMS: Final = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        # 2024-01-31 12:34, 2024/01/31, 2024-01-31T12:34:56.789Z
        rf"(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?:{_AT}{_TIME}{_ZONE})?",
        # Wed Oct 10 20:19:24 +0000 2018
        rf"{_WEEKDAY}{_MONTH}\s{_DAY}\s{_TIME}{_ZONE}\s(?P<year>\d{{4}})",
        # Wed, 10 Oct 2018 20:19:24 +0000; 10 October 2018; 10-Oct-2018
        rf"{_WEEKDAY}{_DAY}[\s-]{_MONTH},?[\s-](?P<year>\d{{4}})(?:{_AT}{_TIME}{_ZONE})?",
        # Oct 10, 2018, 8:19 PM; Wednesday, October 10th, 2018 at 8:19 PM
        rf"{_WEEKDAY}{_MONTH}\s{_DAY},?\s(?P<year>\d{{4}})(?:{_AT}{_TIME}{_ZONE})?",
        # 8:19 PM · Oct 10, 2018
        rf"{_TIME}\s[·-]\s{_MONTH}\s{_DAY},?\s(?P<year>\d{{4}})",
        # 10.10.2018: with dots, the day comes first everywhere.
        rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}})(?:{_AT}{_TIME}{_ZONE})?",
        # 10/31/2018 or 31/10/2018
        rf"(?P<one>\d{{1,2}})/(?P<other>\d{{1,2}})/(?P<year>\d{{4}})(?:{_AT}{_TIME}{_ZONE})?",
    )
)
_NUMBER: Final = re.compile(r"\d{9,17}(?:\.\d{1,9})?", re.ASCII)


def read(value: object) -> str | None:
    """A date from a file as ISO 8601 text, or None if it cannot be read."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Compared first: an integer can be too long to be written out.
        return _from_number(f"{value:.6f}") if _FIRST_SECOND <= value < 10**17 else None
    if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
        return None
    text = " ".join(value.split())
    if _NUMBER.fullmatch(text):
        return _from_number(text)
    for form in _FORMS:
        if match := form.fullmatch(text):
            return _from_match({key: part for key, part in match.groupdict().items() if part})
    return None


def _from_number(text: str) -> str | None:
    whole, _, fraction = text.partition(".")
    number = int(whole)
    is_from_1601 = number >= _FROM_1601_US
    number -= _FROM_1601_US if is_from_1601 else 0
    for scale, microseconds in _UNITS[-1:] if is_from_1601 else _UNITS:
        if _FIRST_SECOND * scale <= number < _LAST_SECOND * scale:
            part = int(fraction[:6].ljust(6, "0")) if scale == 1 else 0
            return _text(_EPOCH + timedelta(microseconds=number * microseconds + part))
    return None


def _from_match(parts: dict[str, str]) -> str | None:
    month_and_day = _month_and_day(parts)
    hour = _hour(int(parts.get("hour", 0)), parts.get("half"))
    offset = _offset(parts.get("zone", ""))
    if month_and_day is None or hour is None or offset is None:
        return None
    month, day = month_and_day
    try:
        return _text(
            datetime(
                int(parts["year"]),
                month,
                day,
                hour,
                int(parts.get("minute", 0)),
                # 23:59:60 is a leap second.
                int(parts.get("second", "0").replace("60", "59")),
                int(parts.get("fraction", "0")[:6].ljust(6, "0")),
                tzinfo=timezone(offset),
            )
        )
    except ValueError:
        return None


def _month_and_day(parts: dict[str, str]) -> tuple[int, int] | None:
    if "one" in parts:
        one, other = int(parts["one"]), int(parts["other"])
        if one != other and max(one, other) <= _MONTHS_PER_YEAR:
            # Month and day, or day and month: both are usual.
            return None
        return min(one, other), max(one, other)
    month = parts["month"]
    number = int(month) if month.isdigit() else _MONTHS.get(month.lower())
    return None if number is None else (number, int(parts["day"]))


def _hour(hour: int, half: str | None) -> int | None:
    if half is None:
        return hour
    if not 1 <= hour <= _HALF_DAY:
        return None
    return hour % _HALF_DAY + (_HALF_DAY if half in "pP" else 0)


def _offset(zone: str) -> timedelta | None:
    zone = zone.lower()
    if not zone:
        return timedelta(0)
    if zone[-1].isdigit():
        sign = -1 if "-" in zone else 1
        digits = re.sub(r"\D", "", zone)
        offset = sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return offset if abs(offset) < timedelta(hours=24) else None
    hours = _ZONES.get(zone, _ZONES_WEST.get(zone))
    return None if hours is None else timedelta(hours=hours)


def _text(moment: datetime) -> str | None:
    text = moment.isoformat()
    # The offset can move the instant out of the years that the library can store.
    return text if instants.parse(text) is not None else None
