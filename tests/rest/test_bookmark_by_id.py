"""GET and PATCH /v1/bookmarks/{post_id}, and POST /v1/bookmarks/update."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_shows_the_bookmark_as_the_list_does(alice: Member) -> None:
    record = await alice.save(text="näh\n👩‍👩‍👧", tags=["b", "a"], sort_index=2**62 + 1)
    (listed,) = (await alice.listed())["data"]

    response = await alice.get(f"/v1/bookmarks/{record['post_id']}")

    assert response.json() == {"status": True, "data": listed, "meta": {"content_state": "whole"}}
    unknown = await alice.get("/v1/bookmarks/4711")
    assert unknown.json()["error"] == "No post '4711' on this account."


async def test_every_id_of_digits_is_an_id_of_its_own(alice: Member) -> None:
    for post_id in ("42", "042", "9" * 40):
        await alice.save(post_id=post_id, is_read=True, is_archived=True)

        data = (await alice.get(f"/v1/bookmarks/{post_id}")).json()["data"]

        assert (data["post_id"], data["is_read"], data["is_archived"]) == (post_id, True, True)


UPDATE = "/v1/bookmarks/update"


async def _counts(member: Member) -> dict[str, int]:
    counts: dict[str, int] = (await member.get("/v1/bookmarks/count")).json()["data"]
    return counts


# One bookmark


async def test_marking_a_bookmark_returns_the_changed_bookmark(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    before = await writing.bookmark(alice, "1")

    response = await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": True})

    assert response.status_code == 200
    changed = {"status": True, "data": {**before, "is_read": True}, "meta": {}}
    assert writing.without_change(response) == changed
    assert await writing.bookmark(alice, "1") == {**before, "is_read": True}


async def test_an_omitted_flag_is_left_unchanged(alice: Member) -> None:
    await alice.save(post_id="1", is_read=True, is_archived=True)

    one = await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": False})
    two = await writing.send(
        alice, "PATCH", "/v1/bookmarks/1", {"is_read": None, "is_archived": False}
    )

    assert one.json()["data"]["is_archived"] is True
    assert two.json()["data"]["is_read"] is False
    assert two.json()["data"]["is_archived"] is False


@in_turn(
    ("body", "named"),
    [
        ({}, "is_read: "),
        ({"is_read": None}, "is_read: "),
        ({"is_read": "true"}, "is_read: "),
        ({"is_read": 1}, "is_read: "),
        ({"is_read": True, "is_archived": 0}, "is_archived: "),
        ({"is_archived": []}, "is_archived: "),
        ({"is_read": True, "tags": ["x"]}, "Unknown field 'tags'. "),
        ([], "body: "),
    ],
)
async def test_an_invalid_mark_is_refused_and_the_field_named(
    alice: Member, body: Any, named: str
) -> None:
    await alice.save(post_id="1")
    before = await writing.bookmark(alice, "1")

    one = await writing.send(alice, "PATCH", "/v1/bookmarks/1", body)
    many = await writing.send(
        alice, "POST", UPDATE, {"tweet_ids": ["1"], **body} if isinstance(body, dict) else body
    )

    for response in (one, many):
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith(named)
    assert await writing.bookmark(alice, "1") == before


# Many bookmarks


async def test_many_bookmarks_are_marked_in_one_request(alice: Member) -> None:
    for post_id in ("1", "2", "3"):
        await alice.save(post_id=post_id, is_read=post_id == "2")
    before = await writing.version(alice)

    body = {"tweet_ids": ["3", "2", "7", "3"], "is_read": True}
    response = await writing.send(alice, "POST", UPDATE, body)

    assert response.status_code == 200
    assert writing.without_change(response) == {
        "status": True,
        "data": [
            {"post_id": "3", "is_read": True, "is_archived": False},
            {"post_id": "2", "is_read": True, "is_archived": False},
        ],
        "meta": {"message": "Changed 1 bookmark.", "affected": 1, "not_found": ["7"]},
    }
    assert await alice.ids() == ["1"]
    assert await writing.version(alice) == before + 1


async def test_a_request_with_only_unknown_bookmarks_returns_404(alice: Member) -> None:
    response = await writing.send(alice, "POST", UPDATE, {"tweet_ids": ["7"], "is_read": True})

    assert writing.refused(response) == (404, "NOT_FOUND")


@in_turn(
    ("ids", "named"),
    [
        (None, "tweet_ids: "),
        ([], "tweet_ids: "),
        ("1", "tweet_ids: "),
        (["1"] * 1_001, "tweet_ids: "),
        (["1", 1], "tweet_ids[1]: "),
        (["1", "1", ""], "tweet_ids[2]: "),
    ],
)
async def test_invalid_ids_are_refused_and_named(alice: Member, ids: Any, named: str) -> None:
    await alice.save(post_id="1")

    response = await writing.send(alice, "POST", UPDATE, {"tweet_ids": ids, "is_read": True})

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith(named)
    assert await alice.ids() == ["1"]


FLAGS = st.sampled_from([None, True, False])


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    marks=st.lists(
        st.tuples(st.lists(st.sampled_from("123"), min_size=1), FLAGS, FLAGS), max_size=6
    )
)
async def test_the_counters_match_a_full_recount(
    alice: Member, marks: list[tuple[list[str], bool | None, bool | None]]
) -> None:
    state = {post_id: [False, False] for post_id in "123"}
    await alice.save_all(
        [{"post_id": p, "tweet_details": {}, "is_read": False, "is_archived": False} for p in state]
    )

    for ids, is_read, is_archived in marks:
        body = {"tweet_ids": ids, "is_read": is_read, "is_archived": is_archived}
        await writing.send(alice, "POST", UPDATE, body)
        for post_id in ids:
            for place, value in enumerate((is_read, is_archived)):
                state[post_id][place] = state[post_id][place] if value is None else value

    assert await _counts(alice) == {
        "count": sum(not read and not archived for read, archived in state.values()),
        "total": 3,
        "unread": sum(not read for read, _ in state.values()),
        "archived": sum(archived for _, archived in state.values()),
    }
    assert await writing.recount(alice) == []
