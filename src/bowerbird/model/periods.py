"""Days and weeks in a person's own time zone, and the instants at which they begin and end.

A day is over when the zone's calendar says so: it may have 23 or 25 hours, and where a zone once
jumped over the date line a day that never was has none and is passed over.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FEBRUARY: Final = 2


class PeriodKind(StrEnum):
    DAILY = "daily"
    WEEKLY = "weekly"

    @property
    def days(self) -> int:
        return 1 if self is PeriodKind.DAILY else 7


class Period(Struct, frozen=True):
    """One day, or one week from Monday to Sunday."""

    kind: PeriodKind
    first_day: date

    @property
    def last_day(self) -> date:
        return self.first_day + timedelta(days=self.kind.days - 1)

    @property
    def next_day(self) -> date:
        """The day after it, which is the day of its digest."""
        return self.first_day + timedelta(days=self.kind.days)

    def start(self, zone: ZoneInfo) -> int:
        return instant_of(self.first_day, 0, zone)

    def end(self, zone: ZoneInfo) -> int:
        """The first instant that is not in it."""
        return instant_of(self.next_day, 0, zone)

    def due(self, zone: ZoneInfo, hour: int) -> int:
        """When its digest is made: the hour on the day after, never before it has ended."""
        return max(instant_of(self.next_day, hour, zone), self.end(zone))

    def a_year_before(self) -> tuple[date, date]:
        """The same calendar days a year earlier: the first of them, and the day after the last."""
        first = _a_year_before(self.first_day)
        return first, first + timedelta(days=self.kind.days)

    def following(self, zone: ZoneInfo) -> "Period":
        return next(_walk(self.kind, self.next_day, zone, step=1))


def containing(kind: PeriodKind, day: date) -> Period:
    if kind is PeriodKind.WEEKLY:
        day -= timedelta(days=day.weekday())
    return Period(kind, day)


def latest_due(kind: PeriodKind, zone: ZoneInfo, hour: int, now: int) -> Period:
    """The last period whose digest is due by now."""
    today = local_day(now, zone)
    # A zone that changed its date may lie a day ahead of the calendar's own counting.
    start = containing(kind, today + timedelta(days=1)).first_day
    return next(
        period for period in _walk(kind, start, zone, step=-1) if period.due(zone, hour) <= now
    )


def local_day(now: int, zone: ZoneInfo) -> date:
    return (_EPOCH + now * _MICROSECOND).astimezone(zone).date()


def instant_of(day: date, hour: int, zone: ZoneInfo) -> int:
    """An hour of a day. One that is jumped over is the instant of the jump; of two, the first."""
    moment = datetime.combine(day, time(hour), tzinfo=zone)
    return (moment - _EPOCH) // _MICROSECOND


@cache
def zone_names() -> frozenset[str]:
    # The same on every machine; zoneinfo would add what only this one has.
    listed = resources.files("tzdata").joinpath("zones").read_text("ascii")
    return frozenset(listed.split())


def zone_of(name: str) -> ZoneInfo:
    """UTC for a name that the time zone database has dropped since it was chosen."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _walk(kind: PeriodKind, first_day: date, zone: ZoneInfo, step: int) -> Iterator[Period]:
    """Periods one after the other, without days that the zone never had."""
    while True:
        period = Period(kind, first_day)
        if period.start(zone) < period.end(zone):
            yield period
        first_day += timedelta(days=step * kind.days)


def _a_year_before(day: date) -> date:
    if (day.month, day.day) == (_FEBRUARY, 29):
        day -= timedelta(days=1)
    return day.replace(year=day.year - 1)
