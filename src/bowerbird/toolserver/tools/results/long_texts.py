"""Posts with long texts: a part of each text, its full length, and where to read on."""

from typing import Any

from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.response_size import ANY_NUMBER
from bowerbird.toolserver.tools.tool import Json


def part_of(post: Json, offset: int, max_chars: int, max_items: int = ANY_NUMBER) -> Json:
    """The post with at most so many characters of each text, from an offset.

    With an offset, only the texts that are longer have something to show.
    """
    longest = _longest(post)
    end = offset + max_chars
    shown = _rest(post, offset) if offset else post
    part: Json = _cut({**shown, "post_id": post["post_id"]}, max_chars, max_items)
    is_cut = longest > end or (part != shown and not offset)
    part |= {"text_length": longest, "truncated": is_cut}
    return {**part, "next_offset": end} if longest > end else part


def fitting_part(post: Json, offset: int, max_chars: int, max_bytes: int) -> Json:
    """A part that fits. Its offset to read on counts what was left out to fit."""
    part = part_of(post, offset, max_chars)
    for chars, items in response_size.STEPS:
        if response_size.size(part) <= max_bytes:
            return part
        part = part_of(post, offset, min(chars, max_chars), items)
    return response_size.shrink(part, max_bytes)


def _cut(value: Any, max_chars: int, max_items: int) -> Any:
    """Without a sign at the end, so that the parts of a text can be joined."""
    if isinstance(value, str):
        return value[:max_chars]
    if isinstance(value, list):
        return [_cut(item, max_chars, max_items) for item in value[:max_items]]
    if isinstance(value, dict):
        return {name: _cut(item, max_chars, max_items) for name, item in value.items()}
    return value


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
