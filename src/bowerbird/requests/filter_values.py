"""Reads the values of filters: flags, dates, names and types of media."""

import re
from collections.abc import Callable
from typing import Final
from zoneinfo import ZoneInfo

from bowerbird import errors
from bowerbird.model import instants, media, relative_dates
from bowerbird.model.filters import Names
from bowerbird.model.folding import order_key
from bowerbird.model.labels import name_key
from bowerbird.requests.fields import InvalidField
from bowerbird.requests.limits import FILTER_NAMES_MAX

BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
MATCHES: Final = {"any": False, "all": True}
RUN_ID_MAX: Final = 40
_HANDLE: Final = re.compile(r"@?[\w.-]+(?:@[\w.-]+)?")
_UTC: Final = ZoneInfo("UTC")


def read_flag(name: str, value: bool | str) -> bool:  # noqa: FBT001 - the value itself
    if isinstance(value, bool):
        return value
    flag = BOOLEANS.get(value.strip().lower())
    if flag is None:
        raise InvalidField(name, f"must be true or false, got {errors.shown(value)}")
    return flag


def read_instant(name: str, text: str) -> int:
    instant = instants.parse(text.strip())
    if instant is None:
        raise InvalidField(
            name,
            "must be an ISO 8601 date or date-time such as 2026-01-31 or "
            f"2026-01-31T08:00:00+02:00, or relative such as -7d, got {errors.shown(text)}",
        )
    return instant


def read_media_type(name: str, text: str) -> int:
    bit = media.bit_of(text)
    if bit is None:
        raise InvalidField(
            name, f"must be one of {', '.join(media.BITS)}, got {errors.shown(text)}"
        )
    return bit


def _read_names(
    name: str, value: str | list[str], fold: Callable[[str], str], limit: int
) -> Names | None:
    if isinstance(value, list):
        # The items of a list are names as they are, with or without commas.
        parts, whole = [fold(one.strip()) for one in value if one.strip()], None
    else:
        parts = [fold(one.strip()) for one in value.split(",") if one.strip()]
        whole = fold(value.strip()) if len(parts) > 1 else None
    if not parts and isinstance(value, str) and not value.strip():
        return None
    if not parts:
        # Without names it would be no filter, and a change would reach every post.
        raise InvalidField(name, "has no name; leave it out if it should not filter")
    if len(parts) > limit:
        raise InvalidField(name, f"must have at most {limit} names, got {len(parts)}")
    return Names(tuple(dict.fromkeys(parts)), whole)


def read_labels(name: str, value: str | list[str]) -> Names | None:
    return _read_names(name, value, name_key, FILTER_NAMES_MAX)


def read_author(name: str, text: str) -> str | Names | None:
    """One author, or several handles. The name of an author may have a comma."""
    stripped = text.strip()
    parts = [one.strip() for one in stripped.split(",")]
    if len(parts) > 1 and all(_HANDLE.fullmatch(one) for one in parts):
        return _read_names(name, stripped, order_key, FILTER_NAMES_MAX)
    return order_key(stripped) if stripped else None


def read_match(name: str, text: str) -> bool:
    match = text.strip().lower()
    if match not in MATCHES:
        raise InvalidField(name, f"must be any or all, got {errors.shown(text)}")
    return MATCHES[match]


def bound_of(name: str, text: str, now: int | None, zone: ZoneInfo | None) -> int:
    """The instant after which, or before which, a post must be."""
    zone = zone or _UTC
    day = relative_dates.day_of(text, now, zone)
    if day is not None:
        # Both bounds are exclusive.
        is_end = name.endswith("_to")
        start = relative_dates.start_of(day, zone) - 1
        return relative_dates.end_of(day, zone) if is_end else start
    moment = None if now is None else relative_dates.resolved(text, now)
    return read_instant(name, moment or text)


def read_run(name: str, text: str) -> str | None:
    run_id = text.strip()
    if not (run_id.isascii() and run_id.isalnum() and len(run_id) <= RUN_ID_MAX):
        raise InvalidField(name, f"must be the run_id of an import, got {errors.shown(text)}")
    return run_id
