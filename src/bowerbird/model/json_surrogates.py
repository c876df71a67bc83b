"""Halves of characters in JSON, as a cut text has them: JSON must not, and programs do."""

import re
from typing import Final

# In place of a character that cannot be read.
REPLACEMENT: Final = b"\\ufffd"
_HIGH: Final = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LONE_HIGH: Final = re.compile(rb"%b(?!%b)" % (_HIGH, _LOW))
_LONE_LOW: Final = re.compile(rb"(?<!%b)%b" % (_HIGH, _LOW))
# No JSON contains this byte, so it can stand for an escaped backslash.
_BACKSLASH: Final = b"\x00"
# Escapes of halves, with or without the other half. A body with more of them is left as it is.
MAX_HALVES: Final = 50_000


def without_lone_surrogates(body: bytes, replacement: bytes = REPLACEMENT) -> bytes:
    """JSON with an escape in place of each half of a surrogate pair.

    Nothing here is called for each match: a body of 8 MB may consist of escapes alone.
    """
    halves = body.count(rb"\ud") + body.count(rb"\uD")
    if _BACKSLASH in body or not 0 < halves <= MAX_HALVES:
        return body
    text = body.replace(b"\\\\", _BACKSLASH)
    template = replacement.replace(b"\\", b"\\\\")
    text = _LONE_LOW.sub(template, _LONE_HIGH.sub(template, text))
    return text.replace(_BACKSLASH, b"\\\\")
