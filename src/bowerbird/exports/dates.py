"""Dates as a document writes them. All of them are UTC."""

from datetime import UTC, datetime
from typing import Final

from bowerbird.model import instants

UNDATED: Final = "Undated"
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def moment(text: str) -> datetime | None:
    found = instants.parse(text)
    return None if found is None else of_instant(found)


def of_instant(instant: int) -> datetime:
    return datetime.fromisoformat(instants.with_offset(instant)).astimezone(UTC)


def month(at: datetime | None) -> tuple[str, str]:
    """The year and the month's name, such as 2026 and November."""
    return ("", UNDATED) if at is None else (f"{at.year}", _MONTHS[at.month - 1])


def day(at: datetime) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def minute(at: datetime) -> str:
    return f"{day(at)}, {at:%H:%M}"


def period(newest: int, oldest: int) -> str:
    """The months a volume spans, for its file name."""
    first, last = _number(newest), _number(oldest)
    return first if first == last else f"{first}-to-{last}"


def _number(instant: int) -> str:
    return "undated" if instant < instants.FIRST else f"{of_instant(instant):%Y-%m}"
