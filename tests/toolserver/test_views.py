"""The tools that read, make, change and delete Smart Views."""

from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, ids, refusal

pytestmark = pytest.mark.anyio

OWLS = {"name": "Night owls", "base_query": {"q": "owl"}, "description": "What flies at night."}


async def test_a_view_is_made_read_changed_and_deleted(alice: Member) -> None:
    owl = await alice.save(text="an owl", is_read=True)
    await alice.save(text="a crow")

    made = await call(alice, "create_view", **OWLS)

    assert made == {
        "slug": "night-owls",
        "name": "Night owls",
        "description": "What flies at night.",
        "base_query": {"q": "owl"},
        "triage_buckets": [],
        "count": 1,
    }
    assert (await call(alice, "list_views"))["views"] == [made]
    page = await call(alice, "get_view_bookmarks", slug="night-owls")
    assert [post["post_id"] for post in page["bookmarks"]] == [owl["post_id"]]
    assert page["filters"] == {"view": "night-owls", "base_query": {"q": "owl"}}

    changed = await call(alice, "update_view", slug="night-owls", name="Crows", base_query={})
    assert (changed["slug"], changed["name"], changed["count"]) == ("night-owls", "Crows", 2)
    gone = await call(alice, "delete_view", slug="night-owls")
    assert gone == changed
    assert (await call(alice, "list_views"))["views"] == []


async def test_a_bucket_narrows_a_view_and_pages_follow(alice: Member) -> None:
    saved = [make.post(text=f"owl {n}", tags=["a"] if n % 2 else []) for n in range(6)]
    await alice.save_all(saved)
    bucket = {"name": "A only", "query": {"tag": "a"}}
    await call(alice, "create_view", **OWLS, triage_buckets=[bucket])

    odd = await ids(alice, "get_view_bookmarks", slug="night-owls", bucket="a-only")
    first = await call(alice, "get_view_bookmarks", slug="night-owls", limit=4)
    rest = await ids(
        alice, "get_view_bookmarks", slug="night-owls", limit=4, cursor=first["next_cursor"]
    )

    assert odd == [post["post_id"] for post in saved[5::-2]]
    assert rest == [post["post_id"] for post in saved[1::-1]]


@in_turn(
    ("tool", "arguments", "sentence"),
    [
        ("create_view", {}, "INVALID_REQUEST: name: is missing."),
        ("create_view", {"name": ""}, "INVALID_REQUEST: name: must have 1 to 100 characters."),
        ("create_view", {"name": "x", "base_query": {"tga": "a"}}, "INVALID_REQUEST: base_query"),
        ("create_view", {"name": "x", "base_query": "owl"}, "INVALID_REQUEST: base_query: must be"),
        ("create_view", {"name": "x", "default_sort": {}}, "INVALID_REQUEST: default_sort.sort_by"),
        ("create_view", {"name": "x", "triage_buckets": [5]}, "INVALID_REQUEST: triage_buckets[0]"),
        ("update_view", {"slug": "none", "name": "x"}, "NOT_FOUND: No Smart View 'none' on this"),
        ("update_view", {"slug": 5, "name": "x"}, "INVALID_REQUEST: slug: must be a string"),
        ("update_view", {"slug": None}, "INVALID_REQUEST: slug: is missing."),
        ("delete_view", {"slug": "none"}, "NOT_FOUND: No Smart View 'none' on this account."),
        ("get_view_bookmarks", {"slug": "none"}, "NOT_FOUND: No Smart View 'none'"),
        ("get_view_bookmarks", {"slug": "a\x00"}, "INVALID_REQUEST: slug: holds U+0000"),
    ],
)
async def test_what_is_wrong_is_named(
    alice: Member, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    assert (await refusal(alice, tool, **arguments)).startswith(sentence)


async def test_making_a_view_with_a_key_makes_one_view(alice: Member) -> None:
    first = await call(alice, "create_view", **OWLS, idempotency_key="once")
    again = await call(alice, "create_view", **OWLS, idempotency_key="once")

    assert again == first
    assert len((await call(alice, "list_views"))["views"]) == 1


async def test_views_that_do_not_fit_are_left_out_with_advice(alice: Member) -> None:
    for n in range(40):
        await call(alice, "create_view", name=f"View {n}", description="d" * 1_000)

    listed = await call(alice, "list_views")

    assert listed["truncated"] is True
    assert listed["total_count"] == 40
    assert f"Only the first {len(listed['views'])} of 40" in listed["advice"]
