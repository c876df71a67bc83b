"""Reads the values of filters: flags, dates, names, types of media, names of bounds."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.model import instants, languages
from bowerbird.model.labels import name_key
from bowerbird.model.posts import media, networks
from bowerbird.model.posts.filters import Names
from bowerbird.model.words import order_key
from bowerbird.requests.fields import InvalidField, metadata_of
from bowerbird.requests.limits import FILTER_NAMES_MAX, LISTED_IDS_MAX, NUMBER_MAX
from bowerbird.search.queries import query_fields

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


DATE_RULE: Final = (
    "must be an ISO 8601 date or date-time such as 2026-01-31 or 2026-01-31T08:00:00+02:00, or "
    "relative such as -7d"
)


def read_instant(name: str, text: str) -> int:
    instant = instants.parse(text.strip())
    if instant is None:
        raise InvalidField(name, f"{DATE_RULE}, got {errors.shown(text)}")
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


def read_languages(name: str, text: str) -> tuple[str, ...] | None:
    tags = [one.strip() for one in text.split(",") if one.strip()]
    codes = [languages.code_of(one) for one in tags]
    if not tags and not text.strip():
        return None
    if not tags or None in codes:
        raise InvalidField(name, f"must be codes such as en or de,fr, got {errors.shown(text)}")
    if len(tags) > FILTER_NAMES_MAX:
        raise InvalidField(name, f"must have at most {FILTER_NAMES_MAX} codes, got {len(tags)}")
    return tuple(dict.fromkeys(code for code in codes if code is not None))


def read_network(name: str, text: str) -> int | None:
    if not text.strip():
        return None
    network = networks.called(text)
    if network is None:
        known = ", ".join(networks.NETWORKS)
        raise InvalidField(name, f"must be one of {known}, got {errors.shown(text)}")
    return networks.bits_of(network)


def read_has(name: str, text: str) -> tuple[str, ...] | None:
    kinds = [one.strip() for one in text.split(",") if one.strip()]
    if not kinds and not text.strip():
        return None
    found = [query_fields.kind_of(one) for one in kinds]
    if not kinds or None in found:
        known = ", ".join(query_fields.HAS)
        raise InvalidField(name, f"must be one of {known}, got {errors.shown(text)}")
    return tuple(dict.fromkeys(kind for kind in found if kind is not None))


def read_number(name: str, value: int | str) -> int | None:
    text = str(value).strip()
    if not text:
        return None
    # Neither a sign nor digits of other scripts.
    if not (text.isascii() and text.isdigit()) or int(text[:20]) > NUMBER_MAX:
        raise InvalidField(
            name, f"must be a whole number from 0 to {NUMBER_MAX:,}, got {errors.shown(text)}"
        )
    return int(text)


def read_match(name: str, text: str) -> bool:
    match = text.strip().lower()
    if match not in MATCHES:
        raise InvalidField(name, f"must be any or all, got {errors.shown(text)}")
    return MATCHES[match]


def bound_of(name: str, text: str, now: int | None, zone: ZoneInfo | None) -> int:
    """The instant after which, or before which, a post must be."""
    zone = zone or _UTC
    day = instants.day_of(text, now, zone)
    if day is not None:
        if name.endswith("_to"):
            return instants.end_of(day, zone)
        return instants.start_of(day, zone) - (0 if name == UPDATED_SINCE else 1)
    moment = None if now is None else instants.resolved(text, now)
    return read_instant(name, moment or text)


def read_ids(name: str, text: str) -> tuple[str, ...] | None:
    ids = dict.fromkeys(one.strip() for one in text.split(",") if one.strip())
    if not text.strip():
        return None
    if not 0 < len(ids) <= LISTED_IDS_MAX:
        raise InvalidField(name, f"must have 1 to {LISTED_IDS_MAX} ids, got {len(ids)}")
    return tuple(ids)


def read_run(name: str, text: str) -> str | None:
    run_id = text.strip()
    if not (run_id.isascii() and run_id.isalnum() and len(run_id) <= RUN_ID_MAX):
        raise InvalidField(name, f"must be the run_id of an import, got {errors.shown(text)}")
    return run_id


UPDATED_SINCE: Final = "updated_since"
"""The only bound that is called like this, and that includes its instant."""
_PLAIN: Final = {"before": "to", "until": "to", "after": "from", "since": "from"}
# A day itself is not before or after it, but _to and _from include it.
_DAYS: Final = {"before": -1, "after": 1}
# Until and since include an instant, which _to and _from exclude.
_MICROSECONDS: Final = {"until": 1, "since": -1}


def plain_name(name: str) -> str:
    """The name of the same bound that ends in _from or _to; any other name as it is."""
    what, _, word = name.rpartition("_")
    is_other = what and word in _PLAIN and name != UPDATED_SINCE
    return f"{what}_{_PLAIN[word]}" if is_other else name


def with_other_names(names: Sequence[str]) -> list[str]:
    """These names, and the other names of the bounds among them."""
    others = [
        f"{what}_{word}"
        for what, _, end in (name.rpartition("_") for name in names)
        for word, plain in _PLAIN.items()
        if what and plain == end
    ]
    return [*names, *others]


def fold(request: Struct) -> None:
    """Sets the plain bounds from their other names, while the struct is being created."""
    given: dict[str, str] = {}
    for name in other_names(type(request)):
        value = getattr(request, name)
        if value is None or not value.strip():
            continue
        plain = plain_name(name)
        other = given.setdefault(plain, plain if getattr(request, plain) else name)
        if other != name:
            raise InvalidField(name, f"is the same bound as {other}; send only one of them")
        msgspec.structs.force_setattr(request, plain, _plain_value(name, value))
        msgspec.structs.force_setattr(request, name, None)


@cache
def other_names(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name, meta in metadata_of(kind).items() if "is_other_name" in meta)


def _plain_value(name: str, text: str) -> str:
    """The date that means the same for the plain bound."""
    word = name.rpartition("_")[2]
    # Refused by the name that was sent.
    bound_of(name, text, 0, None)
    if instants.is_day(text):
        return _beside(name, text, _DAYS[word]) if word in _DAYS else text
    if word not in _MICROSECONDS or instants.is_relative(text):
        return text
    moment = read_instant(name, text) + _MICROSECONDS[word]
    return instants.with_offset(min(max(moment, instants.FIRST), instants.LAST))


def _beside(name: str, text: str, days: int) -> str:
    day = instants.beside(text, days) or text
    bound_of(name, day, 0, None)
    return day
