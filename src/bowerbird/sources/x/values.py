"""Reads values from JSON whose shape nobody promises.

X changes its answers without notice, and captured pages can be forged. A function here returns
an empty value when it finds another type, and never raises. Dates become ISO 8601 texts in UTC.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from bowerbird.model import instants
from bowerbird.model.posts.bookmarks import time_in_x_id
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.json_values import Unreadable, cleaned

# Longer than every name, address, description and alternative text on X.
MAX_SHORT_CHARACTERS: Final = 10_000
# Several times the 25,000 characters of the longest post and the 100,000 of the longest article.
# A page of the API can refer to one text from each of its posts.
MAX_POST_CHARACTERS: Final = 100_000
MAX_ARTICLE_CHARACTERS: Final = 300_000
_MAX_INT64: Final = 2**63 - 1
_MAX_DIGITS: Final = 19
_POST_ID: Final = re.compile(r"[1-9][0-9]{0,18}")
_BOM: Final = b"\xef\xbb\xbf"

Object = dict[str, Any]


class InvalidDocument(Unreadable):
    """The document is not JSON. The message is a sentence."""


def decode(raw: bytes) -> Any:
    """Decodes JSON and removes the characters that no database can store."""
    raw = raw.removeprefix(_BOM)
    try:
        document = msgspec.json.decode(raw)
        return cleaned(document) if rb"\u0000" in raw else document
    except ValueError:
        return _decode_tolerantly(raw)
    except RecursionError:
        raise InvalidDocument("The JSON is nested too deeply.") from None


def _decode_tolerantly(raw: bytes) -> Any:
    """Accepts what msgspec rejects in one string or number, so that it does not cost the rest.

    That is half a surrogate pair, where a program cut a text, bytes that are not UTF-8, and
    numbers that no float can express.
    """
    try:
        return cleaned(json.loads(raw.decode("utf-8", "replace"), strict=False, parse_int=_int))
    except RecursionError:
        raise InvalidDocument("The JSON is nested too deeply.") from None
    except ValueError:
        raise InvalidDocument("The document is not complete, valid JSON.") from None


def decoded(text: str) -> Any:
    """The value of JSON inside of a text; None if it is none."""
    try:
        return decode(text.encode("utf-8", "replace"))
    except InvalidDocument:
        return None


def _int(digits: str) -> int:
    # Python refuses to convert very long numbers, and every number we read is shorter than this.
    return int(digits) if len(digits) <= 2 * _MAX_DIGITS else 0


def mapping(value: object) -> Object:
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Object]:
    """The objects of a list. Items of other types are left out."""
    return [item for item in sequence(value) if isinstance(item, dict)]


def short_text(value: object) -> str:
    """A name, an address or a description; "" if it is longer than any on X."""
    return value if isinstance(value, str) and len(value) <= MAX_SHORT_CHARACTERS else ""


def post_text(value: object) -> str:
    return value[:MAX_POST_CHARACTERS] if isinstance(value, str) else ""


def article_text(value: object) -> str:
    return value[:MAX_ARTICLE_CHARACTERS] if isinstance(value, str) else ""


def first_text(values: Iterable[object]) -> str:
    """The first of these values that is a short text and not empty, or ""."""
    for value in values:
        if text := short_text(value):
            return text
    return ""


def web_address(value: object) -> str:
    """The text if it is an http address, or "". Other schemes can run scripts in a reader."""
    text = short_text(value)
    return text if text[:8].lower().startswith(("http://", "https://")) else ""


def post_id(value: object) -> str:
    """An id of X: a whole number of 63 bits, in decimal digits. Otherwise ""."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if 0 < value <= _MAX_INT64 else ""
    if not isinstance(value, str) or not _POST_ID.fullmatch(value):
        return ""
    return value if len(value) < _MAX_DIGITS or int(value) <= _MAX_INT64 else ""


def whole_number(value: object) -> int | None:
    """A number from 0 to 2^63 - 1, also when it is written as a text."""
    if isinstance(value, str):
        is_number = value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS
        value = int(value) if is_number else None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INT64:
        return value
    return None


def present(**fields: object) -> Object:
    """An object with those fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}


_SPACE_BEFORE_OFFSET: Final = re.compile(r" (?=[+-]\d\d:?\d\d$)", re.ASCII)
_LAST_SECOND: Final = 253_402_300_799
_MICROSECONDS: Final = 1_000_000


def written_date(value: object) -> str:
    """The date of "Wed Oct 10 20:19:24 +0000 2018"."""
    return iso_date(dates.read(short_text(value)))


def iso_date(value: object) -> str:
    """The date of an ISO 8601 text, in UTC. A text without an offset is UTC."""
    text = short_text(value).strip()
    instant = instants.parse(_SPACE_BEFORE_OFFSET.sub("", text))
    return "" if instant is None else _iso_text(instant // _MICROSECONDS)


def date_of_post(post_id: str) -> str:
    """The date in the id, or "". It is in whole seconds, as X writes dates."""
    return iso_date(time_in_x_id(post_id or "0"))


def date_of_seconds(value: object) -> str:
    seconds = whole_number(value)
    return _iso_text(seconds) if seconds and seconds <= _LAST_SECOND else ""


def _iso_text(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
