"""What the contract says about labels, Smart Views and idempotency: one test per sentence."""

from typing import Any

import pytest

from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.published import document
from tests.support.service import Member
from tests.support.writing import HOUR, operation

pytestmark = pytest.mark.anyio


# Labels


async def test_get_labels_returns_the_labels_of_the_account(alice: Member) -> None:
    await alice.save(tags=["x"])

    response = await alice.get("/v1/labels")

    assert response.status_code == 200
    assert [label["label_name"] for label in response.json()["data"]] == ["x"]


async def test_add_attaches_the_label_to_the_given_posts(alice: Member) -> None:
    await alice.save(post_id="1")
    body = {"tweet_ids": ["1"], "label_name": "x"}

    response = await writing.send(alice, "POST", "/v1/labels/add", body)

    assert response.status_code == 200
    assert (await writing.bookmark(alice, "1"))["tags"] == ["x"]


async def test_remove_detaches_the_label(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    body = {"tweet_ids": ["1"], "label_name": "x"}

    response = await writing.send(alice, "POST", "/v1/labels/remove", body)

    assert response.status_code == 200
    assert (await writing.bookmark(alice, "1"))["tags"] is None


async def test_the_tag_parameter_of_the_list_filters_by_tag(alice: Member) -> None:
    await alice.save(post_id="1")
    await alice.save(post_id="2")
    await writing.add(alice, "x", "1")

    assert await alice.ids(tag="x") == ["1"]


@in_turn("path", ["/v1/labels/add", "/v1/labels/remove", "/v1/labels/batch"])
async def test_label_writes_require_a_paid_plan(free: Member, path: str) -> None:
    await free.set_plan("free")
    await free.save(post_id="1", tags=["x"])
    body = {
        "tweet_ids": ["1"],
        "label_name": "x",
        "operations": [operation("add", "y", "1")],
    }

    refused = await writing.send(free, "POST", path, body)
    await free.set_plan("pro")
    served = await writing.send(free, "POST", path, body)

    assert writing.refused(refused) == (402, "SUBSCRIPTION_REQUIRED")
    assert isinstance(refused.json()["upgrade_url"], str)
    assert served.status_code == 200


async def test_a_label_of_another_account_is_not_found(alice: Member, bob: Member) -> None:
    await bob.save(tags=["theirs"])
    await alice.save(post_id="1")

    response = await writing.remove(alice, "theirs", "1")

    assert writing.refused(response) == (404, "NOT_FOUND")


async def test_an_invalid_body_is_400_and_the_message_names_the_field(alice: Member) -> None:
    await alice.save(post_id="1")

    for body, name in (({"tweet_ids": ["1"]}, "label_name"), ({"label_name": "x"}, "tweet_ids")):
        response = await writing.send(alice, "POST", "/v1/labels/add", body)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert name in writing.sentence(response)


# Batch


async def test_each_operation_is_executed_and_reported_separately(alice: Member) -> None:
    await alice.save(post_id="1", tags=["old"])

    response = await writing.batch(
        alice, operation("add", "x", "1"), operation("remove", "old", "1")
    )

    data = response.json()["data"]
    assert [result["index"] for result in data["results"]] == [0, 1]
    assert [result["op"] for result in data["results"]] == ["add", "remove"]
    assert (response.status_code, response.json()["status"]) == (200, True)
    assert (await writing.bookmark(alice, "1"))["tags"] == ["x"]


async def test_when_some_fail_the_response_is_207_and_says_how_many(alice: Member) -> None:
    await alice.save(post_id="1")

    response = await writing.batch(
        alice, operation("add", "x", "1"), operation("add", "y", "7"), operation("add", "z", "8")
    )

    body = response.json()
    assert response.status_code == 207
    assert body["status"] is True
    assert "2 of 3" in body["meta"]["message"]
    assert (body["data"]["succeeded"], body["data"]["failed"]) == (1, 2)


async def test_a_result_has_the_documented_fields(alice: Member) -> None:
    await alice.save(post_id="1")

    response = await writing.batch(
        alice, operation("add", "x", "1"), {"op": "add", "tweet_ids": ["1"]}
    )

    data = response.json()["data"]
    good, bad = data["results"]
    assert data.keys() == {"results", "succeeded", "failed"}
    assert good.keys() == {"index", "op", "ok", "affected", "data"}
    assert (type(good["affected"]), type(good["data"])) == (int, list)
    assert bad.keys() == {"index", "op", "ok", "error"}
    assert bad["error"].keys() == {"code", "message"}
    assert (bad["ok"], bad["error"]["code"]) == (False, "INVALID_REQUEST")


async def test_a_batch_has_at_most_50_operations(alice: Member) -> None:
    await alice.save(post_id="1")
    operations = [operation("add", str(number), "1") for number in range(51)]

    assert (await writing.batch(alice, *operations[:50])).status_code == 200
    response = await writing.batch(alice, *operations)
    assert writing.refused(response) == (400, "INVALID_REQUEST")


# Smart Views


async def test_get_views_returns_the_views_of_the_account(alice: Member) -> None:
    await writing.view(alice, "Cats")

    response = await alice.get("/v1/views")

    assert response.status_code == 200
    assert [view["slug"] for view in response.json()["data"]] == ["cats"]


async def test_a_view_is_addressed_by_its_slug(alice: Member) -> None:
    await writing.view(alice, "Cats")

    response = await alice.get("/v1/views/cats")

    assert response.status_code == 200
    assert response.json()["data"]["slug"] == "cats"


async def test_the_bookmarks_of_a_view_have_the_same_shape_as_the_list(alice: Member) -> None:
    for _ in range(3):
        await alice.save(tags=["x"])
    await writing.view(alice, "Cats", base_query={"tag": "x"})

    shown = (await alice.get("/v1/views/cats/bookmarks", limit=2)).json()

    listed = await alice.listed(tag="x", limit=2)
    assert shown["data"] == listed["data"]
    assert shown["meta"].keys() == listed["meta"].keys()
    assert shown["meta"]["total_count"] == 3
    assert isinstance(shown["meta"]["next_cursor"], str)


async def test_a_view_of_another_account_is_not_found(alice: Member, bob: Member) -> None:
    await writing.view(bob, "Cats")

    for path in ("/v1/views/cats", "/v1/views/cats/bookmarks"):
        assert writing.refused(await alice.get(path)) == (404, "NOT_FOUND")


# Idempotency


async def _add(member: Member, name: str, key: str = "k") -> Any:
    body = {"tweet_ids": ["1"], "label_name": name}
    return await writing.send(member, "POST", "/v1/labels/add", body, key=key)


async def test_the_response_is_stored_for_24_hours(alice: Member) -> None:
    await alice.save(post_id="1")
    await _add(alice, "x")

    alice.clock.now += 24 * HOUR
    kept = await _add(alice, "x")
    alice.clock.now += HOUR
    gone = await _add(alice, "x")

    assert "idempotency-replayed" in kept.headers
    assert "idempotency-replayed" not in gone.headers


async def test_a_retry_returns_the_stored_response_and_changes_nothing(alice: Member) -> None:
    await alice.save(post_id="1")
    first = await _add(alice, "x")
    assert "idempotency-replayed" not in first.headers
    assert await writing.labels(alice) == {"x": 1}
    await writing.remove(alice, "x", "1")

    again = await _add(alice, "x")

    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first.content
    assert await writing.tags(alice, "1") is None


async def test_a_retry_with_a_different_body_is_422(alice: Member) -> None:
    await alice.save(post_id="1")
    await _add(alice, "x")

    response = await _add(alice, "y")

    assert response.status_code == 422
    assert response.json()["status"] is False
    assert await writing.labels(alice) == {"x": 1}


async def test_keys_are_scoped_to_the_account(alice: Member, bob: Member) -> None:
    for member, name in ((alice, "x"), (bob, "y")):
        await member.save(post_id="1")
        assert (await _add(member, name)).status_code == 200


def test_every_post_put_and_patch_accepts_the_header() -> None:
    for path, item in document()["paths"].items():
        for method in {"post", "put", "patch"} & item.keys():
            listed = item[method].get("parameters", [])
            named = {(p["in"], p["name"]) for p in listed if "name" in p}
            assert ("header", "Idempotency-Key") in named, (method, path)
