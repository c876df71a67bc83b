"""What templates write is escaped as by MarkupSafe."""

import enum

import markupsafe
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from bowerbird.web.templating import drawn_icon, escaped


class _Choice(enum.StrEnum):
    HOSTILE = "<b>"


class _Element:
    def __html__(self) -> str:
        return "<i></i>"


class _OwnText(str):
    __slots__ = ()


@given(st.text(st.sampled_from("&<>'\"aé漢😀")) | st.text())
def test_every_text_is_escaped_as_by_markupsafe(text: str) -> None:
    assert escaped(text) == markupsafe.escape(text)


@pytest.mark.parametrize(
    "value",
    [0, -7, 1.5, None, True, _Choice.HOSTILE, _Element(), _OwnText("<script>"), ["<", '"'], b"<'>"],
)
def test_every_other_value_is_escaped_as_by_markupsafe(value: object) -> None:
    assert escaped(value) == markupsafe.escape(value)


def test_markup_is_not_escaped_again() -> None:
    assert escaped(Markup("<b>&amp;</b>")) == "<b>&amp;</b>"
    assert escaped(drawn_icon("plus")).startswith("<svg ")
