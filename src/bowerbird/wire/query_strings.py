"""The query string of a request: each known parameter at most once, as valid text."""

import re
from collections.abc import Collection
from functools import cache
from typing import Final, TypeVar
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from bowerbird import errors
from bowerbird.requests import decoding

T = TypeVar("T", bound=Struct)

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_MOST_IGNORED: Final = 20
_MOST_CHARACTERS: Final = 64
# A sort field can be empty, so a list can continue after the empty value.
_CAN_BE_EMPTY: Final = frozenset({"sort_cursor"})


def read(query_string: bytes, kind: type[T]) -> T:
    """The request in a query string. Unknown parameters are ignored."""
    return decoding.convert(values(query_string, known(kind)), kind)


def sent(query_string: bytes, kind: type[Struct]) -> set[str]:
    """The parameters of a request that were sent with a value, valid or not."""
    return names(query_string) & known(kind)


@cache
def known(kind: type[Struct]) -> frozenset[str]:
    return frozenset(kind.__struct_encode_fields__)


def split(query_string: bytes, kind: type[Struct] | None) -> tuple[bytes, tuple[str, ...]]:
    """The part of a query string that a request reads, and the names of the other parameters.

    At most a few names, shortened: they are part of the answer, and of its key in the cache.
    """
    if not query_string or kind is None:
        return query_string, ()
    pairs = query_string.split(b"&")
    if _raw_names(kind).issuperset([pair.partition(b"=")[0] for pair in pairs]):
        return query_string, ()
    kept, ignored = [], dict[str, None]()
    for pair in pairs:
        name = _name(pair.partition(b"=")[0])
        if name in known(kind):
            kept.append(pair)
        elif name and len(ignored) < _MOST_IGNORED:
            ignored[name[:_MOST_CHARACTERS]] = None
    return b"&".join(kept), tuple(ignored)


@cache
def _raw_names(kind: type[Struct]) -> frozenset[bytes]:
    return frozenset({name.encode() for name in known(kind)} | {b""})


def values(query_string: bytes, known: Collection[str]) -> dict[str, str]:
    """The known parameters that were sent; an empty value means absent, except in a sort_cursor."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for pair in query_string.split(b"&") if query_string else ():
        raw_name, _, raw_value = pair.partition(b"=")
        name = _name(raw_name)
        # Unknown names are ignored, so that clients of newer versions work here.
        if name not in known:
            continue
        if name in seen:
            raise errors.invalid(name, "was sent more than once")
        seen.add(name)
        if raw_value or name in _CAN_BE_EMPTY:
            found[name] = _value(name, raw_value)
    return found


def names(query_string: bytes) -> set[str]:
    """The parameters that were sent with a value, for the plan gates."""
    pairs = (pair.partition(b"=") for pair in query_string.split(b"&"))
    return {_name(raw_name) for raw_name, _, raw_value in pairs if raw_value}


def _name(raw: bytes) -> str:
    return unquote_to_bytes(raw.replace(b"+", b" ")).decode("utf-8", "replace")


def _value(name: str, raw: bytes) -> str:
    try:
        text = unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise errors.invalid(name, "is not UTF-8 text") from None
    if _UNSTORABLE.search(text):
        raise errors.invalid(name, "contains U+0000, which no database can store")
    return text
