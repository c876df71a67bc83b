"""Reads the fields of an HTML form."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from bowerbird import errors
from bowerbird.errors import Refusal
from bowerbird.wire import bodies
from bowerbird.wire.pipeline import Request

MAX_BYTES: Final = 64 * 1024
# The form of a Smart View has 13 for each of its 20 buckets.
_MAX_FIELDS: Final = 400
_URLENCODED: Final = b"application/x-www-form-urlencoded"

Form = Mapping[str, str]


async def read(request: Request, most: int = MAX_BYTES) -> Form:
    """The fields by name. Raises a refusal if the body is not a form, or a name occurs twice."""
    kind = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != _URLENCODED:
        raise errors.invalid("Content-Type", "must be application/x-www-form-urlencoded")
    return parsed(await bodies.read(request.receive, most))


def query(text: bytes) -> Form:
    """The fields of a query string; none if it is unreadable, because its page opens anyway."""
    try:
        return parsed(text)
    except Refusal:
        return {}


def parsed(text: bytes) -> Form:
    """The fields of a form or query string, by name."""
    try:
        pairs = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise errors.invalid("form", "is not readable") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise errors.invalid("form", "contains a field twice")
    if any("\x00" in part for pair in pairs for part in pair):
        raise errors.invalid("form", "contains U+0000")
    return fields
