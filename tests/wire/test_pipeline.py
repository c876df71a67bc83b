"""Every surface handles requests in the same steps: the same errors, one log line per request."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from bowerbird.storage.database import Database, Transaction
from bowerbird.wire.pipeline import ACCOUNT
from tests.support.service import Service
from tests.web.house import build

pytestmark = pytest.mark.anyio


@pytest.fixture
def cast_settings() -> dict[str, Any]:
    return {"sandbox": "on"}


Lines = list[MutableMapping[str, Any]]
FIELDS = {"event", "log_level", "id", "method", "route", "status", "ms", "bytes", "account"}
OWN_FIELDS = {"tool server": {"called", "refused"}}
TOKEN = f"1-{'0' * 32}"
# Surface -> an existing path, the route logged for it, and an unknown path.
PATHS = {
    "REST": ("/v1/bookmarks/42", "/v1/bookmarks/{post_id}", "/v1/nothing"),
    "sandbox": ("/v1/sandbox/bookmarks/42", "/v1/sandbox/bookmarks/{post_id}", "/v1/sandbox"),
    "site": ("/docs", "/docs", "/nothing"),
    "unsubscribe page": (f"/unsubscribe/{TOKEN}", "/unsubscribe/{token}", "/unsubscribe"),
    "tool server": ("/mcp", "/mcp", None),
}
_FORM = b"application/x-www-form-urlencoded"
TOO_LARGE = {"X-Large": "x" * 33_000}


@pytest.fixture
def service(cast: Service) -> Service:
    return cast


def one_line(lines: Lines, surface: str) -> MutableMapping[str, Any]:
    """The log line of the only request."""
    (line,) = [line for line in lines if line["event"] == "request"]
    assert set(line) == FIELDS | OWN_FIELDS.get(surface, set())
    assert line["id"] == "the-id"
    assert line["log_level"] == "info"
    return line


def counted(service: Service, route: str, method: str, status: int) -> float | None:
    labels = {"route": route, "method": method, "status": str(status)}
    return service.app.metrics.registry.get_sample_value("bowerbird_requests_total", labels)


async def ask(client: httpx.AsyncClient, method: str, path: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = await client.request(method, path, headers={"X-Request-Id": "the-id", **named})
    assert response.headers["x-request-id"] == "the-id"
    return response


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "BREW"])
@pytest.mark.parametrize("surface", PATHS)
async def test_every_surface_rejects_headers_that_are_too_large(
    service: Service, logged: Lines, surface: str, method: str
) -> None:
    path = PATHS[surface][0]

    response = await ask(service.nobody, method, path, **TOO_LARGE)

    assert response.status_code == 400
    if method != "HEAD":
        assert "The request's headers are larger than 32 KiB." in response.text
    line = one_line(logged, surface)
    assert (line["method"], line["status"], line["account"]) == (method, 400, None)
    assert line["route"] == ("/mcp" if surface == "tool server" else "unknown")


@pytest.mark.parametrize("surface", PATHS)
async def test_every_surface_rejects_an_unknown_method(
    service: Service, logged: Lines, surface: str
) -> None:
    path, route, _ = PATHS[surface]

    response = await ask(service.alice.client, "BREW", path)

    assert response.status_code == 405
    *most, last = response.headers["allow"].split(", ")
    sentence = f"Method 'BREW' is not allowed; use {', '.join(most)} or {last}."
    assert sentence in response.text
    line = one_line(logged, surface)
    assert (line["method"], line["route"], line["status"]) == ("BREW", route, 405)
    assert line["bytes"] == len(response.content)
    metric_route = "/mcp unknown" if surface == "tool server" else route
    assert counted(service, metric_route, "other", 405) == 1


@pytest.mark.parametrize("accept", ["*/*", "text/html"])
@pytest.mark.parametrize("surface", [name for name, row in PATHS.items() if row[2]])
async def test_every_surface_returns_404_for_an_unknown_path(
    service: Service, logged: Lines, surface: str, accept: str
) -> None:
    path = PATHS[surface][2]
    assert path

    response = await ask(service.alice.client, "GET", path, Accept=accept)

    assert response.status_code == 404
    line = one_line(logged, surface)
    assert (line["route"], line["status"]) == ("unknown", 404)
    assert counted(service, "unknown", "GET", 404) == 1


@pytest.mark.parametrize("surface", ["REST", "tool server"])
async def test_the_key_is_checked_before_the_path_and_the_method(
    service: Service, logged: Lines, surface: str
) -> None:
    path, _, unknown = PATHS[surface]

    response = await ask(service.nobody, "BREW", unknown or path, Content_Length="9999999")

    assert response.status_code == 401
    line = one_line(logged, surface)
    assert (line["status"], line["account"]) == (401, None)


@pytest.mark.parametrize("surface", ["REST", "sandbox", "tool server"])
async def test_a_long_content_length_is_413(service: Service, logged: Lines, surface: str) -> None:
    path = {"REST": "/v1/labels/add", "sandbox": "/v1/sandbox/labels/add"}.get(surface, "/mcp")

    response = await ask(service.alice.client, "POST", path, Content_Length="9999999")

    assert response.status_code == 413
    most = "64 KiB" if surface == "sandbox" else "1 MiB"
    assert f"The body is larger than {most}." in response.text
    line = one_line(logged, surface)
    assert (line["route"], line["status"]) == (path, 413)
    assert line["account"] == (None if surface == "sandbox" else service.alice.account_id)


@pytest.mark.parametrize("surface", ["REST", "tool server", "unsubscribe page"])
async def test_an_internal_error_is_logged_with_the_reference_sent_to_the_caller(
    service: Service, logged: Lines, surface: str
) -> None:
    async def drop_tables(transaction: Transaction) -> None:
        for table in ("api_key", "digest_preference"):
            await transaction.run(f"DROP TABLE {table}", {})

    await service.database.write(drop_tables)

    response = await ask(service.alice.client, "POST", PATHS[surface][0])

    assert response.status_code == 500
    assert "logged with the reference the-id." in response.text
    assert one_line(logged, surface)["status"] == 500
    (fault,) = [line for line in logged if line["event"] == "fault"]
    assert fault["reference"] == "the-id"
    assert fault["exc_info"]


async def known_while_reading(
    serve: ASGIApp, path: str, headers: dict[bytes, bytes]
) -> list[object]:
    """The account in the scope, each time that the application asks for a part of the body."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [
            (b"host", b"localhost:8080"),
            (b"accept", b"application/json, text/event-stream"),
            (b"content-type", b"application/json" if b"authorization" in headers else _FORM),
            *headers.items(),
        ],
        "client": ("127.0.0.1", 1),
    }
    accounts: list[object] = []

    async def receive() -> MutableMapping[str, Any]:
        accounts.append(scope.get(ACCOUNT))
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(_: MutableMapping[str, Any]) -> None:
        pass

    await serve(scope, receive, send)
    return accounts


