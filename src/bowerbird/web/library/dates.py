"""Dates of posts, in the time zone of the account and as short as they can be."""

from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model import instants
from bowerbird.model.periods import zone_of
from bowerbird.web.visits.moments import MONTHS


class PostDate(Struct, frozen=True):
    """A date of a post: for machines, in a list, on the page of the post, and its group."""

    iso: str
    short: str
    text: str
    group: str


class Dates:
    def __init__(self, time_zone: str, now: int) -> None:
        self._zone = zone_of(time_zone)
        self._today = self._local(now).date()
        self._monday = self._today - timedelta(days=self._today.weekday())

    def of(self, text: str) -> PostDate | None:
        """None if the post has no such date, or one that cannot be read."""
        instant = instants.parse(text) if text else None
        if instant is None:
            return None
        try:
            local = self._local(instant)
        except (OverflowError, ValueError):
            # The first and the last day of the calendar, moved by the time zone.
            return None
        day = local.date()
        time = f"{local.hour:02}:{local.minute:02}"
        written = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
        return PostDate(
            local.isoformat(), self._short(day, time), f"{written}, {time}", self._group(day)
        )

    def _local(self, instant: int) -> datetime:
        return datetime.fromtimestamp(instant // MICROSECONDS, UTC).astimezone(self._zone)

    def _short(self, day: date, time: str) -> str:
        if 0 <= (self._today - day).days <= 1:
            return time
        short = f"{day.day} {MONTHS[day.month - 1]}"
        return short if day.year == self._today.year else f"{short} {day.year}"

    def _group(self, day: date) -> str:
        if day == self._today:
            return "Today"
        if day == self._today - timedelta(days=1):
            return "Yesterday"
        if self._monday <= day < self._today:
            return "This week"
        if self._monday - timedelta(days=7) <= day < self._monday:
            return "Last week"
        return f"{MONTHS[day.month - 1]} {day.year}"
