"""The query string of a request: each known parameter once, as clean text."""

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import unquote_to_bytes

from bowerbird import errors

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def given(query_string: bytes, known: Collection[str]) -> dict[str, str]:
    """The parameters that were sent and are known; an empty value means absent."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for pair in query_string.split(b"&") if query_string else ():
        raw_name, _, raw_value = pair.partition(b"=")
        name = _name(raw_name)
        # Unknown names are ignored, whatever they carry: additive versions depend on it.
        if name not in known:
            continue
        if name in seen:
            raise errors.invalid(name, "was given more than once")
        seen.add(name)
        if raw_value:
            found[name] = _value(name, raw_value)
    return found


def names(query_string: bytes) -> set[str]:
    """The parameters that were sent with a value, whatever it is: what a plan's gates look at."""
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
        raise errors.invalid(name, "holds U+0000, which no database can keep")
    return text
