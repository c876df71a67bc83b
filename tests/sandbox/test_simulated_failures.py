"""X-Service-Sandbox-Error simulates one of eight failures, before any other check."""

import itertools

import httpx
import pytest

from bowerbird.errors import CATALOGUE, Code
from tests.support.in_turn import in_turn
from tests.support.programs.trying import Visitor
from tests.support.service import Service

pytestmark = pytest.mark.anyio

HEADER = "X-Service-Sandbox-Error"
FAILURES = {
    "unauthorized": (401, "UNAUTHORIZED"),
    "subscription_required": (402, "SUBSCRIPTION_REQUIRED"),
    "filter_not_allowed": (402, "FILTER_NOT_ALLOWED"),
    "pagination_not_allowed": (402, "PAGINATION_NOT_ALLOWED"),
    "invalid_request": (400, "INVALID_REQUEST"),
    "not_found": (404, "NOT_FOUND"),
    "rate_limited": (429, "RATE_LIMITED"),
    "server_error": (500, "INTERNAL_ERROR"),
}
PATHS = (
    *("", "/", "/bookmarks", "/bookmarks/1", "/labels", "/labels/add", "/labels/remove"),
    *("/labels/batch", "/views", "/views/birds", "/views/birds/bookmarks", "/nothing"),
    *("/exports/pdf", "/exports/x", "/bookmarks?limit=0"),
)
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "BREW")


async def _send(
    visitor: Visitor, value: str | bytes, path: str = "/bookmarks", method: str = "GET"
) -> httpx.Response:
    headers = [(HEADER.encode(), value if isinstance(value, bytes) else value.encode())]
    return await visitor.client.request(method, f"/v1/sandbox{path}", headers=headers)


@in_turn("value", FAILURES)
async def test_each_value_simulates_its_failure(visitor: Visitor, value: str) -> None:
    status, code = FAILURES[value]

    response = await _send(visitor, value)

    assert response.status_code == status
    body = response.json()
    assert body["status"] is False
    assert body["code"] == code
    assert "Simulated" in body["error"]
    assert CATALOGUE[Code(code)].when in body["error"]
    assert body["meta"] == {"sandbox": True}


@in_turn("value", FAILURES)
async def test_the_header_works_on_every_path_and_method(visitor: Visitor, value: str) -> None:
    status, code = FAILURES[value]

    for path, method in itertools.product(PATHS, METHODS):
        response = await _send(visitor, value, path, method)
        assert response.status_code == status, (method, path)
        if method != "HEAD":
            assert response.json()["code"] == code


async def test_the_header_is_checked_before_the_body_is_read(visitor: Visitor) -> None:
    response = await visitor.client.post(
        "/v1/sandbox/labels/add", content=b" " * 1_048_577, headers={HEADER: "not_found"}
    )

    assert response.status_code == 404


async def test_simulated_failures_have_the_headers_of_real_ones(visitor: Visitor) -> None:
    challenge = (await _send(visitor, "unauthorized")).headers["www-authenticate"]
    assert challenge == (
        'Bearer realm="bowerbird", '
        'resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource"'
    )
    with_key = await visitor.client.get(
        "/v1/sandbox/bookmarks", headers={HEADER: "unauthorized", "Authorization": "Bearer x"}
    )
    assert with_key.headers["www-authenticate"] == f'{challenge}, error="invalid_token"'
    assert (await _send(visitor, "rate_limited")).headers["retry-after"] == "30"
    for value, (status, _) in FAILURES.items():
        has_url = "upgrade_url" in (await _send(visitor, value)).json()
        assert has_url is (status == 402)


async def test_a_simulated_server_error_contains_its_request_id(visitor: Visitor) -> None:
    response = await _send(visitor, "server_error")

    assert response.headers["x-request-id"] in response.json()["error"]


@in_turn("value", ["", "teapot", "NOT_FOUND", "not_found, rate_limited", "\u00ff", "x" * 500])
async def test_an_unknown_value_is_400_and_lists_valid_ones(visitor: Visitor, value: str) -> None:
    response = await _send(visitor, value.encode("latin-1"), "/nothing", "POST")

    assert response.status_code == 400
    assert response.json()["code"] == "INVALID_REQUEST"
    for valid in FAILURES:
        assert valid in response.json()["error"]


async def test_the_api_ignores_the_header(cast: Service) -> None:
    response = await cast.nobody.get("/v1/bookmarks", headers={HEADER: "rate_limited"})

    assert response.status_code == 401
    assert "Simulated" not in response.json()["error"]
