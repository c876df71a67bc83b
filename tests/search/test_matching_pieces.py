"""Pieces that may match are located in linear time, and the time counts for the page."""

import re
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.search.queries.highlights import Highlighter
from bowerbird.search.queries.matching_pieces import MatchingPieces
from bowerbird.search.queries.query_language import parse

# Each piece is also inside all longer ones.
NESTED = " ".join(["ab" * length for length in range(1, 29)])
TEXTS = st.text("ab \n\u00a0\u3000\x1c", max_size=60)


@given(TEXTS, st.sets(st.integers(0, 30)))
def test_locates_every_piece_between_spaces(text: str, chosen: set[int]) -> None:
    pieces = {piece for number, piece in enumerate(text.split()) if number in chosen}

    found = MatchingPieces([], []).locate(pieces, text)

    expected = [(match.start(), match[0]) for match in re.finditer(r"\S+", text)]
    assert found == [(start, piece) for start, piece in expected if piece in pieces]


@pytest.mark.parametrize("searched", ['"z ab*"', '"z ab*" OR running', "ab*"])
def test_pieces_inside_longer_ones_take_less_than_a_call_per_character(searched: str) -> None:
    text = f"{NESTED} " * 5
    page = Highlighter(parse(searched), posts=1)
    page.highlight([("text", text)])
    calls = 0

    def count(_frame: FrameType, event: str, _called: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        page.highlight([("text", text)])
    finally:
        sys.setprofile(before)

    assert calls < len(text)


@pytest.mark.parametrize("section", [NESTED, "ab"])
def test_the_time_to_locate_pieces_counts(section: str) -> None:
    pieces = MatchingPieces([], [])

    pieces.locate(set(section.split()), section)
    once = pieces.cost
    pieces.locate(set(section.split()), f"{section} {section}")

    assert once > 0
    assert pieces.cost >= 3 * once
