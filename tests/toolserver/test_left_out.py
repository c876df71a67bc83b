"""A result that leaves posts out by default says how many, and how to include them."""

from typing import Any

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio

ALL: dict[str, Any] = {"is_unread_only": False, "hide_archived": False}
BOTH = "Send is_unread_only false and hide_archived false to include them."
ARCHIVED = "Send hide_archived false to include them."


async def fill(member: Member) -> None:
    """54 of 92 posts are neither read nor archived. Every fourth is by ada."""
    kinds = [
        *[{}] * 54,
        *[{"is_read": True}] * 20,
        *[{"is_archived": True}] * 11,
        *[{"is_read": True, "is_archived": True}] * 7,
    ]
    await member.save_all(
        [
            make.post(text=f"an owl number {number}", author="bea" if number % 4 else "ada", **kind)
            for number, kind in enumerate(kinds)
        ]
    )


async def advice(member: Member, tool: str, **arguments: Any) -> str:
    return str((await call(member, tool, **arguments)).get("advice", ""))


@pytest.mark.parametrize("tool", ["list_bookmarks", "count_bookmarks"])
async def test_the_number_is_exact_whatever_filters_are_given(alice: Member, tool: str) -> None:
    await fill(alice)
    counts: list[tuple[dict[str, Any], str]] = [
        ({}, f"38 read or archived posts are left out. {BOTH}"),
        ({"is_unread_only": False}, f"18 archived posts are left out. {ARCHIVED}"),
        ({"is_unread_only": True}, f"11 archived posts are left out. {ARCHIVED}"),
        (
            {"hide_archived": False},
            "27 read posts are left out. Send is_unread_only false to include them.",
        ),
        ({"author": "ada"}, f"9 read or archived posts are left out. {BOTH}"),
        ({"query": "owl"}, f"38 read or archived posts are left out. {BOTH}"),
        ({"author": "ada", "is_unread_only": True}, f"3 archived posts are left out. {ARCHIVED}"),
    ]
    for arguments, sentence in counts:
        said = await advice(alice, tool, **arguments)
        assert said == sentence, arguments


@pytest.mark.parametrize("tool", ["list_bookmarks", "count_bookmarks"])
async def test_who_chose_what_is_left_out_is_told_nothing(alice: Member, tool: str) -> None:
    await fill(alice)

    for chosen in (
        ALL,
        {"is_unread_only": True, "hide_archived": True},
        {"is_archived_only": True, "is_unread_only": False},
        {"query": "is:read is:archived"},
    ):
        assert await advice(alice, tool, **chosen) == "", chosen


async def test_nothing_is_said_if_nothing_was_left_out(alice: Member) -> None:
    await alice.save_all([make.post(text="owl", author="ada"), make.post(text="owl")])

    assert await advice(alice, "list_bookmarks") == ""
    assert await advice(alice, "count_bookmarks") == ""
    # One read post does not match the filter.
    await alice.save(text="heron", is_read=True)
    assert await advice(alice, "list_bookmarks", query="owl") == ""
    assert await advice(alice, "count_bookmarks", author="ada", query="owl") == ""
    assert (await advice(alice, "count_bookmarks")).startswith("1 read or archived post is left")


async def test_a_list_of_similar_words_counts_what_it_leaves_out(alice: Member) -> None:
    await alice.save(text="the owl sleeps in the old barn by day")
    await alice.save(text="the owl sleeps in the old barn at noon", is_read=True)

    said = await call(alice, "list_bookmarks", query="owl sleeps barn zebra")

    assert said["relaxed"] is True
    assert "1 read or archived post is left out." in said["advice"]


async def test_searches_facets_changes_and_exports_leave_nothing_out(alice: Member) -> None:
    await fill(alice)

    found = await call(alice, "search_bookmarks", query="owl", mode="keyword", limit=1)
    assert (found["total_count"], "advice" in found) == (92, False)
    facets = await call(alice, "facet_bookmarks", by="author")
    assert (facets["bookmarks"], "advice" in facets) == (92, False)
    dry = await call(alice, "update_bookmarks", filter={}, is_read=True, dry_run=True)
    assert (dry["count"], "left out" in dry["advice"]) == (92, False)
    begun = await call(alice, "create_export", format="json")
    assert (begun["total"], "left out" in begun["advice"]) == (92, False)


async def test_an_export_of_unread_posts_counts_the_archived_ones(alice: Member) -> None:
    await fill(alice)

    begun = await call(alice, "create_export", format="json", is_unread_only=True)

    assert begun["total"] == 54
    assert begun["advice"].startswith(f"11 archived posts are left out. {ARCHIVED} Not ready yet.")
    chosen = {"is_unread_only": True, "hide_archived": True}
    said = await advice(alice, "create_export", format="json", **chosen)
    assert "left out" not in said


async def test_a_view_counts_the_archived_posts_that_it_does_not_show(alice: Member) -> None:
    await fill(alice)
    buckets = [{"name": "Unread", "query": {"is_unread_only": True}}]
    await call(alice, "create_view", name="Owls", base_query={}, triage_buckets=buckets)
    await call(alice, "create_view", name="All", base_query={"hide_archived": False})
    include = "If the base_query of the view has hide_archived false, it includes them."

    assert await advice(alice, "get_view_bookmarks", slug="owls", response_format="ids") == (
        f"18 archived posts are left out. {include}"
    )
    asked: dict[str, Any] = {"slug": "owls", "bucket": "unread", "response_format": "ids"}
    assert await advice(alice, "get_view_bookmarks", **asked) == (
        f"11 archived posts are left out. {include}"
    )
    assert await advice(alice, "get_view_bookmarks", slug="all", response_format="ids") == ""


async def test_similar_posts_count_the_archived_ones(alice: Member) -> None:
    owl = await alice.save(text="the barn owl sleeps in the old barn")
    await alice.save(text="a barn owl sleeps by day in the barn", is_archived=True)
    await alice.embed()

    alone = await call(alice, "similar_bookmarks", post_id=owl["post_id"])
    assert alone["total_count"] == 0
    assert alone["advice"] == (
        "1 archived post is left out. Send hide_archived false to include it."
    )
    await alice.save(text="the barn owl sleeps in an old barn too")
    await alice.embed()
    near = await call(alice, "similar_bookmarks", post_id=owl["post_id"])
    assert (near["total_count"], near["advice"]) == (1, alone["advice"])
    full = await call(alice, "similar_bookmarks", post_id=owl["post_id"], limit=1)
    assert full["advice"].startswith("Archived posts are left out. Send hide_archived false")
    chosen = await call(alice, "similar_bookmarks", post_id=owl["post_id"], hide_archived=True)
    assert "advice" not in chosen
