"""Converts between ISO 8601 texts and instants, which are integers: UTC microseconds."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - imported_at is written without an offset
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:[Zz]|[+-]?\d\d:?\d\d)?)?",
    re.ASCII,
)
# A client that does not encode "+" sends a space: 10:00:00 02:00 means 10:00:00+02:00.
_LOST_PLUS: Final = re.compile(r" (\d\d:?\d\d)$")
_OFFSET: Final = re.compile(r"(?:[Zz]|[+-]\d\d:?\d\d|\s\d\d:?\d\d)$")

FIRST: Final = -62_135_596_800_000_000
"""The beginning of the year 1, the first date that ISO 8601 texts here can express."""
LAST: Final = 253_402_300_799_999_999

UNKNOWN: Final = -(2**62)
"""The value of an unknown date in a date column: before every date, and outside every filter."""


def parse(text: str) -> int | None:
    """The instant of an ISO 8601 text, or None if it is invalid. Without an offset it is UTC."""
    if not _ISO.fullmatch(text):
        return None
    if " " in text or text.endswith("z"):
        text = text[:11] + _LOST_PLUS.sub(r"+\1", text[11:]).replace("z", "Z")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    span = moment - (_NAIVE_EPOCH if moment.tzinfo is None else _EPOCH)
    instant = (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds
    # The offset can move the instant out of the valid years.
    return instant if FIRST <= instant <= LAST else None


def completed(text: str) -> str:
    """An ISO 8601 text with an offset: a time without one is UTC, a bare date midnight in UTC."""
    if not _ISO.fullmatch(text) or _OFFSET.search(text[11:]):
        return text
    return f"{text[:10]}T{text[11:].strip() or '00:00:00'}+00:00"


def without_offset(instant: int) -> str:
    """The format of imported_at: 2026-07-18T08:21:13.841838."""
    # By position, which takes a third less time than with names.
    return (_NAIVE_EPOCH + timedelta(0, 0, instant)).isoformat("T", "microseconds")


def with_offset(instant: int) -> str:
    """The format of bookmarked_at: 2026-07-18T08:21:13.841838+00:00."""
    return without_offset(instant) + "+00:00"
