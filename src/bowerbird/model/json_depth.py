"""How deeply JSON may be nested: in requests, and in posts that are imported.

Programs read nested values by recursion, which ends somewhere. A bound that is the same everywhere
refuses such a value where it arrives, not later in an export or a tool.
"""

import re
from typing import Final

MAX_DEPTH: Final = 64
# Earlier releases imported deeper values. They are cut below this level where they are read.
_MAX_READ_DEPTH: Final = 2 * MAX_DEPTH
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_NO_MARKS: Final = bytes(set(range(256)) - set(b'[]{}"'))
_TO_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")


def is_too_deep(json: bytes, max_depth: int = MAX_DEPTH) -> bool:
    """Whether valid JSON is nested deeper than allowed. 1 MB takes a few milliseconds."""
    # Few values have this many brackets.
    if json.count(b"[") + json.count(b"{") <= max_depth:
        return False
    if b"\\" in json:
        json = json.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = json.translate(_TO_BRACKETS, _NO_MARKS)
    # Every second part is outside of strings.
    nested = b"".join(marks.split(b'"')[::2])
    # Each pass removes the innermost level.
    for _ in range(max_depth):
        if not nested:
            return False
        nested = nested.replace(b"[]", b"")
    return bool(nested)


def cut(json: bytes) -> bytes:
    """Stored JSON for a program that reads it by recursion: null replaces what is too deep."""
    if not is_too_deep(json, _MAX_READ_DEPTH):
        return json
    kept, start, depth = bytearray(), 0, 0
    for token in _TOKEN.finditer(json):
        if token[0] in (b"[", b"{"):
            depth += 1
            if depth == _MAX_READ_DEPTH + 1:
                kept += json[start : token.start()] + b"null"
        elif token[0] in (b"]", b"}"):
            if depth == _MAX_READ_DEPTH + 1:
                start = token.end()
            depth -= 1
    return bytes(kept + json[start:])
