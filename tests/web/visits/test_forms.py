"""Fields of HTML forms and of query strings."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.errors import Refusal
from bowerbird.web.visits import visit
from bowerbird.web.visits.visit import is_own_path


def test_fields_are_read_by_name() -> None:
    assert visit.parsed(b"name=My+laptop&empty=&text=%E2%9C%93") == {
        "name": "My laptop",
        "empty": "",
        "text": "✓",
    }


@pytest.mark.parametrize(
    "body", [b"a=1&a=2", b"a=%FF", b"\xff=1", b"a=%00", b"&".join([b"a=1"] * 200)]
)
def test_a_strange_form_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal):
        visit.parsed(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_form_or_are_refused(body: bytes) -> None:
    with suppress(Refusal):
        assert all("\x00" not in value for value in visit.parsed(body).values())


@pytest.mark.parametrize("path", ["/", "/keys", "/library?q=a%20b#top"])
def test_a_path_of_this_site_is_followed(path: str) -> None:
    assert is_own_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "keys",
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/a\r\nb",
        "/ä",
        "/" * 3_000,
    ],
)
def test_a_path_of_another_site_is_not(path: str) -> None:
    assert not is_own_path(path)
