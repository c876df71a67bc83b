"""Hosts, cookies and forms of the website."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.web.visits import visit
from bowerbird.web.visits.visit import CookieJar, OwnHosts, is_own_path

HERE = OwnHosts(Settings())
PROXIED = OwnHosts(Settings(site_url="https://posts.example.org"))


@pytest.mark.parametrize(
    ("host", "origin", "is_ip_address"),
    [
        (b"localhost:8080", "http://localhost:8080", False),
        (b"LOCALHOST:8080", "http://localhost:8080", False),
        (b"127.0.0.1:8080", "http://127.0.0.1:8080", True),
        (b"[::1]:8080", "http://[::1]:8080", True),
        (b"192.168.1.20:8080", "http://192.168.1.20:8080", True),
    ],
)
def test_a_service_without_an_address_answers_to_its_own_names(
    host: bytes,
    origin: str,
    is_ip_address: bool,  # noqa: FBT001
) -> None:
    found = HERE.of(host)

    assert (found.origin, found.is_ip_address) == (origin, is_ip_address)


@pytest.mark.parametrize(
    "host",
    [
        None,
        b"",
        b"evil.example",
        b"localhost:9090",
        b"localhost.evil.example:8080",
        b"127.0.0.1.evil",
        b"\xff",
        b"[::1",
    ],
)
def test_a_name_that_somebody_pointed_at_this_machine_is_refused(host: bytes | None) -> None:
    with pytest.raises(Refusal):
        HERE.of(host)


def test_behind_a_proxy_only_the_configured_name_and_this_machine_work() -> None:
    assert PROXIED.of(b"posts.example.org").origin == "https://posts.example.org"
    assert PROXIED.of(b"localhost:8080").origin == "http://localhost:8080"
    for other in (b"192.168.1.20:8080", b"posts.example.org:8080", b"example.org"):
        with pytest.raises(Refusal):
            PROXIED.of(other)


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
