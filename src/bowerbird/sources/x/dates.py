"""Converts the dates of X to ISO 8601 texts in UTC. An unknown date is ""."""

import re
from datetime import UTC, datetime
from typing import Final

from bowerbird.model import instants
from bowerbird.sources.x.values import short_text, whole_number

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
# Not strptime: it is slow, and reads the names of months in the language of the server.
_WRITTEN: Final = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d:\d\d:\d\d) ([+-]\d{4}) (\d{4})", re.ASCII
)
_SPACE_BEFORE_OFFSET: Final = re.compile(r" (?=[+-]\d\d:?\d\d$)", re.ASCII)
# Ids are in the order of time since November 2010. Those before it are numbers without a date.
_FIRST_SNOWFLAKE: Final = 29_700_859_247
_SNOWFLAKE_EPOCH_MS: Final = 1_288_834_974_657
_SNOWFLAKE_SHIFT: Final = 22
_LAST_SECOND: Final = 253_402_300_799
_MICROSECONDS: Final = 1_000_000


def written(value: object) -> str:
    """The date of "Wed Oct 10 20:19:24 +0000 2018"."""
    match = _WRITTEN.fullmatch(short_text(value))
    if not match or match[1] not in _MONTHS:
        return ""
    return iso(f"{match[5]}-{_MONTHS[match[1]]:02d}-{match[2]}T{match[3]}{match[4]}")


def iso(value: object) -> str:
    """The date of an ISO 8601 text, in UTC. A text without an offset is UTC."""
    text = short_text(value).strip()
    instant = instants.parse(_SPACE_BEFORE_OFFSET.sub("", text))
    return "" if instant is None else _text(instant // _MICROSECONDS)


def of_post(post_id: str) -> str:
    """The date in the id of a post."""
    number = int(post_id) if post_id else 0
    if number < _FIRST_SNOWFLAKE:
        return ""
    return of_milliseconds((number >> _SNOWFLAKE_SHIFT) + _SNOWFLAKE_EPOCH_MS)


def of_seconds(value: object) -> str:
    seconds = whole_number(value)
    return _text(seconds) if seconds and seconds <= _LAST_SECOND else ""


def of_milliseconds(value: object) -> str:
    milliseconds = whole_number(value)
    return of_seconds(milliseconds // 1000) if milliseconds else ""


def _text(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
