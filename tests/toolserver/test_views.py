"""The tools that read, create, change and delete Smart Views."""

import json
from urllib.parse import quote

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import ask, call, ids, published

pytestmark = pytest.mark.anyio

OWLS = {"name": "Night owls", "base_query": {"q": "owl"}, "description": "What flies at night."}


async def test_a_view_is_created_read_changed_and_deleted(alice: Member) -> None:
    owl = await alice.save(text="an owl", is_read=True)
    await alice.save(text="a crow")

    made = await call(alice, "create_view", **OWLS)

    assert await call(alice, "undo_change", change_id=made.pop("change_id"))
    assert (await call(alice, "list_views"))["views"] == []
    made = await call(alice, "create_view", **OWLS)
    for name in ("change_id", "undo_until"):
        assert made.pop(name)
    assert made == {
        "slug": "night-owls",
        "name": "Night owls",
        "description": "What flies at night.",
        "base_query": {"query": "owl"},
        "triage_buckets": [],
        "position": 1,
        "is_pinned": True,
        "count": 1,
        "count_state": "exact",
    }
    assert (await call(alice, "list_views"))["views"] == [made]
    page = await call(alice, "get_view_bookmarks", slug="night-owls")
    assert [post["post_id"] for post in page["bookmarks"]] == [owl["post_id"]]
    assert page["filters"] == {"view": "night-owls", "base_query": {"query": "owl"}}

    changed = await call(alice, "update_view", slug="night-owls", name="Crows", base_query={})
    assert (changed["slug"], changed["name"], changed["count"]) == ("night-owls", "Crows", 2)
    gone = await call(alice, "delete_view", slug="night-owls")
    assert gone.pop("change_id") != changed.pop("change_id")
    assert gone == changed
    assert (await call(alice, "list_views"))["views"] == []


async def test_a_bucket_narrows_a_view_and_pages_continue(alice: Member) -> None:
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


async def test_a_view_accepts_vector_search_term_although_its_schema_omits_it(
    alice: Member,
) -> None:
    query = {"vector_search_term": "birds"}

    view = await call(alice, "create_view", name="Birds", base_query=query)

    assert view["base_query"] == query
    schema = published("create_view")["inputSchema"]["properties"]["base_query"]
    assert "vector_search_term" not in schema["properties"]


async def test_views_that_do_not_fit_are_omitted_and_the_result_has_advice(alice: Member) -> None:
    for n in range(40):
        await call(alice, "create_view", name=f"View {n}", description="d" * 1_000)

    listed = await call(alice, "list_views")

    assert listed["truncated"] is True
    assert listed["total_count"] == 40
    assert f"Only the first {len(listed['views'])} of 40" in listed["advice"]


async def test_a_view_of_any_script_is_a_resource(alice: Member) -> None:
    await call(alice, "create_view", name="日本語")

    (listed,) = (await ask(alice, "resources/list"))["resources"]
    assert listed["uri"] == f"view://{quote('日本語')}"
    (content,) = (await ask(alice, "resources/read", uri=listed["uri"]))["contents"]
    assert json.loads(content["text"])["name"] == "日本語"
    page = await call(alice, "get_view_bookmarks", slug="日本語")
    assert page["filters"]["view"] == "日本語"
