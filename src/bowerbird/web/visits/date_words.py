"""How dates are written in the language of the visitor.

The words of the site are English, and a date is written as the browser's preferred language writes
it. The formats come from Unicode CLDR (requirements/build_date_words.py, docs/adr/0029). Days are
those of the Gregorian calendar, in Latin digits.
"""

from datetime import date, datetime
from functools import cache
from importlib import resources
from typing import Final

import msgspec
from markupsafe import Markup
from msgspec import Struct

ENGLISH: Final = "en"
_MAX_HEADER_BYTES: Final = 200
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
