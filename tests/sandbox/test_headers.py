"""What every answer of the sandbox carries, and which routes it has."""

import itertools

import httpx
import pytest

from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.surface import LIMITS, SandboxSurface
from bowerbird.settings import Settings
from bowerbird.wire.calls import Call, Endpoint
from bowerbird.wire.replies import Reply
from tests.support.offenders import Offenders
from tests.support.service import CheckedTransport, Service
from tests.support.trying import Visitor

pytestmark = pytest.mark.anyio

ALLOWED = {
    "/bookmarks": "GET, HEAD, OPTIONS",
    "/bookmarks/1": "GET, HEAD, OPTIONS",
    "/labels": "GET, HEAD, OPTIONS",
    "/labels/add": "POST, OPTIONS",
    "/labels/remove": "POST, OPTIONS",
    "/labels/batch": "POST, OPTIONS",
    "/views": "GET, HEAD, OPTIONS",
    "/views/birds": "GET, HEAD, OPTIONS",
    "/views/birds/bookmarks": "GET, HEAD, OPTIONS",
    "/exports/pdf": "POST, OPTIONS",
    "/exports/csv": "POST, OPTIONS",
    "/exports/json": "POST, OPTIONS",
    "/exports/1": "GET, HEAD, OPTIONS",
    "/exports/1/file": "GET, HEAD, OPTIONS",
}
ELSEWHERE = (
    *("", "/", "/nothing", "/bookmarks/", "/bookmarks/update", "/bookmarks/1/restore"),
    *("/labels/1", "/labels/1/merge", "/account", "/digests", "/sandbox/bookmarks", "/%00"),
)


async def test_a_route_takes_its_methods_and_no_other(visitor: Visitor) -> None:
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "BREW")
    offenders = Offenders()
    for path, method in itertools.product(ALLOWED, methods):
        response = await visitor.client.request(method, f"/v1/sandbox{path}")
        with offenders.check((path, method)):
            if method in ALLOWED[path]:
                assert response.status_code != 405
            else:
                assert response.status_code == 405
                assert response.headers["allow"] == ALLOWED[path]
                assert response.json()["code"] == "METHOD_NOT_ALLOWED"

    assert offenders == {}


async def test_there_is_nothing_else(visitor: Visitor) -> None:
    offenders = Offenders()
    for path, method in itertools.product(ELSEWHERE, ("GET", "PATCH", "POST", "DELETE")):
        response = await visitor.client.request(method, f"/v1/sandbox{path}")
        with offenders.check((path, method)):
            assert response.status_code in (404, 405)
            assert response.json()["meta"] == {"sandbox": True}

    assert offenders == {}


async def test_the_count_of_the_api_is_not_among_its_routes(visitor: Visitor) -> None:
    response = await visitor.get("/bookmarks/count")

    assert response.status_code == 404
    assert response.json()["code"] == "NOT_FOUND"


async def test_a_preflight_is_answered(visitor: Visitor) -> None:
    asked = {
        "Origin": "https://pages.example.com",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type, x-service-sandbox-error",
    }

    offenders = Offenders()
    for path in (*ALLOWED, "/nothing"):
        response = await visitor.client.options(f"/v1/sandbox{path}", headers=asked)
        with offenders.check(path):
            assert response.status_code == 204
            assert response.headers["access-control-allow-origin"] == "*"
            assert "X-Service-Sandbox-Error" in response.headers["access-control-allow-headers"]
            assert response.headers["x-service-environment"] == "sandbox"
            if path in ALLOWED:
                assert response.headers["access-control-allow-methods"] == ALLOWED[path]

    assert offenders == {}


async def test_a_browser_may_read_where_an_answer_is_from(visitor: Visitor) -> None:
    for path in ("/bookmarks", "/nothing", "/bookmarks?limit=0"):
        response = await visitor.get(path)
        assert response.headers["access-control-allow-origin"] == "*"
        assert "X-Service-Environment" in response.headers["access-control-expose-headers"]


@pytest.mark.parametrize("key", ["Bearer nonsense", "Basic x", "", "Bearer bwr_"])
async def test_a_key_is_not_looked_at(visitor: Visitor, key: str) -> None:
    plain = await visitor.get("/bookmarks")

    response = await visitor.client.get("/v1/sandbox/bookmarks", headers={"Authorization": key})

    assert response.status_code == 200
    assert response.content == plain.content


async def test_with_a_real_key_it_shows_nothing_of_the_account(cast: Service) -> None:
    await cast.alice.save(post_id="42", text="geheim")

    response = await cast.alice.get("/v1/sandbox/bookmarks", q="geheim")
    by_id = await cast.alice.get("/v1/sandbox/bookmarks/42")

    assert response.json()["data"] == []
    assert by_id.status_code == 404


async def test_it_costs_a_free_account_nothing(cast: Service) -> None:
    for _ in range(Settings().free_calls_per_month + 1):
        assert (await cast.free.get("/v1/sandbox/labels")).status_code == 200

    assert (await cast.free.get("/v1/labels")).status_code == 200


async def test_a_fault_of_ours_is_marked_too(visitor: Visitor) -> None:
    async def broken(_: Call) -> Reply:
        raise ZeroDivisionError

    fixtures = Fixtures()
    trial = SandboxSurface(
        [Endpoint("GET", "/v1/sandbox/labels", broken)],
        fixtures,
        Settings(),
        calls=visitor.app.calls,
        measures=visitor.app.measures,
        limits=LIMITS,
    )

    async with httpx.AsyncClient(
        transport=CheckedTransport(trial), base_url="http://test"
    ) as client:
        response = await client.get("/v1/sandbox/labels")

    assert response.status_code == 500
    assert response.json()["code"] == "INTERNAL_ERROR"
    assert "ZeroDivisionError" not in response.text
    assert "Simulated" not in response.text
    await fixtures.database.close()


async def test_the_api_does_not_claim_to_be_the_sandbox(cast: Service) -> None:
    await cast.alice.save(post_id="42")

    for path in ("/v1/bookmarks", "/v1/bookmarks/42", "/v1/labels", "/v1/nothing", "/v1/sandboxes"):
        response = await cast.alice.get(path)
        assert "x-service-environment" not in response.headers
        assert "sandbox" not in response.json().get("meta", {})
