"""Days and weeks in a time zone, and the instants at which they begin and end.

A day may have 23 or 25 hours. Where a zone moved across the date line, one calendar day never
happened; it has no hours and is skipped.
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
        """The day after the period: the day of its digest."""
        return self.first_day + timedelta(days=self.kind.days)

    def start(self, zone: ZoneInfo) -> int:
        return instant_of(self.first_day, 0, zone)

    def end(self, zone: ZoneInfo) -> int:
        """The first instant after the period."""
        return instant_of(self.next_day, 0, zone)

    def due(self, zone: ZoneInfo, hour: int) -> int:
        """When its digest is due: at the hour on the next day, never before the period ends."""
        return max(instant_of(self.next_day, hour, zone), self.end(zone))

    def a_year_before(self) -> tuple[date, date]:
        """These calendar days one year earlier: the first day, and the day after the last."""
        first = _a_year_before(self.first_day)
        return first, first + timedelta(days=self.kind.days)

    def following(self, zone: ZoneInfo) -> "Period":
        return next(_walk(self.kind, self.next_day, zone, step=1))


def period_containing(kind: PeriodKind, day: date) -> Period:
    if kind is PeriodKind.WEEKLY:
        day -= timedelta(days=day.weekday())
    return Period(kind, day)


def latest_due(kind: PeriodKind, zone: ZoneInfo, hour: int, now: int) -> Period:
    """The latest period whose digest is already due."""
    today = local_day(now, zone)
    # Starts a day ahead: in a zone that skipped a day, the next period may already be due.
    start = period_containing(kind, today + timedelta(days=1)).first_day
    return next(
        period for period in _walk(kind, start, zone, step=-1) if period.due(zone, hour) <= now
    )


def local_day(now: int, zone: ZoneInfo) -> date:
    moment = _EPOCH + now * _MICROSECOND
    try:
        return moment.astimezone(zone).date()
    except OverflowError:
        # The first or the last day of the calendar, which is another one in this zone.
        return moment.date()


def instant_of(day: date, hour: int, zone: ZoneInfo) -> int:
    """The instant of an hour of a day.

    If the clocks skip the hour, it is the instant of the change. If it occurs twice, the first.
    """
    moment = datetime.combine(day, time(hour), tzinfo=zone)
    return (moment - _EPOCH) // _MICROSECOND


@cache
def zone_names() -> frozenset[str]:
    # From the package, so that all machines agree: zoneinfo.available_timezones() adds those of
    # the system.
    listed = resources.files("tzdata").joinpath("zones").read_text("ascii")
    return frozenset(listed.split())


def zone_of(name: str) -> ZoneInfo:
    """The zone, or UTC if the time zone database no longer has the name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _walk(kind: PeriodKind, first_day: date, zone: ZoneInfo, step: int) -> Iterator[Period]:
    """Yields consecutive periods, without days that never happened in the zone."""
    while True:
        period = Period(kind, first_day)
        if period.start(zone) < period.end(zone):
            yield period
        first_day += timedelta(days=step * kind.days)


def _a_year_before(day: date) -> date:
    if (day.month, day.day) == (_FEBRUARY, 29):
        day -= timedelta(days=1)
    return day.replace(year=day.year - 1)
