"""Deprecated routes send deprecation headers. No real route is deprecated, so these are fake."""

from datetime import date, timedelta

import httpx
import pytest

from bowerbird import app
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.wire import deprecation
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.deprecation import BadDeprecation, Deprecation
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import JSON, Reply
from bowerbird.wire.router import api
from bowerbird.wire.routes import ApiRoute, Call
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

SITE = "https://birds.example.com"
SINCE, SUNSET = date(2026, 7, 1), date(2026, 12, 28)
OLD = Deprecation(
    method="GET", path="/v1/old/{name}", since=SINCE, sunset=SUNSET, note="/docs/moving"
)
TOLD = {
    "deprecation": "Wed, 01 Jul 2026 00:00:00 GMT",
    "sunset": "Mon, 28 Dec 2026 00:00:00 GMT",
    "link": '<https://birds.example.com/docs/moving>; rel="deprecation"',
}


async def _answer(call: Call) -> Reply:
    if call.path_params.get("name") == "missing":
        raise Refusal(Code.NOT_FOUND, "Not here.")
    if call.path_params.get("name") == "broken":
        raise RuntimeError
    return Reply(200, [JSON], envelope.success({}))


ENDPOINTS = [
    ApiRoute("GET", "/v1/old/{name}", _answer),
    ApiRoute("POST", "/v1/old/{name}", _answer),
    ApiRoute("GET", "/v1/new", _answer),
]
ROUTES = [(endpoint.method, endpoint.path) for endpoint in ENDPOINTS]


def _client(cast: Service, member: Member | None, *table: Deprecation) -> httpx.AsyncClient:
    accounts = AccountStore(cast.database)
    surface = api(
        ENDPOINTS,
        authenticate=Authenticator(accounts, cast.clock, SITE),
        calls=CallCounter(accounts, cast.clock, 100),
        metrics=RequestMetrics(),
        upgrade_url=SITE,
        deprecations=deprecation.headers_by_route(table, ROUTES, SITE),
    )
    headers = {"Authorization": f"Bearer {member.key}"} if member else {}
    transport = httpx.ASGITransport(app=surface)
    return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)


def _deprecation_headers(response: httpx.Response) -> dict[str, str]:
    return {name: response.headers[name] for name in TOLD if name in response.headers}


@pytest.mark.parametrize(
    ("method", "name", "status"),
    [
        ("GET", "kept", 200),
        ("HEAD", "kept", 200),
        ("GET", "missing", 404),
        ("GET", "broken", 500),
    ],
)
async def test_every_response_of_a_deprecated_route_has_the_headers(
    cast: Service, alice: Member, method: str, name: str, status: int
) -> None:
    async with _client(cast, alice, OLD) as client:
        response = await client.request(method, f"/v1/old/{name}")

    assert response.status_code == status
    assert _deprecation_headers(response) == TOLD


async def test_refused_calls_get_the_deprecation_headers_too(cast: Service, alice: Member) -> None:
    async with _client(cast, None, OLD) as nobody, _client(cast, alice, OLD) as client:
        refused = await nobody.get("/v1/old/kept")
        large = await client.get("/v1/old/kept", headers={"X-Large": "x" * 40_000})

    assert (refused.status_code, large.status_code) == (401, 400)
    assert _deprecation_headers(refused) == _deprecation_headers(large) == TOLD


async def test_other_methods_and_routes_are_not_deprecated(cast: Service, alice: Member) -> None:
    async with _client(cast, alice, OLD) as client:
        responses = [
            await client.post("/v1/old/kept"),
            await client.put("/v1/old/kept"),
            await client.get("/v1/new"),
            await client.get("/v1/nowhere"),
        ]

    assert [response.status_code for response in responses] == [200, 405, 200, 404]
    assert not any(_deprecation_headers(response) for response in responses)


async def test_a_route_works_after_its_sunset_until_removed(cast: Service, alice: Member) -> None:
    past = Deprecation(
        method="GET",
        path="/v1/old/{name}",
        since=date(2020, 1, 1),
        sunset=date(2021, 1, 1),
        note=SITE,
    )

    async with _client(cast, alice, past) as client:
        response = await client.get("/v1/old/kept")

    assert response.status_code == 200
    assert _deprecation_headers(response)["sunset"] == "Fri, 01 Jan 2021 00:00:00 GMT"


async def test_deprecating_a_version_marks_all_its_routes(cast: Service, alice: Member) -> None:
    version = Deprecation(
        method="*",
        path="/v1",
        since=SINCE,
        sunset=SUNSET + timedelta(days=90),
        note="https://elsewhere.example.com/v2",
    )

    async with _client(cast, alice, OLD, version) as client:
        old = await client.get("/v1/old/kept")
        new = await client.get("/v1/new")

    assert _deprecation_headers(old) == TOLD, "the earlier end is the one that matters"
    assert (
        _deprecation_headers(new)["link"] == '<https://elsewhere.example.com/v2>; rel="deprecation"'
    )
    assert deprecation.of_version([OLD, version], "v1") == version
    assert deprecation.of_version([OLD, version], "v2") is None


@in_turn(
    ("changes", "sentence"),
    [
        (
            {"sunset": SINCE + timedelta(days=179)},
            "GET /v1/bookmarks is deprecated on 2026-07-01 and ends on 2026-12-27: 179 days.",
        ),
        ({"sunset": SINCE - timedelta(days=1)}, "-1 days"),
        ({"path": "/v1/gone"}, "GET /v1/gone is deprecated, but there is no such route."),
        ({"note": "moving"}, "'moving' is not the address of a migration note"),
        ({"note": "/a>; rel=x"}, "is not the address of a migration note"),
        ({"note": "/a\r\nX: y"}, "is not the address of a migration note"),
    ],
)
async def test_an_invalid_deprecation_prevents_the_service_from_starting(
    cast: Service, changes: dict[str, object], sentence: str
) -> None:
    fields = {"method": "GET", "path": "/v1/bookmarks", "note": "/x"} | {
        "since": SINCE,
        "sunset": SUNSET,
    }
    row = Deprecation(**{**fields, **changes})  # type: ignore[arg-type] # the values have the right types

    with pytest.raises(BadDeprecation) as caught:
        app.build(Settings(), cast.database, cast.clock, deprecations=[row])

    assert sentence in str(caught.value)


VERSION = Deprecation(method="*", path="/v1", since=SINCE, sunset=SUNSET, note="/x")
LABELS = Deprecation(method="GET", path="/v1/labels", since=SINCE, sunset=SUNSET, note="/x")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (LABELS, {"/labels": True, "/bookmarks": False}),
        (VERSION, {"/labels": True, "/bookmarks": True, "/views": True}),
    ],
)
async def test_sandbox_routes_are_deprecated_with_their_api_routes(
    cast: Service, row: Deprecation, told: dict[str, bool]
) -> None:
    service = app.build(Settings(), cast.database, cast.clock, deprecations=[row])

    transport = httpx.ASGITransport(app=service.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        found = {path: await client.get(f"/v1/sandbox{path}") for path in told}
        document = (await client.get("/openapi.json")).json()

    assert {path: "sunset" in response.headers for path, response in found.items()} == told
    for path, is_told in told.items():
        for prefix in ("/v1", "/v1/sandbox"):
            operation = document["paths"][prefix + path]["get"]
            assert operation.get("deprecated", False) is is_told
            assert operation.get("x-sunset") == ("2026-12-28" if is_told else None)
            assert ("Sunset" in operation["responses"]["200"]["headers"]) is is_told
