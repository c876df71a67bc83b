"""The routes of the sandbox, and the headers of its responses."""

import itertools

import httpx
import pytest

from bowerbird.sandbox import router
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.settings import Settings
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call
from tests.support.in_turn import in_turn
from tests.support.offenders import Offenders
from tests.support.service import CheckedTransport, Service
from tests.support.trying import Visitor

pytestmark = pytest.mark.anyio

UNKNOWN_PATHS = (
    *("", "/", "/nothing", "/bookmarks/", "/bookmarks/update", "/bookmarks/1/restore"),
    "/bookmarks/count",
    *("/labels/1", "/labels/1/merge", "/account", "/digests", "/sandbox/bookmarks", "/%00"),
)


async def test_other_paths_are_not_found(visitor: Visitor) -> None:
    offenders = Offenders()
    for path, method in itertools.product(UNKNOWN_PATHS, ("GET", "PATCH", "POST", "DELETE")):
        response = await visitor.client.request(method, f"/v1/sandbox{path}")
        with offenders.check((path, method)):
            assert response.status_code in (404, 405)
            assert response.json()["meta"] == {"sandbox": True}

    assert offenders == {}


async def test_a_cors_preflight_succeeds(visitor: Visitor) -> None:
    preflight_headers = {
        "Origin": "https://pages.example.com",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type, x-service-sandbox-error",
    }

    offenders = Offenders()
    for path in ("/bookmarks", "/labels/add", "/exports/1/file", "/nothing"):
        response = await visitor.client.options(f"/v1/sandbox{path}", headers=preflight_headers)
        with offenders.check(path):
            assert response.status_code == 204
            assert response.headers["access-control-allow-origin"] == "*"
            assert "X-Service-Sandbox-Error" in response.headers["access-control-allow-headers"]
            assert response.headers["x-service-environment"] == "sandbox"

    assert offenders == {}


@in_turn("key", ["Bearer nonsense", "Basic x", "", "Bearer bwr_"])
async def test_the_authorization_header_is_ignored(visitor: Visitor, key: str) -> None:
    plain = await visitor.get("/bookmarks")

    response = await visitor.client.get("/v1/sandbox/bookmarks", headers={"Authorization": key})

    assert response.status_code == 200
    assert response.content == plain.content


async def test_a_real_key_does_not_give_access_to_the_account(cast: Service) -> None:
    await cast.alice.save(post_id="42", text="geheim")

    response = await cast.alice.get("/v1/sandbox/bookmarks", q="geheim")
    by_id = await cast.alice.get("/v1/sandbox/bookmarks/42")

    assert response.json()["data"] == []
    assert by_id.status_code == 404


async def test_sandbox_requests_do_not_count_as_calls_of_a_free_account(cast: Service) -> None:
    for _ in range(Settings().free_calls_per_month + 1):
        assert (await cast.free.get("/v1/sandbox/labels")).status_code == 200

    assert (await cast.free.get("/v1/labels")).status_code == 200


async def test_an_unexpected_error_also_has_the_sandbox_mark(visitor: Visitor) -> None:
    async def broken(_: Call) -> Reply:
        raise ZeroDivisionError

    fixtures = Fixtures()
    sandbox = router.serve(
        [ApiRoute("GET", "/v1/sandbox/labels", broken)],
        fixtures,
        Settings(),
        calls=visitor.app.calls,
        metrics=visitor.app.metrics,
    )

    async with httpx.AsyncClient(
        transport=CheckedTransport(sandbox), base_url="http://test"
    ) as client:
        response = await client.get("/v1/sandbox/labels")

    assert response.status_code == 500
    assert response.json()["code"] == "INTERNAL_ERROR"
    assert "ZeroDivisionError" not in response.text
    assert "Simulated" not in response.text
    await fixtures.database.close()
