"""What JSON may hold: its depth, how many values, odd numbers, halves of characters."""

import re
from enum import Enum
from itertools import accumulate, islice
from typing import Final

MAX_DEPTH: Final = 64
MAX_VALUES: Final = 100_000
# Earlier releases imported deeper values. They are cut below this level where they are read.
_MAX_READ_DEPTH: Final = 2 * MAX_DEPTH
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
# An array or object begins with +1 and ends with -1, as a signed byte.
_BEGIN: Final = b"\x01"
_TO_STEPS: Final = bytes.maketrans(b"[{]}", _BEGIN * 2 + b"\xff" * 2)
_NO_MARKS: Final = bytes(set(range(256)) - set(b'[]{}:,"'))
_PIECE: Final = 65_536


# Numbers that take up to 17 microseconds each, a hundred times as long as others: with an exponent
# of two digits or more, or with very many digits. A part of 48 digits counts as one.
MAX_ODD_NUMBERS: Final = 200
_ODD_NUMBER: Final = re.compile(rb"[0-9.](?:[eE][+-]?[0-9]{2}|[0-9.]{47})")
# What such numbers contain if every digit is a zero.
_SIGNS: Final = (b"e00", b"E00", b"e-00", b"E-00", b"e+00", b"E+00", b"0" * 40)
_TO_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TEXT: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# It has few numbers.
_SHORT_BYTES: Final = 1_024


class Excess(Enum):
    """What JSON has too much of."""

    DEPTH = "depth"
    VALUES = "values"
    NUMBERS = "numbers"


def excess(json: bytes, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES) -> Excess | None:
    """Reads valid JSON once, and not beyond the first excess. 1 MB takes 1 to 10 milliseconds.

    An empty array or object counts as two values.
    """
    found = _shape_excess(json, max_depth, max_values)
    if found is None and len(json) > _SHORT_BYTES and _has_odd_numbers(json):
        return Excess.NUMBERS
    return found


def _shape_excess(json: bytes, max_depth: int, max_values: int) -> Excess | None:
    # Few values have this many brackets.
    if len(json) < max_values and (
        len(json) <= max_depth or json.count(b"[") + json.count(b"{") <= max_depth
    ):
        return None
    if b"\\" in json:
        # Two characters each, because a replacement of the same length is quicker.
        json = json.replace(b"\\\\", b"--").replace(b'\\"', b"--")
    depth, values, is_in_text = 0, 1, False
    for start in range(0, len(json), _PIECE):
        marks = json[start : start + _PIECE].translate(_TO_STEPS, _NO_MARKS)
        # Most texts have no marks inside. A colon or comma separates two texts.
        parts = marks.replace(b'""', b"").split(b'"')
        outside = b"".join(parts[is_in_text::2]).translate(None, b":")
        is_in_text ^= len(parts) % 2 == 0
        steps = outside.translate(None, b",")
        begun = steps.count(_BEGIN)
        values += len(outside) - len(steps) + begun
        if values > max_values:
            return Excess.VALUES
        depths = accumulate(memoryview(steps).cast("b"), initial=depth)
        if depth + begun > max_depth and max(depths) > max_depth:
            return Excess.DEPTH
        depth += 2 * begun - len(steps)
        if depth < 0:
            # It is not JSON.
            return None
    return None


def _has_odd_numbers(json: bytes) -> bool:
    """Whether JSON has too many numbers that are slow to decode. Most has none, which is quick."""
    # Each value is one of them at most, and once more for each part of many digits.
    values = json.count(b",") + json.count(b"[") + json.count(b"{") + 1
    if values + len(json) // 47 <= MAX_ODD_NUMBERS:
        return False
    zeros = json.translate(_TO_ZEROS)
    if sum(map(zeros.count, _SIGNS)) <= MAX_ODD_NUMBERS:
        return False
    found = _ODD_NUMBER.finditer(_TEXT.sub(b"", json))
    return next(islice(found, MAX_ODD_NUMBERS, None), None) is not None


def is_too_deep(json: bytes, max_depth: int = MAX_DEPTH) -> bool:
    return _shape_excess(json, max_depth, len(json) + 1) is Excess.DEPTH


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
