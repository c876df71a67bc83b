"""The cookies of the website."""

import pytest

from bowerbird.web.visits.visit import CookieJar

PLAIN = CookieJar("http://localhost:8080")
SECURE = CookieJar("https://posts.example.org")


def test_on_https_no_other_host_can_set_the_cookie() -> None:
    name, value = SECURE.write("session", "abc", 1)

    assert name == b"set-cookie"
    assert value == (
        b"__Host-bowerbird-session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure"
    )


def test_on_http_services_at_different_ports_do_not_share_a_cookie() -> None:
    other = CookieJar("http://localhost:9090")
    header = PLAIN.write("session", "mine")[1] + b"; " + other.write("session", "theirs")[1]

    assert PLAIN.read(header, "session") == "mine"
    assert other.read(header, "session") == "theirs"


@pytest.mark.parametrize("header", [None, b"", b";;=;", b"\xff\xfe=1", b"a=b; " * 5_000])
def test_a_strange_header_has_no_cookie(header: bytes | None) -> None:
    assert PLAIN.read(header, "session") == ""


@pytest.mark.parametrize("value", ["a;b", "a\r\nb", 'a"b', "ä", "a b"])
def test_a_value_cannot_end_the_cookie(value: str) -> None:
    with pytest.raises(ValueError, match="plain ASCII"):
        PLAIN.write("session", value)
