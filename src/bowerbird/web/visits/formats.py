"""How dates, times and sizes are written on pages, in the language and time zone of the visitor."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Final

import msgspec
from markupsafe import Markup
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, date_of_day
from bowerbird.errors import NotFound, Refusal
from bowerbird.model import instants
from bowerbird.model.instants import zone_of
from bowerbird.requests.filter_values import DATE_RULE

ENGLISH: Final = "en"
_MAX_HEADER_BYTES: Final = 200
_DATE_RULE: Final = "must be a date such as 2026-01-31, or a time such as “last 7 days”"
# Languages whose tags have changed, or whose script follows from the country.
_SAME: Final = {
    "no": "nb",
    "iw": "he",
    "in": "id",
    "tl": "fil",
    "zh-tw": "zh-hant",
    "zh-hk": "zh-hant",
    "zh-mo": "zh-hant",
}


class DateFormat(Struct, frozen=True):
    """Templates of a day, a day of this year, a month, a time, and a day with its time."""

    day: str
    short: str
    month: str
    time: str
    both: str
    months: list[str]
    # Names of months without a day, where they differ.
    alone: list[str]
    # From Monday.
    weekdays: list[str]
    is_rtl: bool = False


_ENGLISH_MONTHS: Final = [
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
]
_IN_ENGLISH: Final = DateFormat(
    day="{d} {name} {y}",
    short="{d} {name}",
    month="{name} {y}",
    time="{h:02}:{min:02}",
    both="{1}, {0}",
    months=_ENGLISH_MONTHS,
    alone=_ENGLISH_MONTHS,
    weekdays=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
)


class DateWords:
    """Writes dates in one language. There is one object per language, so it can be a key."""

    def __init__(self, language: str, format: DateFormat) -> None:
        self.language = language
        self._format = format
        self.weekdays = format.weekdays
        # Of the <time> elements that the words are in.
        direction = "rtl" if format.is_rtl else "ltr"
        self.attributes = Markup("")
        if language != ENGLISH:
            self.attributes = Markup(' lang="{}" dir="{}"').format(language, direction)

    def day(self, day: date) -> str:
        """Such as 18 Jul 2026."""
        return self._written(self._format.day, day)

    def short(self, day: date) -> str:
        """Such as 18 Jul."""
        return self._written(self._format.short, day)

    def month(self, day: date) -> str:
        """Such as Jul 2026."""
        return self._written(self._format.month, day)

    def time(self, moment: datetime) -> str:
        """Such as 08:21."""
        return self._format.time.format(h=moment.hour, min=moment.minute)

    def day_and_time(self, moment: datetime) -> str:
        """Such as 18 Jul 2026, 08:21."""
        return self._format.both.format(self.time(moment), self.day(moment.date()))

    def _written(self, pattern: str, day: date) -> str:
        name, alone = self._format.months[day.month - 1], self._format.alone[day.month - 1]
        return pattern.format(d=day.day, m=day.month, y=day.year, name=name, alone=alone)


IN_ENGLISH: Final = DateWords(ENGLISH, _IN_ENGLISH)


def accepted(header: bytes) -> DateWords:
    """The first language of an `Accept-Language` header that is known here, otherwise English."""
    asked: list[tuple[float, str]] = []
    for part in header[:_MAX_HEADER_BYTES].decode("latin-1").lower().split(","):
        tag, _, weight = part.strip().partition(";")
        if (quality := _quality(weight)) > 0:
            asked.append((quality, tag.strip()))
    # Equal ones stay in the order in which they were sent.
    for _, tag in sorted(asked, key=lambda pair: -pair[0]):
        if (found := _known(tag)) is not None:
            return found
    return IN_ENGLISH


def _quality(weight: str) -> float:
    name, _, value = weight.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


def _known(tag: str) -> DateWords | None:
    """Looks a language up by its tag, from the most to the least specific (RFC 4647, 3.4)."""
    languages = _languages()
    while tag:
        if found := languages.get(_SAME.get(tag, tag)):
            return found
        tag = tag.rpartition("-")[0]
    return None


@cache
def _languages() -> dict[str, DateWords]:
    """The languages by their tags in lower case."""
    file = resources.files("bowerbird.web.visits") / "date_words.json"
    found = msgspec.json.decode(file.read_bytes(), type=dict[str, DateFormat])
    made = {tag.lower(): DateWords(tag, format) for tag, format in found.items()}
    return {ENGLISH: IN_ENGLISH, **made}


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

    def moment_of(self, text: str | None) -> Moment | None:
        """That of a time as the API writes it."""
        at = instants.parse(text) if text else None
        return None if at is None else self.moment(at)

    def day(self, at: int) -> Moment:
        """Without the time of day."""
        local = self.local(at)
        return Moment(local.isoformat(), self.words.day(local.date()))

    def day_of(self, text: str | None) -> Moment | None:
        """The day of a time as the API writes it."""
        at = instants.parse(text) if text else None
        return None if at is None else self.day(at)

    def utc_day(self, day: int) -> Moment:
        """A day of UTC, in days since 1970."""
        return self.date(date_of_day(day))

    def date(self, day: date) -> Moment:
        return Moment(day.isoformat(), self.words.day(day))


# Somebody can see that a field is empty.
_GOT_NOTHING: Final = ", got an empty string"


def in_form(sentence: str, labels: Mapping[str, str]) -> str:
    """What the API says about a field, with the name that a form has for it."""
    place, separator, said = sentence.partition(": ")
    label = labels.get(place.rpartition(".")[2])
    if not separator or label is None:
        return sentence
    return f"“{label}” {said.replace(_GOT_NOTHING, '').replace(DATE_RULE, _DATE_RULE)}"


def sentence_of(refused: Refusal) -> str:
    """A page shows no ids, and what it does not find is what it has shown before."""
    if not isinstance(refused, NotFound):
        return refused.sentence
    if refused.kind == "post":
        return "This post is no longer in your library. It may be in the trash."
    return f"This {refused.kind} no longer exists."


_UNITS: Final = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000))


def size_text(size: int) -> str:
    """Such as 3.2 MB."""
    for unit, factor in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return "1 byte" if size == 1 else f"{size} bytes"


class PostDate(Struct, frozen=True):
    """A date of a post: for machines, below a heading of its group, on the page of the post."""

    iso: str
    short: str
    text: str
    # As it follows "Saved": today, last week, in Aug 2026.
    group: str
    # Such as 18 Jul, with the year only if it is another one.
    day: str

    @property
    def near(self) -> str:
        """The day where no heading names it."""
        return self.group if self.group in _NEAR else self.day


_NEAR: Final = ("today", "yesterday")


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
        written = words.short(day) if day.year == self._today.year else words.day(day)
        group = self._group(day)
        short = words.time(local) if group in _NEAR else written
        return PostDate(local.isoformat(), short, words.day_and_time(local), group, written)

    def _group(self, day: date) -> str:
        if day == self._today:
            return "today"
        if day == self._today - timedelta(days=1):
            return "yesterday"
        if self._monday <= day < self._today:
            return "this week"
        if self._monday - timedelta(days=7) <= day < self._monday:
            return "last week"
        return f"in {self._words.month(day)}"


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
