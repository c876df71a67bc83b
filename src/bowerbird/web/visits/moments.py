"""Times on pages: `iso` for machines, `text` for people, in their time zone and language."""

from datetime import UTC, date, datetime

from msgspec import Struct

from bowerbird.clock import MICROSECONDS, date_of_day
from bowerbird.model.periods import zone_of
from bowerbird.web.visits.date_words import IN_ENGLISH, DateWords


class Moment(Struct, frozen=True):
    iso: str
    text: str

    @property
    def inline(self) -> str:
        """For a sentence that is not markup: text from right to left stays by itself."""
        return self.text if self.text.isascii() else f"\u2068{self.text}\u2069"


class Times:
    """Makes times readable for one visitor."""

    def __init__(self, time_zone: str, words: DateWords = IN_ENGLISH) -> None:
        self.time_zone = time_zone
        self.words = words
        self._zone = zone_of(time_zone)

    def local(self, at: int) -> datetime:
        return datetime.fromtimestamp(at // MICROSECONDS, UTC).astimezone(self._zone)

    def exact(self, at: int) -> str:
        """For a filter: in the time zone, to the microsecond."""
        micro = at % MICROSECONDS
        return self.local(at).replace(microsecond=micro).isoformat()

    def moment(self, at: int) -> Moment:
        """With the minute."""
        local = self.local(at)
        return Moment(local.isoformat(), self.words.day_and_time(local))

    def day(self, at: int) -> Moment:
        """Without the time of day."""
        local = self.local(at)
        return Moment(local.isoformat(), self.words.day(local.date()))

    def utc_day(self, day: int) -> Moment:
        """A day of UTC, in days since 1970."""
        return self.date(date_of_day(day))

    def date(self, day: date) -> Moment:
        return Moment(day.isoformat(), self.words.day(day))
