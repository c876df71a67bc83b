"""How much an answer may hold, and what is done with more: shorter, but of the same shape."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.toolserver.tools.tool import Json

MOST_BYTES: Final = 25_000
# What an answer says besides its records.
AROUND: Final = 1_500
# Filters that an answer repeats; whoever sent a longer one knows it.
_FILTER_CHARS: Final = 300
# Tried one after the other: the longest text, and how many a list or a plain mapping may hold.
_STEPS: Final = (
    *((chars, 1_000_000) for chars in (8_000, 4_000, 2_000, 1_000, 500, 280)),
    *((280, most) for most in (200, 100, 50, 25, 12, 6, 3, 1)),
    *((chars, 0) for chars in (120, 60)),
)
SHORTENED: Final = "Long texts and lists were cut, since the whole does not fit in one answer."

_encode: Final = msgspec.json.Encoder().encode


class Fitted(Struct, frozen=True):
    """Records that fit, whether all did, and whether one had to be cut for it."""

    records: list[Json]
    is_all: bool
    is_shortened: bool = False

    @property
    def is_whole(self) -> bool:
        return self.is_all and not self.is_shortened


def size(value: Any) -> int:
    return len(_encode(value))


def short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def cut(value: Any, most: int, most_items: int = 1_000_000) -> Any:
    """The same with every text and every list cut that is longer."""
    if isinstance(value, str):
        return short(value, most)
    if isinstance(value, list):
        return [cut(item, most, most_items) for item in value[:most_items]]
    if isinstance(value, dict):
        return {name: cut(item, most, most_items) for name, item in value.items()}
    return value


def filters(applied: Json) -> Json:
    """Filters as an answer repeats them."""
    made: Json = cut(applied, _FILTER_CHARS)
    return made


def fitting(records: list[Json], most_bytes: int) -> Fitted:
    """As many from the first on as fit; at least one, made shorter where it must be."""
    if size(records) <= most_bytes:
        return Fitted(records, is_all=True)
    left = most_bytes - len("[]")
    kept: list[Json] = []
    first = records[0]
    if size(first) > left:
        first = shortened(first, left)
    for record in (first, *records[1:]):
        taken = size(record) + 1
        if taken > left and kept:
            break
        kept.append(record)
        left -= taken
    return Fitted(kept, len(kept) == len(records), is_shortened=first is not records[0])


def shortened(record: Json, most_bytes: int) -> Json:
    """The record itself where it fits, else one with the same fields that does."""
    made = record
    for chars, items in _STEPS:
        if size(made) <= most_bytes:
            return made
        made = cut(record, chars, items)
    return _emptied(made, most_bytes)


def _emptied(record: Json, most_bytes: int) -> Json:
    """For a field that holds thousands of named things: the largest of them go."""
    made = {n: dict(v) if isinstance(v, dict) else v for n, v in record.items()}
    inner = [
        (size(v), n, key)
        for n, held in made.items()
        if isinstance(held, dict)
        for key, v in held.items()
    ]
    over = size(made) - most_bytes
    for taken, name, key in sorted(inner, reverse=True):
        if over <= 0:
            break
        del made[name][key]
        over -= taken + len(key) + len('"":,')
    return made
