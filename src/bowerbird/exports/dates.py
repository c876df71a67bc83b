"""Formats the dates in a document, all in UTC."""

from datetime import UTC, datetime
from typing import Final

from bowerbird.model import instants

UNDATED: Final = "Undated"
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def parse(text: str) -> datetime | None:
    instant = instants.parse(text)
    return None if instant is None else of_instant(instant)


def of_instant(instant: int) -> datetime:
    return datetime.fromisoformat(instants.with_offset(instant)).astimezone(UTC)


def month(at: datetime | None) -> tuple[str, str]:
    """The year and the name of the month, for example "2026" and "November"."""
    return ("", UNDATED) if at is None else (f"{at.year}", _MONTHS[at.month - 1])


def day(at: datetime) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def minute(at: datetime) -> str:
    return f"{day(at)}, {at:%H:%M}"


def period(newest: int, oldest: int) -> str:
    """The range of months in a volume, for its file name."""
    first, last = _year_and_month(newest), _year_and_month(oldest)
    return first if first == last else f"{first}-to-{last}"


def _year_and_month(instant: int) -> str:
    return "undated" if instant < instants.FIRST else f"{of_instant(instant):%Y-%m}"
