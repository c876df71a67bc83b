"""One name per argument in every tool; the older names still work."""

from typing import Any

import pytest

from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, ids, refusal

pytestmark = pytest.mark.anyio


@in_turn("name", ["label", "tag", "label_name"])
async def test_a_label_has_one_name_and_its_older_names(alice: Member, name: str) -> None:
    saved = await alice.save(text="owl")
    await alice.save(text="owl")
    wanted = [saved["post_id"]]

    await call(alice, "add_label", post_ids=wanted, **{name: "night"})
    batch = {"op": "add", "post_ids": wanted, name: "birds"}
    assert (await call(alice, "batch_label", operations=[batch]))["succeeded"] == 1

    for tool, query in (("list_bookmarks", {}), ("search_bookmarks", {"query": "owl"})):
        assert await ids(alice, tool, **query, **{name: "night"}) == wanted
    listed = await call(alice, "list_bookmarks", **{name: "birds"})
    assert listed["filters"]["label"] == "birds"
    counted = await call(alice, "count_bookmarks", **{name: "night"})
    assert (counted["count"], counted["filters"]["label"]) == (1, "night")
    assert (await call(alice, "remove_label", post_ids=wanted, **{name: "night"}))["affected"] == 1


@in_turn("name", ["query", "q"])
async def test_words_are_a_query_in_every_tool(alice: Member, name: str) -> None:
    saved = await alice.save(text=f"an owl and a {name}")
    await alice.save(text="a crow")
    words = f"owl {name}"

    for tool in ("list_bookmarks", "search_bookmarks"):
        answer = await call(alice, tool, **{name: words})
        assert [post["post_id"] for post in answer["bookmarks"]] == [saved["post_id"]]
        assert answer["filters"]["query"] == words
    assert (await call(alice, "count_bookmarks", **{name: words}))["count"] == 1


async def test_the_query_of_a_view_has_the_same_names(alice: Member) -> None:
    saved = await alice.save(text="an owl", tags=["night"])
    buckets = [{"name": "Night", "query": {"label": "night"}}]

    view = await call(
        alice, "create_view", name="Owls", base_query={"query": "owl"}, triage_buckets=buckets
    )

    assert view["base_query"] == {"query": "owl"}
    assert view["triage_buckets"][0]["query"] == {"label": "night"}
    answer = await call(alice, "get_view_bookmarks", slug="owls", bucket="night")
    assert [post["post_id"] for post in answer["bookmarks"]] == [saved["post_id"]]
    assert answer["filters"]["base_query"] == {"query": "owl"}


@in_turn(
    ("arguments", "sentence"),
    [
        ({"label": "a", "tag": "b"}, "tag: contradicts label; send only label."),
        ({"label": 5}, "label: must be a string, got the number 5."),
        ({"tag": 5}, "tag: must be a string, got the number 5."),
        ({"query": "x" * 1_001}, "query: must have at most 1,000 characters, got 1,001."),
        ({"lable": "x"}, "Unknown field 'lable'. Did you mean label? Allowed fields: is_unread"),
    ],
)
async def test_an_error_names_an_argument_as_it_was_sent(
    alice: Member, arguments: dict[str, Any], sentence: str
) -> None:
    said = await refusal(alice, "list_bookmarks", **arguments)

    assert said.startswith(f"INVALID_REQUEST: {sentence}")
    assert "tag," not in said


async def test_an_error_inside_an_object_has_the_published_name(alice: Member) -> None:
    said = await refusal(alice, "create_view", name="x", base_query={"label": 5})

    assert said.startswith("INVALID_REQUEST: base_query.label: must be a string")


async def test_both_names_with_the_same_value_are_accepted(alice: Member) -> None:
    saved = await alice.save(tags=["night"])

    assert await ids(alice, "list_bookmarks", label="night", tag="night") == [saved["post_id"]]
    assert await ids(alice, "list_bookmarks", label=None, tag="night") == [saved["post_id"]]
    assert await ids(alice, "list_bookmarks", tag="night", label=None) == [saved["post_id"]]


async def test_the_free_plan_is_told_the_published_name_of_a_filter(free: Member) -> None:
    said = await refusal(free, "list_bookmarks", tag="x")

    assert said.startswith("FILTER_NOT_ALLOWED: The free plan does not include filters (label).")


@in_turn(
    ("tool", "arguments"),
    [
        ("list_bookmarks", {"label": ""}),
        ("list_bookmarks", {"author": "  "}),
        ("count_bookmarks", {"query": ""}),
        ("search_bookmarks", {"query": "owl", "posted_from": ""}),
        ("create_export", {"format": "json", "label": ""}),
        ("create_view", {"name": "x", "base_query": {"label": ""}}),
        ("create_view", {"name": "x", "triage_buckets": [{"name": "y", "query": {"q": " "}}]}),
    ],
)
async def test_an_empty_filter_is_an_error(
    alice: Member, tool: str, arguments: dict[str, Any]
) -> None:
    said = await refusal(alice, tool, **arguments)

    assert "is empty; leave it out if it should not filter." in said


@in_turn(
    "arguments",
    [
        {f"x{number}": None for number in range(101)},
        {"operations": [{f"x{number}": None for number in range(101)}]},
    ],
)
async def test_a_call_with_too_many_arguments_is_refused_before_names_are_compared(
    alice: Member, arguments: dict[str, Any]
) -> None:
    tool = "batch_label" if "operations" in arguments else "list_bookmarks"

    assert (await refusal(alice, tool, **arguments)).startswith(
        "INVALID_REQUEST: arguments: must have at most 100 fields in one object, got 101."
    )
