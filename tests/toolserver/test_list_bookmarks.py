"""`list_bookmarks`: short pages without gaps, with the filters of the REST list."""

import json
from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, ids, refusal, result_of

pytestmark = pytest.mark.anyio


async def test_the_short_form_says_that_a_post_is_gone_or_removed(alice: Member) -> None:
    state = {
        "gone_at": "2026-07-01T00:00:00.000000+00:00",
        "removed_at": "2026-07-02T00:00:00.000000+00:00",
    }
    await alice.save(**state)

    (post,) = (await call(alice, "list_bookmarks"))["bookmarks"]

    assert (post["gone_at"], post["removed_at"]) == ("2026-07-01", "2026-07-02")


async def crawled(member: Member, **arguments: Any) -> list[str]:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        answer = await call(member, "list_bookmarks", **arguments, cursor=cursor)
        seen += [post["post_id"] for post in answer["bookmarks"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            return seen


async def test_new_posts_are_listed_in_a_short_form(alice: Member) -> None:
    saved = await alice.save(text="first light", author="ada", tags=["sky"])

    answer = await call(alice, "list_bookmarks")

    assert answer["bookmarks"] == [
        {
            "post_id": saved["post_id"],
            "author": "ada",
            "text": "first light",
            "posted_at": "2026-01-01",
            "bookmarked_at": "2026-07-18",
            "labels": ["sky"],
        }
    ]
    assert answer["count"] == answer["total_count"] == 1
    assert answer["next_cursor"] is None
    assert answer["truncated"] is False
    assert answer["filters"] == {"is_unread_only": True, "hide_archived": True}


async def test_a_long_post_takes_few_bytes_in_the_list(alice: Member) -> None:
    await alice.save(text="word " * 2_000, article={"title": "A title", "plain_text": "x" * 9_000})

    (post,) = (await call(alice, "list_bookmarks"))["bookmarks"]

    assert len(post["text"]) <= 280
    assert post["text"].endswith("word…")
    assert post["title"] == "A title"
    assert len(json.dumps(post)) < 700


async def test_detailed_returns_all_fields(alice: Member) -> None:
    await alice.save(text="whole", article={"title": "T", "plain_text": "y" * 3_000})

    answer = await call(alice, "list_bookmarks", response_format="detailed")

    shown = answer["bookmarks"][0]
    (whole,) = (await alice.listed())["data"]
    article = shown["tweet_details"].pop("article")
    assert len(article["plain_text"]) == 2_000
    assert article["title"] == "T"
    whole["tweet_details"].pop("article")
    assert (shown.pop("truncated"), shown.pop("text_length")) == (True, 3_000)
    assert shown == whole
    assert answer["truncated"] is True
    assert "get_bookmarks returns a post in full." in answer["advice"]


async def test_the_days_of_posts_are_those_of_the_filters(alice: Member) -> None:
    await call(alice, "update_digest_preferences", time_zone="Pacific/Auckland")
    await alice.save(
        bookmarked_at="2026-06-30T13:00:00+00:00", posted_at="2026-06-29T13:00:00+00:00"
    )
    await call(alice, "create_view", name="All")
    days = {"bookmarked_from": "2026-07-01", "bookmarked_to": "2026-07-01"}

    (listed,) = (await call(alice, "list_bookmarks", **days))["bookmarks"]
    (in_view,) = (await call(alice, "get_view_bookmarks", slug="all"))["bookmarks"]

    assert (listed["bookmarked_at"], listed["posted_at"]) == ("2026-07-01", "2026-06-30")
    assert in_view == listed


async def test_a_result_stays_within_its_size_and_its_cursor_skips_nothing(alice: Member) -> None:
    saved = [make.post(text="long " * 100, tags=["x" * 90, "y" * 90]) for _ in range(100)]
    await alice.save_all(saved)

    result = await result_of(alice, "list_bookmarks", limit=100)

    answer = result["structuredContent"]
    assert answer["truncated"] is True
    assert 20 < answer["count"] < 60
    assert f"Only {answer['count']} of 100 posts fit" in answer["advice"]
    assert len(result["content"][0]["text"].encode()) <= 26_000
    assert await crawled(alice, limit=100) == [post["post_id"] for post in saved[::-1]]


@in_turn(
    ("arguments", "sentence"),
    [
        ({"limit": 0}, "limit: must be a whole number from 1 to 100, got the number 0."),
        ({"q": "a\x00b"}, "q: contains U+0000, which no database can store."),
        ({"sort_by": "relevance"}, "sort_by: relevance needs a search."),
        ({"cursor": "abc"}, "cursor: 'abc' is not a cursor of this list"),
        ({"response_format": "long"}, "response_format: must be one of concise, detailed"),
        ({"autor": "x"}, "Unknown field 'autor'. Did you mean author? Allowed fields: is_unread"),
        ({"vector_search_term": "x"}, "Unknown field 'vector_search_term'. Allowed fields: "),
    ],
)
async def test_the_error_names_the_invalid_argument(
    alice: Member, arguments: dict[str, Any], sentence: str
) -> None:
    message = await refusal(alice, "list_bookmarks", **arguments)

    assert message.startswith(f"INVALID_REQUEST: {sentence}")
    assert message.endswith("Fix the argument and call again.")


async def test_numbers_and_flags_sent_as_strings_are_accepted(alice: Member) -> None:
    await alice.save_all([make.post() for _ in range(3)])

    assert len(await ids(alice, "list_bookmarks", limit="2", is_unread_only="true")) == 2
    assert len(await ids(alice, "list_bookmarks", limit=1.0)) == 1
    assert len(await ids(alice, "list_bookmarks", author=None, label=None)) == 3
