"""Dates of posts, in the time zone and language of the visitor and as short as they can be."""

from datetime import date, timedelta

from msgspec import Struct

from bowerbird.model import instants
from bowerbird.web.visits.moments import Times


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
