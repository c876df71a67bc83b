"""POST /v1/labels/remove."""

from typing import Any

import pytest

from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_a_label_is_removed_from_posts(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x", "y"])
    await alice.save(post_id="2", tags=["x"])

    response = await writing.remove(alice, "X", "2", "1")

    assert response.status_code == 200
    assert response.json() == {
        "status": True,
        "data": [{"post_id": "2", "tags": None}, {"post_id": "1", "tags": ["y"]}],
        "meta": {"message": "Unlabelled 2 posts.", "affected": 2, "not_found": []},
    }
    assert await writing.labels(alice) == {"x": 0, "y": 1}


async def test_the_next_read_shows_the_remaining_tags(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    assert await alice.ids(tag="x") == ["1"]

    await writing.remove(alice, "x", "1")

    assert await writing.tags(alice, "1") is None
    assert (await alice.listed())["data"][0]["tags"] is None
    assert await alice.ids(tag="x") == []
    assert await writing.recount(alice) == []


async def test_adding_and_removing_a_label_restores_the_bookmark(alice: Member) -> None:
    await alice.save(post_id="1", tags=["y"])
    before = (await alice.get("/v1/bookmarks/1")).content

    await writing.add(alice, "x", "1")
    await writing.remove(alice, "x", "1")

    assert (await alice.get("/v1/bookmarks/1")).content == before


async def test_removing_a_label_the_post_does_not_have_changes_nothing(alice: Member) -> None:
    await alice.save(post_id="1", tags=["y"])
    await alice.save(post_id="2", tags=["x"])
    before = (await alice.get("/v1/bookmarks")).headers["etag"]

    response = await writing.remove(alice, "x", "1")

    assert response.json()["data"] == [{"post_id": "1", "tags": ["y"]}]
    assert response.json()["meta"]["affected"] == 0
    assert (await alice.get("/v1/bookmarks")).headers["etag"] == before


async def test_a_label_can_be_given_by_id(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])

    body = {"tweet_ids": ["1"], "label_id": await writing.label_id(alice, "x")}
    response = await writing.send(alice, "POST", "/v1/labels/remove", body)

    assert response.json()["data"] == [{"post_id": "1", "tags": None}]


async def test_an_unknown_label_is_404(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    path = "/v1/labels/remove"

    by_name = await writing.remove(alice, "other", "1")
    by_id = await writing.send(alice, "POST", path, {"tweet_ids": ["1"], "label_id": "4711"})

    assert writing.refused(by_name) == writing.refused(by_id) == (404, "NOT_FOUND")
    assert "'other'" in writing.sentence(by_name)


async def test_unknown_posts_are_listed_and_repeated_ids_count_once(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])

    response = await writing.remove(alice, "x", "7", "1", "7", "1")

    assert response.json()["data"] == [{"post_id": "1", "tags": None}]
    assert response.json()["meta"]["affected"] == 1
    assert response.json()["meta"]["not_found"] == ["7"]


async def test_a_request_with_only_unknown_posts_is_404(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])

    response = await writing.remove(alice, "x", "7", "8")

    assert writing.refused(response) == (404, "NOT_FOUND")
    assert await writing.labels(alice) == {"x": 1}


@in_turn(
    ("body", "named"),
    [
        ({"tweet_ids": ["1"]}, "label_name: "),
        ({"tweet_ids": ["1"], "label_name": " "}, "label_name: "),
        ({"tweet_ids": ["1"], "label_id": 7}, "label_id: "),
        ({"label_name": "x"}, "tweet_ids: "),
        ({"tweet_ids": [], "label_name": "x"}, "tweet_ids: "),
        ({"tweet_ids": ["1"] * 1_001, "label_name": "x"}, "tweet_ids: "),
        ({"tweet_ids": ["1", 1], "label_name": "x"}, "tweet_ids[1]: "),
        ([], "body: "),
    ],
)
async def test_an_invalid_body_is_refused_and_its_field_named(
    alice: Member, body: Any, named: str
) -> None:
    await alice.save(post_id="1", tags=["x"])

    response = await writing.send(alice, "POST", "/v1/labels/remove", body)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith(named)
    assert await writing.labels(alice) == {"x": 1}


async def test_the_free_plan_is_refused(free: Member) -> None:
    await free.save(post_id="1", tags=["x"])

    response = await writing.remove(free, "x", "1")

    assert writing.refused(response) == (402, "SUBSCRIPTION_REQUIRED")
    assert await writing.tags(free, "1") == ["x"]


async def test_removing_a_label_never_touches_another_account(alice: Member, bob: Member) -> None:
    await bob.save(post_id="1", tags=["x"])
    await alice.save(post_id="1", tags=["y"])

    assert (await writing.remove(alice, "x", "1")).status_code == 404
    await writing.remove(alice, "y", "1")

    assert await writing.tags(bob, "1") == ["x"]
    assert await writing.labels(bob) == {"x": 1}
