"""Writes in the sandbox: the responses of the API, but every change is rolled back."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from tests.support import trying
from tests.support.in_turn import in_turn
from tests.support.trying import Visitor

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
