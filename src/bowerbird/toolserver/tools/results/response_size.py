"""Keeps results short enough for a model to read, by truncating texts and lists."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from bowerbird.toolserver.tools.tool import Json

Q = TypeVar("Q", bound=Struct)
P = TypeVar("P")

MAX_BYTES: Final = 25_000
# Reserved for the fields of a result besides its records.
OVERHEAD_BYTES: Final = 1_500
RECORDS_BYTES: Final = MAX_BYTES - OVERHEAD_BYTES
_FILTER_CHARS: Final = 300
ANY_NUMBER: Final = 1_000_000
# Tried in this order: the maximum length of a text, and the maximum number of items of a list.
STEPS: Final = (
    *((chars, ANY_NUMBER) for chars in (8_000, 4_000, 2_000, 1_000, 500, 280)),
    *((280, items) for items in (200, 100, 50, 25, 12, 6, 3, 1)),
    *((chars, 0) for chars in (120, 60)),
)
TRUNCATED: Final = "Long texts and lists were truncated to fit in one result."

_encode: Final = msgspec.json.Encoder().encode


class Fitted(Struct, frozen=True):
    """The records that fit in a result."""

    records: list[Json]
    # Whether no record was left out.
    is_all: bool
    # Whether a record was truncated.
    is_truncated: bool = False

    @property
    def is_complete(self) -> bool:
        return self.is_all and not self.is_truncated


def size(value: Any) -> int:
    return len(_encode(value))


def second(instant: str) -> str:
    """An instant in UTC to the second."""
    return f"{instant[:19]}Z"


def truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"


def truncate_all(
    value: Any,
    max_chars: int,
    max_items: int = ANY_NUMBER,
    cut: Callable[[str, int], str] = truncate,
) -> Any:
    """A copy of the value with every text and every list truncated."""
    if isinstance(value, str):
        return cut(value, max_chars)
    if isinstance(value, list):
        return [truncate_all(item, max_chars, max_items, cut) for item in value[:max_items]]
    if isinstance(value, dict):
        return {name: truncate_all(item, max_chars, max_items, cut) for name, item in value.items()}
    return value


def short_filters(applied: Json) -> Json:
    """Filters for a result that repeats them; the caller has the long ones."""
    short: Json = truncate_all(applied, _FILTER_CHARS)
    return short


def fit(records: list[Json], max_bytes: int) -> Fitted:
    """The first records, as many as fit. The first is truncated if it does not fit alone."""
    if size(records) <= max_bytes:
        return Fitted(records, is_all=True)
    left = max_bytes - len("[]")
    kept: list[Json] = []
    first = records[0]
    if size(first) > left:
        first = shrink(first, left)
    for record in (first, *records[1:]):
        needed = size(record) + 1
        if needed > left and kept:
            break
        kept.append(record)
        left -= needed
    return Fitted(kept, len(kept) == len(records), is_truncated=first is not records[0])


async def fitting_page(
    read: Callable[[Q], Awaitable[P]], asked: Q, records_of: Callable[[P], list[Json]]
) -> tuple[P, list[Json]]:
    """A page whose records fit. A shorter one is read, so that its cursor skips no record."""
    page = await read(asked)
    while size(records := records_of(page)) > RECORDS_BYTES:
        if len(records) == 1:
            return page, [shrink(records[0], RECORDS_BYTES)]
        asked = msgspec.structs.replace(asked, limit=len(records) // 2)
        page = await read(asked)
    return page, records


def shrink(record: Json, max_bytes: int) -> Json:
    """The record itself if it fits, otherwise one with the same fields that does."""
    short = record
    for chars, items in STEPS:
        if size(short) <= max_bytes:
            return short
        short = truncate_all(record, chars, items)
    return _without_largest(short, max_bytes)


def _without_largest(record: Json, max_bytes: int) -> Json:
    """Removes the largest entries of objects, for a field that has thousands of them."""
    short = {n: dict(v) if isinstance(v, dict) else v for n, v in record.items()}
    entries = [
        (size(value), name, key)
        for name, inner in short.items()
        if isinstance(inner, dict)
        for key, value in inner.items()
    ]
    excess = size(short) - max_bytes
    for entry_size, name, key in sorted(entries, reverse=True):
        if excess <= 0:
            break
        del short[name][key]
        excess -= entry_size + len(key) + len('"":,')
    return short


def part_of(post: Json, offset: int, max_chars: int, max_items: int = ANY_NUMBER) -> Json:
    """The post with at most so many characters of each text, from an offset.

    With an offset, only the texts that are longer have something to show.
    """
    longest = _longest(post)
    end = offset + max_chars
    shown = _rest(post, offset) if offset else post
    part: Json = truncate_all(
        {**shown, "post_id": post["post_id"]}, max_chars, max_items, _beginning
    )
    is_cut = longest > end or (part != shown and not offset)
    part |= {"text_length": longest, "truncated": is_cut}
    return {**part, "next_offset": end} if longest > end else part


def fitting_part(post: Json, offset: int, max_chars: int, max_bytes: int) -> Json:
    """A part that fits. Its offset to read on counts what was left out to fit."""
    part = part_of(post, offset, max_chars)
    for chars, items in STEPS:
        if size(part) <= max_bytes:
            return part
        part = part_of(post, offset, min(chars, max_chars), items)
    return shrink(part, max_bytes)


def _beginning(text: str, max_chars: int) -> str:
    """Without a sign at the end, so that the parts of a text can be joined."""
    return text[:max_chars]


def _rest(value: Any, offset: int) -> Any:
    """The texts from an offset; None for everything else."""
    if isinstance(value, str):
        return value[offset:] or None
    if isinstance(value, list):
        return [rest for item in value if (rest := _rest(item, offset))] or None
    if isinstance(value, dict):
        inner = {name: _rest(item, offset) for name, item in value.items()}
        return {name: rest for name, rest in inner.items() if rest}
    return None


def _longest(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(map(_longest, inner), default=0)
