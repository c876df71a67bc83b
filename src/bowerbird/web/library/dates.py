"""Dates of posts, in the time zone and language of the visitor and as short as they can be."""

from datetime import date, datetime, timedelta

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model import instants
from bowerbird.web.visits.formats import Times


class PostDate(Struct, frozen=True):
    """A date of a post: for machines, in a list, on the page of the post, and its group."""

    iso: str
    short: str
    text: str
    group: str


class Dates:
    def __init__(self, times: Times, now: int) -> None:
        self._times = times
        self._words = times.words
        self._today = times.local(now).date()
        self._monday = self._today - timedelta(days=self._today.weekday())

    def of(self, text: str) -> PostDate | None:
        """None if the post has no such date, or one that cannot be read."""
        instant = instants.parse(text) if text else None
        if instant is None:
            return None
        try:
            local = self._times.local(instant)
        except (OverflowError, ValueError):
            # The first and the last day of the calendar, moved by the time zone.
            return None
        day, words = local.date(), self._words
        if 0 <= (self._today - day).days <= 1:
            short = words.time(local)
        else:
            short = words.short(day) if day.year == self._today.year else words.day(day)
        return PostDate(local.isoformat(), short, words.day_and_time(local), self._group(day))

    def _group(self, day: date) -> str:
        if day == self._today:
            return "Today"
        if day == self._today - timedelta(days=1):
            return "Yesterday"
        if self._monday <= day < self._today:
            return "This week"
        if self._monday - timedelta(days=7) <= day < self._monday:
            return "Last week"
        return self._words.month(day)


def enclosed(times: Times, after: str | None, before: str | None) -> str:
    """The months or the year that two bounds of a filter enclose, in words; otherwise "".

    The statistics link to it like this. Both bounds are outside of it.
    """
    first, end = instants.parse(after or ""), instants.parse(before or "")
    if first is None or end is None or (first + 1) % MICROSECONDS or end % MICROSECONDS:
        return ""
    try:
        # As times without a zone: its offset may change within a month.
        start = times.local(first + 1).replace(tzinfo=None)
        stop = times.local(end).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return ""
    if start != _month_of(start) or stop != _month_of(stop) or start >= stop:
        return ""
    if start.month == stop.month == 1 and stop.year == start.year + 1:
        return str(start.year)
    months = [start.date(), (stop - timedelta(days=1)).date()]
    return " \u2013 ".join(dict.fromkeys(times.words.month(each) for each in months))


def _month_of(moment: datetime) -> datetime:
    return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
