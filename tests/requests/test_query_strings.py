"""Query strings: each known parameter at most once, as valid text."""

from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.errors import Refusal
from bowerbird.requests import decoding

KNOWN = ("limit", "q", "tag")
texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1)


@given(st.dictionaries(st.sampled_from(KNOWN), texts))
def test_encoded_values_are_decoded_unchanged(sent: dict[str, str]) -> None:
    assert decoding.parameter_values(urlencode(sent).encode(), KNOWN) == sent
    assert decoding.parameter_values(urlencode(sent, quote_via=quote).encode(), KNOWN) == sent


@given(texts)
def test_parameter_names_may_be_percent_encoded(text: str) -> None:
    assert decoding.parameter_values(f"%71={quote_plus(text)}".encode(), KNOWN) == {"q": text}


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_rejected_with_400(raw: bytes) -> None:
    try:
        found = decoding.parameter_values(raw, KNOWN)
    except Refusal as refused:
        assert refused.status == 400  # noqa: PT017 - both outcomes are valid
    else:
        assert set(found) <= set(KNOWN)
        assert all(value and "\x00" not in value for value in found.values())


@given(st.binary(max_size=200))
def test_names_include_every_parameter_that_has_a_value(raw: bytes) -> None:
    names = decoding.parameter_names(raw)

    try:
        found = decoding.parameter_values(raw, KNOWN)
    except Refusal:
        return
    assert set(found) == names & set(KNOWN)


@pytest.mark.parametrize("raw", [b"", b"&", b"=", b"&&=&", b"q", b"q=", b"q=&tag", b"limits=1"])
def test_empty_and_unknown_parameters_are_ignored(raw: bytes) -> None:
    assert decoding.parameter_values(raw, KNOWN) == {}
    assert not decoding.parameter_names(raw) & set(KNOWN)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"q=a+b", "a b"),
        (b"q=a%20b", "a b"),
        (b"q=a%2Bb", "a+b"),
        (b"q=a=b=c", "a=b=c"),
        (b"q=a%26b", "a&b"),
        (b"q=%", "%"),
        (b"q=%zz", "%zz"),
        (b"q=\xc3\xa9", "é"),
        (b"q=a;tag=b", "a;tag=b"),
        (b"q=+", " "),
    ],
)
def test_values_are_decoded_like_form_data(raw: bytes, value: str) -> None:
    assert decoding.parameter_values(raw, KNOWN) == {"q": value}


@pytest.mark.parametrize("raw", [b"q=1&q=2", b"q=1&q=1", b"q&q", b"q=&%71=1"])
def test_a_repeated_known_parameter_is_rejected(raw: bytes) -> None:
    with pytest.raises(Refusal, match=r"^q: was sent more than once\.$"):
        decoding.parameter_values(raw, KNOWN)


def test_an_unknown_parameter_may_be_repeated() -> None:
    assert decoding.parameter_values(b"x=1&x=2&q=a&x=%ff", KNOWN) == {"q": "a"}


@pytest.mark.parametrize("raw", [b"%ff", b"%C3", b"\xff", b"%ED%A0%80", b"%C0%80"])
def test_invalid_utf8_is_rejected(raw: bytes) -> None:
    with pytest.raises(Refusal, match="q: is not UTF-8 text"):
        decoding.parameter_values(b"q=" + raw, KNOWN)


@pytest.mark.parametrize("raw", [b"%00", b"a%00", b"\x00"])
def test_a_null_character_is_rejected(raw: bytes) -> None:
    with pytest.raises(Refusal, match=r"^q: contains U\+0000, which no database can store\.$"):
        decoding.parameter_values(b"q=" + raw, KNOWN)
