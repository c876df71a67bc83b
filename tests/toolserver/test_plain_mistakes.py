"""Mistakes that models make often: what the answer says to do instead."""

from typing import Any

import pytest

from endurance.agent_trial.schemas import strict
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, published, refusal

pytestmark = pytest.mark.anyio


@in_turn(
    ("tool", "arguments", "said"),
    [
        (
            "list_bookmarks",
            {"author": ["ada", "ines"]},
            "author: must be a string, got an array of 2; separate several by commas.",
        ),
        (
            "delete_bookmarks",
            {"filter": {"author": ["ada", "ines"]}, "dry_run": True},
            "filter.author: must be a string, got an array of 2; separate several by commas.",
        ),
        ("list_bookmarks", {"is_read": True}, "Unknown field 'is_read'. Use is:read in query,"),
        ("count_bookmarks", {"is_archived": True}, "Unknown field 'is_archived'. Use is:archived"),
        (
            "update_bookmarks",
            {"filter": {"is_read": True}, "is_archived": True, "dry_run": True},
            "Unknown field 'is_read' in filter. Use is:read in query, or is_unread_only.",
        ),
        ("delete_bookmarks", {"filter": {}}, "An empty filter matches the whole library."),
    ],
)
async def test_a_mistake_is_answered_with_what_to_send(
    alice: Member, tool: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in await refusal(alice, tool, **arguments)


async def test_a_dry_run_without_a_condition_says_that_it_is_the_whole_library(
    alice: Member,
) -> None:
    await alice.save(text="owl")

    dry = await call(alice, "delete_bookmarks", filter={}, dry_run=True)
    narrow = await call(alice, "delete_bookmarks", filter={"query": "owl"}, dry_run=True)

    assert dry["advice"].startswith("An empty filter matches the whole library. Nothing was")
    assert "whole library" not in narrow["advice"]


async def test_merging_a_label_into_itself_says_that_case_is_ignored(alice: Member) -> None:
    await alice.save(tags=["Birds"])

    said = await refusal(alice, "merge_labels", **{"from": "Birds", "into": "birds"})

    assert "into: must be a different label: names that differ only in case are the same" in said


@in_turn(
    ("tool", "limit", "is_clamped"),
    [
        ("list_bookmarks", 101, True),
        ("list_bookmarks", "5000", True),
        ("list_bookmarks", 10**30, True),
        ("list_bookmarks", 100, False),
        ("list_bookmarks", None, False),
        ("list_trash", 500, True),
        ("list_changes", 500, True),
        ("list_digests", 500, True),
        ("list_imports", 500, True),
    ],
)
async def test_a_limit_above_the_maximum_is_answered_with_a_hint(
    alice: Member, tool: str, limit: Any, *, is_clamped: bool
) -> None:
    answer = await call(alice, tool, limit=limit)

    hint = "limit was clamped to 100, the maximum."
    assert answer.get("advice", "").startswith(hint) is is_clamped


async def test_a_list_that_is_sorted_by_a_count_shows_it(alice: Member) -> None:
    for number in (0, 7):
        record = make.post(post_id=str(number + 1), text="owl")
        meta = record["tweet_details"].setdefault("meta", {})
        meta["non_real_time_engagement_metrics"] = {"favorite_count": number, "reply_count": 3}
        await alice.save_all([record])

    likes = await call(alice, "list_bookmarks", sort_by="favorite_count")
    found = await call(alice, "search_bookmarks", query="owl", sort_by="reply_count")
    plain = await call(alice, "list_bookmarks")

    assert [post["favorite_count"] for post in likes["bookmarks"]] == [7, 0]
    assert [post["reply_count"] for post in found["bookmarks"]] == [3, 3]
    assert "reply_count" not in likes["bookmarks"][0]
    assert not any("count" in name for name in plain["bookmarks"][0])


@in_turn(
    ("tool", "arguments"),
    [
        ("list_bookmarks", {"query": "owl"}),
        ("search_bookmarks", {"query": "owl"}),
        ("update_bookmarks", {"filter": {"query": "owl"}, "is_read": True, "dry_run": True}),
        ("restore_bookmarks", {"filter": {"query": "owl"}, "dry_run": True}),
        ("save_bookmarks", {"links": ["https://x.com/jack/status/20"]}),
        ("create_view", {"name": "Owls", "base_query": {"query": "owl"}}),
        ("create_export", {"format": "json", "query": "owl"}),
        ("update_digest_preferences", {"hour": 6}),
    ],
)
async def test_null_in_the_strict_form_means_that_an_argument_is_not_sent(
    alice: Member, tool: str, arguments: dict[str, Any]
) -> None:
    await alice.save(text="owl")

    await call(alice, tool, **_whole(strict(published(tool)["inputSchema"]), arguments))


def _whole(schema: dict[str, Any], value: Any) -> Any:
    """The value as strict mode forces a model to write it: with every field."""
    if isinstance(value, list):
        return [_whole(schema["items"], one) for one in value]
    if not isinstance(value, dict):
        return value
    fields = schema["properties"]
    return {name: _whole(field, value.get(name)) for name, field in fields.items()}
