"""The times that statistics are about, cut at months or years of a time zone."""

from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model.instants import instant_of, local_day
from bowerbird.storage.bookmarks.statistics import ShiftedSpan

_MONTHS: Final = 24
_MOST_MONTHS: Final = 60
# Posts that say they were saved earlier have no date that means anything.
YEARS_MAX: Final = 30
_DECEMBER: Final = 12
_DAY: Final = 86_400 * MICROSECONDS
# 1970 began on a Thursday.
_FROM_MONDAY: Final = 3 * _DAY


class StatisticsPeriod(StrEnum):
    MONTHS = "24-months"
    YEAR = "year"
    ALL = "all"


class Slice(Struct, frozen=True):
    """A month or a year."""

    first_day: date
    next_day: date
    start: int
    end: int


def earliest(zone: ZoneInfo, now: int) -> int:
    """The first instant that statistics can be about."""
    return instant_of(date(local_day(now, zone).year - YEARS_MAX, 1, 1), 0, zone)


def slices(period: StatisticsPeriod, zone: ZoneInfo, now: int, first_saved: int) -> list[Slice]:
    """The months or years of a period, up to the current one."""
    today = local_day(now, zone)
    this_month = today.replace(day=1)
    if period is StatisticsPeriod.YEAR:
        firsts = [date(today.year, month, 1) for month in range(1, today.month + 1)]
    elif period is StatisticsPeriod.MONTHS:
        firsts = [_months_before(this_month, back) for back in range(_MONTHS)][::-1]
    else:
        first = min(local_day(first_saved, zone), today)
        months = 12 * (today.year - first.year) + today.month - first.month + 1
        if months > _MOST_MONTHS:
            firsts = [date(year, 1, 1) for year in range(first.year, today.year + 1)]
            return _between(firsts, date(today.year + 1, 1, 1), zone)
        firsts = [_months_before(this_month, back) for back in range(months)][::-1]
    return _between(firsts, _months_before(this_month, -1), zone)


def shifted(part: Slice, zone: ZoneInfo) -> list[ShiftedSpan]:
    """A slice, cut where the clocks change."""
    spans: list[ShiftedSpan] = []
    start, shift = part.start, _shift(part.start, zone)
    for day_later in range(part.start + _DAY, part.end + _DAY, _DAY):
        day = min(day_later, part.end)
        if _shift(day - 1, zone) != shift:
            change = _change(max(day - _DAY - MICROSECONDS, start), day, zone)
            spans.append(ShiftedSpan(start, change, shift))
            start, shift = change, _shift(change, zone)
    return [*spans, ShiftedSpan(start, part.end, shift)]


def _between(firsts: list[date], end: date, zone: ZoneInfo) -> list[Slice]:
    nexts = [*firsts[1:], end]
    return [
        Slice(first, after, instant_of(first, 0, zone), instant_of(after, 0, zone))
        for first, after in zip(firsts, nexts, strict=True)
    ]


def _months_before(month: date, count: int) -> date:
    years, index = divmod(12 * month.year + month.month - 1 - count, _DECEMBER)
    return date(years, index + 1, 1)


def _shift(instant: int, zone: ZoneInfo) -> int:
    moment = datetime.fromtimestamp(instant // MICROSECONDS, UTC).astimezone(zone)
    return (moment.utcoffset() or timedelta()) // timedelta(microseconds=1) + _FROM_MONDAY


def _change(start: int, end: int, zone: ZoneInfo) -> int:
    """When the clocks change between two instants, to the second."""
    before, first, last = _shift(start, zone), start // MICROSECONDS, end // MICROSECONDS
    while last - first > 1:
        middle = (first + last) // 2
        if _shift(middle * MICROSECONDS, zone) == before:
            first = middle
        else:
            last = middle
    return last * MICROSECONDS
