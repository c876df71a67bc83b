"""JSON of others: its depth and number of values, read in one pass, and halves of surrogates."""

import json
import re
import sys
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.json_depth import (
    MAX_DEPTH,
    MAX_ODD_NUMBERS,
    MAX_VALUES,
    Excess,
    excess,
    is_too_deep,
    without_lone_surrogates,
)

TEXTS = st.sampled_from(["", "a", '"', "\\", '\\"', "[", "]", "{,}", "é\n", ":", '":["', "\x00"])
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=30,
)
MIB = 1024 * 1024


def depth_of(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) + max(map(depth_of, inner), default=0)


def values_of(value: Any) -> int:
    """An empty array or object counts as two."""
    if not isinstance(value, dict | list):
        return 1
    inner = value.values() if isinstance(value, dict) else value
    return 1 + (sum(map(values_of, inner)) if value else 1)


@given(value=VALUES, indent=st.sampled_from([None, 1]), is_ascii=st.booleans())
def test_every_document_has_its_depth_and_its_values(
    value: Any, indent: int | None, *, is_ascii: bool
) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode()
    depth, values = depth_of(value), max(values_of(value), 1)

    assert excess(body, depth, values) is None
    if depth:
        assert is_too_deep(body, depth - 1)
    if values > 1 and len(body) >= values - 1:
        assert excess(body, depth, values - 1) is Excess.VALUES


def test_texts_and_escapes_may_lie_across_the_pieces_that_are_read() -> None:
    for shift in range(4):
        text = "x" * (65_533 + shift) + '\\"[[,' + "y" * 65_536
        body = json.dumps([text, [1, 2]]).encode()
        assert excess(body, 2, 5) is None
        assert excess(body, 1, 5) is Excess.DEPTH
        assert excess(body, 2, 4) is Excess.VALUES


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), Excess.DEPTH),
        (b"[" + b"1," * (MAX_VALUES - 2) + b"1]", None),
        (b"[" + b"1," * (MAX_VALUES - 1) + b"1]", Excess.VALUES),
        (b'["' + b",[" * MAX_VALUES + b'"]', None),
    ],
)
def test_the_bounds_are_included(body: bytes, found: Excess | None) -> None:
    assert excess(body) is found


@pytest.mark.parametrize(
    "body",
    [
        b"[" + (b"[" * 58 + b"]" * 58 + b",") * 8_500 + b"1]",
        b"[" + (b"[" * 58 + b"]" * 58 + b",") * 1_600 + b"1]",
        b"[" + b'[""],' * 190_000 + b'"\\u0000"]',
        b"[" + b'",",' * 99_000 + b"1]",
        b'["' + b"\\\\" * 524_000 + b'"]',
        b'["' + b'\\"' * 524_000 + b'"]',
        b"[" * MIB,
        b"]" * MIB,
        b'"' * MIB,
        b"1" * MIB,
        b"[" + b"1e308," * 170_000 + b"1]",
        b'["' + b"1e308," * 170_000 + b'"]',
        b"[" + b"e99" * 340_000 + b"1]",
        b"[" + (b"1" * 19 + b",") * 50_000 + b"1]",
        b"[" + b"1" * MIB + b"e10]",
    ],
    ids=lambda body: body[:8].decode(),
)
def test_a_hostile_body_is_read_in_a_moment(body: bytes) -> None:
    """One of these took 800 milliseconds. The slowest takes about ten."""
    started = time.thread_time()
    excess(body)
    assert time.thread_time() - started < 0.2


@pytest.mark.parametrize(
    "number", [b"1e308", b"8E299", b"5e-324", b"-1e+300", b"1" * 50, b"1." + b"7" * 60]
)
def test_many_numbers_that_are_slow_to_decode_are_an_excess(number: bytes) -> None:
    separated = number + b","

    assert excess(b'{"a":[' + separated * MAX_ODD_NUMBERS + b"1]}") is None
    for many in (MAX_ODD_NUMBERS + 1, 10_000):
        assert excess(b'{"a":[' + separated * many + b"1]}") is Excess.NUMBERS
        assert excess(b'{"a":[ ' + (number + b" , ") * many + b"1]}") is Excess.NUMBERS


def test_few_numbers_with_thousands_of_digits_are_an_excess() -> None:
    assert excess(b"[" + b"1" * 4_300 + b"]") is None
    assert excess(b"[" + (b"1" * 4_300 + b",") * 3 + b"1]") is Excess.NUMBERS


def test_texts_that_look_like_such_numbers_are_none() -> None:
    text = b'"3e308f and 1e308, ' + b"7" * 60 + b'"'

    assert excess(b"[" + (text + b",") * 150 + b"1]") is None
    assert excess(b'{"id":"' + b"1e45f0" * 50_000 + b'"}') is None


def test_what_is_left_of_slow_numbers_decodes_quickly() -> None:
    body = b"[" + b"1e308," * MAX_ODD_NUMBERS + b"1e9," * 90_000 + b"1]"

    started = time.thread_time()
    assert excess(body) is None
    msgspec.json.decode(body)

    assert time.thread_time() - started < 0.5


PARTS = st.sampled_from(
    [r"\\", r"\n", r"\"", r"\ud83d", r"\uDE00", r"\uDBFF", r"\udc00", r"\u0041", "ud800", "x"]
)


@given(st.lists(PARTS, max_size=12))
def test_each_half_becomes_a_replacement_and_pairs_stay(parts: list[str]) -> None:
    body = '{"text": "' + "".join(parts) + '"}'

    readable = without_lone_surrogates(body.encode())

    expected = re.sub("[\ud800-\udfff]", "\ufffd", json.loads(body)["text"])
    assert json.loads(readable)["text"] == expected


def test_a_byte_that_no_json_has_is_left_to_the_parser() -> None:
    assert without_lone_surrogates(b'"\x00\\ud800"') == b'"\x00\\ud800"'


def test_no_function_is_called_for_each_escape() -> None:
    calls = 0

    def count(*_: Any) -> None:
        nonlocal calls
        calls += 1

    body = b'"' + rb"\n\\x\ud83d\ude00\ud800" * 10_000 + b'"'
    sys.setprofile(count)
    try:
        readable = without_lone_surrogates(body)
    finally:
        sys.setprofile(None)

    assert readable.count(rb"\ufffd") == 10_000
    assert calls < 1_000
