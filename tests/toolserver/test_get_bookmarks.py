"""`get_bookmarks` and `count_bookmarks`."""

from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, refusal, result_of

pytestmark = pytest.mark.anyio


async def test_it_shows_posts_in_full_in_the_order_asked_for(alice: Member) -> None:
    first = await alice.save(text="one " * 200)
    second = await alice.save(text="two", is_read=True, is_archived=True)
    wanted = [second["post_id"], "404", first["post_id"], second["post_id"]]

    answer = await call(alice, "get_bookmarks", post_ids=wanted)

    assert [p["post_id"] for p in answer["bookmarks"]] == [second["post_id"], first["post_id"]]
    assert answer["bookmarks"][1]["tweet_details"]["text"] == "one " * 200
    assert answer["not_found"] == ["404"]
    assert answer["left_out"] == []
    assert answer["truncated"] is False


async def test_texts_are_cut_where_it_is_asked_for(alice: Member) -> None:
    saved = await alice.save(text="x" * 900)

    answer = await call(alice, "get_bookmarks", post_ids=[saved["post_id"]], max_chars=300)

    assert len(answer["bookmarks"][0]["tweet_details"]["text"]) == 300


async def test_what_does_not_fit_is_named_so_that_it_can_be_asked_for(alice: Member) -> None:
    saved = [make.post(text="long " * 700) for _ in range(20)]
    await alice.save_all(saved)
    wanted = [post["post_id"] for post in saved]
    seen: list[str] = []

    while wanted:
        result = await result_of(alice, "get_bookmarks", post_ids=wanted)
        answer = result["structuredContent"]
        assert len(result["content"][0]["text"].encode()) <= 26_000
        seen += [post["post_id"] for post in answer["bookmarks"]]
        assert answer["truncated"] is bool(answer["left_out"])
        wanted = answer["left_out"]

    assert seen == [post["post_id"] for post in saved]


@in_turn(
    ("arguments", "sentence"),
    [
        ({}, "INVALID_REQUEST: post_ids: is missing."),
        ({"post_ids": []}, "INVALID_REQUEST: post_ids: must be an array of 1 to 20, got 0."),
        ({"post_ids": ["1"] * 21}, "INVALID_REQUEST: post_ids: must be an array of 1 to 20"),
        ({"post_ids": "1"}, "INVALID_REQUEST: post_ids: must be an array of 1 to 20, got '1'."),
        ({"post_ids": [12]}, "INVALID_REQUEST: post_ids[0]: must be a string: a JSON number"),
        ({"post_ids": ["1", None]}, "INVALID_REQUEST: post_ids[1]: must be a post id"),
        ({"post_ids": ["1"], "max_chars": 5}, "INVALID_REQUEST: max_chars: must be from 280 to"),
        ({"post_ids": ["404", "a\x00b"]}, "INVALID_REQUEST: post_ids[1]: must be a post id, which"),
        (
            {"post_ids": ["1" * 41]},
            "INVALID_REQUEST: post_ids[0]: must be a post id, which is 1 to",
        ),
        ({"post_ids": ["404"]}, "NOT_FOUND: No bookmark '404' on this account."),
    ],
)
async def test_what_is_wrong_is_named(
    alice: Member, arguments: dict[str, Any], sentence: str
) -> None:
    assert (await refusal(alice, "get_bookmarks", **arguments)).startswith(sentence)


async def test_it_counts_as_the_list_would(alice: Member) -> None:
    await alice.save_all([make.post(author="bea"), make.post(is_read=True), make.post()])

    assert await call(alice, "count_bookmarks") == {
        "count": 2,
        "total": 3,
        "unread": 2,
        "archived": 0,
        "filters": {"is_unread_only": True, "hide_archived": True},
    }
    narrowed = await call(alice, "count_bookmarks", author="bea")
    assert narrowed["count"] == 1
    assert narrowed["filters"]["author"] == "bea"
    assert (await refusal(alice, "count_bookmarks", limit=5)).startswith("INVALID_REQUEST: 'limit'")
