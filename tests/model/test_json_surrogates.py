"""Halves of surrogate pairs in JSON."""

import json
import re
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.json_depth import without_lone_surrogates

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
