"""The addresses under which the website may be opened."""

import pytest

from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.web.visits.visit import OwnHosts

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
    is_ip_address: bool,  # noqa: FBT001 - a parameter of the test
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
