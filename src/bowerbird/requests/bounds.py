"""Other names for the bounds of a time: posted_before for posted_to, posted_since for posted_from.

A request has one value per bound once it is read. So everything that reads, stores or repeats
filters knows only the names that end in _from and _to.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.model import instants, relative_dates
from bowerbird.requests.fields import InvalidField, metadata_of
from bowerbird.requests.filter_values import bound_of, read_instant

_PLAIN: Final = {"before": "to", "until": "to", "after": "from", "since": "from"}
# A day itself is not before or after it, but _to and _from include it.
_DAYS: Final = {"before": -1, "after": 1}
# Until and since include an instant, which _to and _from exclude.
_MICROSECONDS: Final = {"until": 1, "since": -1}


def plain_name(name: str) -> str:
    """The name of the same bound that ends in _from or _to; any other name as it is."""
    what, _, word = name.rpartition("_")
    return f"{what}_{_PLAIN[word]}" if what and word in _PLAIN else name


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
    for name in _other_names(type(request)):
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
def _other_names(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name, meta in metadata_of(kind).items() if "is_other_name" in meta)


def _plain_value(name: str, text: str) -> str:
    """The date that means the same for the plain bound."""
    word = name.rpartition("_")[2]
    # Refused by the name that was sent.
    bound_of(name, text, 0, None)
    if relative_dates.is_day(text):
        return _beside(name, text, _DAYS[word]) if word in _DAYS else text
    if word not in _MICROSECONDS or relative_dates.is_relative(text):
        return text
    moment = read_instant(name, text) + _MICROSECONDS[word]
    return instants.with_offset(min(max(moment, instants.FIRST), instants.LAST))


def _beside(name: str, text: str, days: int) -> str:
    day = relative_dates.beside(text, days) or text
    bound_of(name, day, 0, None)
    return day
