"""The sandbox: writes that change nothing, and the headers of its answers."""

import asyncio
import gzip
import itertools
import json
from typing import Any

import httpx
import pytest

from bowerbird.sandbox import router
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.settings import Settings
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call
from tests.support.in_turn import in_turn
from tests.support.offenders import Offenders
from tests.support.programs import trying
from tests.support.programs.trying import Visitor
from tests.support.service import CheckedTransport, Service

pytestmark = pytest.mark.anyio


POST = trying.posts()[0]

ADD = "/v1/sandbox/labels/add"

OTHER = trying.posts()[5]


def _body(name: str, *post_ids: str) -> dict[str, Any]:
    return {"label_name": name, "tweet_ids": list(post_ids)}


async def test_64_kib_are_accepted_and_one_byte_more_is_413(visitor: Visitor) -> None:
    body = json.dumps(_body("new here", POST["post_id"])).encode()
    most = 64 * 1024

    for content, headers in (
        (body.ljust(most), {}),
        (gzip.compress(body.ljust(most)), {"Content-Encoding": "gzip"}),
    ):
        response = await visitor.client.post(ADD, content=content, headers=headers)
        assert response.status_code == 200
    for content, headers in (
        (body.ljust(most + 1), {}),
        (gzip.compress(body.ljust(most + 1)), {"Content-Encoding": "gzip"}),
    ):
        response = await visitor.client.post(ADD, content=content, headers=headers)
        assert response.status_code == 413
        assert "The body is larger than 64 KiB." in response.text


async def test_an_added_label_appears_only_in_the_response(visitor: Visitor) -> None:
    before = await visitor.everything()

    response = await visitor.post("/labels/add", _body("new here", POST["post_id"], "404"))

    assert response.status_code == 200
    assert response.json() == {
        "status": True,
        "data": [{"post_id": POST["post_id"], "tags": ["birds", "new here"]}],
        "meta": {
            "message": "Labelled 1 post.",
            "affected": 1,
            "not_found": ["404"],
            "sandbox": True,
        },
    }
    assert await visitor.everything() == before


async def test_a_batch_sees_only_its_own_operations(visitor: Visitor) -> None:
    before = await visitor.everything()
    operations = [
        {"op": "add", **_body("one", POST["post_id"])},
        {"op": "remove", **_body("one", POST["post_id"])},
        {"op": "remove", **_body("one", OTHER["post_id"])},
        {"op": "add", "tweet_ids": [POST["post_id"]]},
    ]

    for _ in range(2):
        response = await visitor.post("/labels/batch", {"operations": operations})

        assert response.status_code == 207
        results = response.json()["data"]["results"]
        assert [result["ok"] for result in results] == [True, True, True, False]
        assert [result.get("affected") for result in results] == [1, 1, 0, None]
        assert results[3]["error"]["code"] == "INVALID_REQUEST"
        assert response.json()["meta"] == {
            "message": "1 of 4 operations failed.",
            "sandbox": True,
        }
    assert await visitor.everything() == before


async def test_concurrent_writes_do_not_see_each_other(visitor: Visitor) -> None:
    names = [f"label {number}" for number in range(30)]
    before = await visitor.everything()

    async def add(name: str) -> Any:
        return (await visitor.post("/labels/add", _body(name, POST["post_id"]))).json()

    async def read() -> Any:
        return (await visitor.get(f"/bookmarks/{POST['post_id']}")).json()["data"]["tags"]

    *responses, shown = await asyncio.gather(*map(add, names), read())

    for name, response in zip(names, responses, strict=True):
        assert response["data"][0]["tags"] == sorted(["birds", name])
    assert shown == ["birds"]
    assert await visitor.everything() == before


@in_turn("key", ["k", "not a key", "", "x" * 300])
async def test_an_idempotency_key_is_ignored(visitor: Visitor, key: str) -> None:
    for name in ("one", "two"):
        response = await visitor.post(
            "/labels/add", _body(name, POST["post_id"]), **{"Idempotency-Key": key}
        )
        assert response.status_code == 200
        assert response.json()["data"][0]["tags"] == ["birds", name]
        assert "idempotency-replayed" not in response.headers


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
