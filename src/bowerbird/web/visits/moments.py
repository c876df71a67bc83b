"""Times on pages: `iso` for machines, `text` for people, in the time zone of the account."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Final

from msgspec import Struct

from bowerbird.clock import MICROSECONDS, date_of_day
from bowerbird.model.periods import zone_of

# Not from `strftime`, which depends on the locale of the process.
MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


Maker = Callable[[int], "Moment"]


class Moment(Struct, frozen=True):
    iso: str
    text: str


def moments_in(time_zone: str) -> Maker:
    """Makes times readable, with the minute."""
    zone = zone_of(time_zone)

    def moment(at: int) -> Moment:
        local = datetime.fromtimestamp(at // MICROSECONDS, UTC).astimezone(zone)
        return Moment(local.isoformat(), f"{_day(local)}, {local:%H:%M}")

    return moment


def days_in(time_zone: str) -> Maker:
    """Makes times readable, without the time of day."""
    zone = zone_of(time_zone)

    def moment(at: int) -> Moment:
        local = datetime.fromtimestamp(at // MICROSECONDS, UTC).astimezone(zone)
        return Moment(local.isoformat(), _day(local))

    return moment


def utc_day(day: int) -> Moment:
    """A day of UTC, in days since 1970."""
    return of_date(date_of_day(day))


def of_date(day: date) -> Moment:
    return Moment(day.isoformat(), _day(day))


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