@pytest.mark.parametrize("path", ["/v1/labels/add", "/ingest/v1/bookmarks", "/mcp"])
async def test_the_server_knows_the_account_before_the_body(service: Service, path: str) -> None:
    key = f"Bearer {service.alice.key}".encode()

    read = await known_while_reading(service.app.asgi, path, {b"authorization": key})
    of_stranger = await known_while_reading(service.app.asgi, path, {b"authorization": key + b"x"})

    assert read == [service.alice.account_id]
    assert of_stranger == []


async def test_the_server_is_told_the_account_of_a_session_before_a_form_is_read(
    sqlite: Database, tmp_path: Path
) -> None:
    house = build(sqlite, tmp_path)
    cookies = (await house.owner()).client.cookies
    cookie = "; ".join([f"{name}={value}" for name, value in cookies.items()]).encode()

    (read,) = await known_while_reading(house.service.asgi, "/keys", {b"cookie": cookie})
    (of_stranger,) = await known_while_reading(house.service.asgi, "/keys", {})

    assert isinstance(read, int)
    assert of_stranger is None


async def test_nobody_is_known_where_no_key_is_needed(service: Service) -> None:
    key = {b"authorization": f"Bearer {service.alice.key}".encode()}

    assert await known_while_reading(service.app.asgi, "/v1/sandbox/labels/add", key) == [None]
