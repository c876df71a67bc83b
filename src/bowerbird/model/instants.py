"""Instants are integers, UTC microseconds, wherever the service computes with them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - imported_at is written without an offset
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:[Zz]|[+-]?\d\d:?\d\d)?)?",
    re.ASCII,
)
# A "+" that nobody encoded arrives as a space: 10:00:00 02:00 was 10:00:00+02:00.
_LOST_PLUS: Final = re.compile(r" (\d\d:?\d\d)$")

UNKNOWN: Final = -(2**62)
"""Stands in a date column for "not known": before every date, and matched by no date filter."""


def parse(text: str) -> int | None:
    """The instant of an ISO 8601 text, or None when it is none. No offset means UTC."""
    if not _ISO.fullmatch(text):
        return None
    date, time = text[:11], text[11:]
    if time:
        time = _LOST_PLUS.sub(r"+\1", time).replace("z", "Z")
    try:
        moment = datetime.fromisoformat(date + time)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        span = moment - _EPOCH
    except (ValueError, OverflowError):
        return None
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def without_offset(instant: int) -> str:
    """As imported_at is written: 2026-07-18T08:21:13.841838."""
    return (_NAIVE_EPOCH + timedelta(microseconds=instant)).isoformat(timespec="microseconds")


def with_offset(instant: int) -> str:
    """As bookmarked_at is written: 2026-07-18T08:21:13.841838+00:00."""
    return without_offset(instant) + "+00:00"
