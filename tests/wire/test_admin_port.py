"""The admin port answers programs of this machine, and no web page."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from bowerbird.wire import metrics
from tests.support import serving


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving.serving(tmp_path_factory.mktemp("admin")) as running:
        yield f"127.0.0.1:{running.admin_port}"


def get(address: str, path: str = "/metrics", **headers: str) -> httpx.Response:
    return serving.http.get(f"http://{address}{path}", headers=headers)


def test_serves_the_metrics(address: str) -> None:
    response = get(address)

    assert response.status_code == 200
    assert "bowerbird_requests_total" in response.text
    assert response.headers["content-type"].startswith("text/plain")
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:8081", "LOCALHOST", "[::1]:8081", "192.0.2.7:9090"]
)
def test_an_address_or_localhost_is_allowed(address: str, host: str) -> None:
    assert get(address, host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil.example"),
        *(
            "127.0.0.1@evil.example",
            "evil.example@localhost",
            "[evil]:1",
            "",
            "evil.example#127.0.0.1",
        ),
    ],
)
def test_the_name_of_a_web_page_is_refused_with_a_sentence(address: str, host: str) -> None:
    response = get(address, host=host)

    assert response.status_code in (400, 403)
    assert "bowerbird_requests_total" not in response.text


def test_the_refusal_says_what_to_use(address: str) -> None:
    response = get(address, host="evil.example")

    assert response.status_code == 403
    assert response.text == (
        "This Host is not allowed. Use an IP address, localhost, or the name in "
        "BOWERBIRD_ADMIN_HOST.\n"
    )


def test_the_configured_name_is_allowed() -> None:
    assert metrics.is_allowed("metrics.lan:8081", "metrics.lan")
    assert not metrics.is_allowed("metrics.lan.evil.example", "metrics.lan")
    assert not metrics.is_allowed("", "")


def test_a_request_without_a_host_is_refused(address: str) -> None:
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=90) as client:
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        answer = client.makefile("rb").read()

    assert b" 403 " in answer.splitlines()[0]


def test_other_paths_do_not_exist(address: str) -> None:
    assert get(address, "/").status_code == 404
