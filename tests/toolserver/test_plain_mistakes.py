"""Arguments: mistakes, plans, and the names of things."""

from typing import Any

import pytest

from endurance.agent_trial.schemas import strict
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import ask, call, ids, message, post, published, refusal

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
        (
            "create_view",
            {"name": "Owls", "query": "owl"},
            "Unknown field 'query'. Use base_query, an object with query in it.",
        ),
        (
            "update_view",
            {"slug": "owls", "q": "owl"},
            "Unknown field 'q'. Use base_query, an object with query in it.",
        ),
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


UPGRADE = "http://localhost:8080/upgrade"


async def used(cast: Service) -> int:
    """Calls charged to the free account this month."""
    return (await cast.free.account()).calls_this_month


@in_turn(
    ("tool", "arguments", "code"),
    [
        ("list_bookmarks", {"author": "ada"}, "FILTER_NOT_ALLOWED"),
        ("list_bookmarks", {"posted_from": "nonsense", "nonsense": 1}, "FILTER_NOT_ALLOWED"),
        ("list_bookmarks", {"cursor": "x"}, "PAGINATION_NOT_ALLOWED"),
        ("search_bookmarks", {"query": "owl", "tag": "x"}, "FILTER_NOT_ALLOWED"),
        ("count_bookmarks", {"posted_from": "2026-01-01"}, "FILTER_NOT_ALLOWED"),
        ("add_label", {"post_ids": ["1"], "label_name": "x"}, "SUBSCRIPTION_REQUIRED"),
        ("remove_label", {"post_ids": ["1"], "label_name": "x"}, "SUBSCRIPTION_REQUIRED"),
        ("batch_label", {"operations": []}, "SUBSCRIPTION_REQUIRED"),
        ("save_bookmarks", {"links": 5, "labels": ["x"]}, "SUBSCRIPTION_REQUIRED"),
        ("update_label", {"label": 5}, "SUBSCRIPTION_REQUIRED"),
        ("merge_labels", {"label": 5}, "SUBSCRIPTION_REQUIRED"),
        ("delete_label", {"label": 5}, "SUBSCRIPTION_REQUIRED"),
        ("create_view", {"name": "x"}, "SUBSCRIPTION_REQUIRED"),
        ("update_view", {"slug": "x"}, "SUBSCRIPTION_REQUIRED"),
        ("delete_view", {"slug": 5}, "SUBSCRIPTION_REQUIRED"),
        ("get_view_bookmarks", {"slug": "x", "cursor": "y"}, "PAGINATION_NOT_ALLOWED"),
    ],
)
async def test_a_free_plan_gets_an_upgrade_link_for_paid_features(
    cast: Service, tool: str, arguments: dict[str, Any], code: str
) -> None:
    said = await refusal(cast.free, tool, **arguments)

    assert said.startswith(f"{code}: ")
    assert UPGRADE in said
    assert await used(cast) == 0


async def test_a_tool_call_is_charged_like_a_rest_call(cast: Service) -> None:
    free = cast.free
    saved = await free.save()

    await ask(free, "tools/list")
    await ask(free, "prompts/list")
    await call(free, "count_bookmarks")
    await refusal(free, "list_bookmarks", limit=0)
    await call(free, "save_bookmarks", links=["https://x.com/ada/status/20"])
    assert await used(cast) == 0

    await call(free, "list_bookmarks")
    await call(free, "update_bookmarks", post_ids=[saved["post_id"]], is_read=True)
    await call(free, "count_bookmarks", q="x")
    await ask(free, "resources/read", uri=f"bookmark://{saved['post_id']}")
    assert await used(cast) == 4
    await free.get("/v1/views")
    assert await used(cast) == 5
    await ask(free, "resources/list")
    assert await used(cast) == 5


async def test_the_error_for_a_used_up_month_says_when_it_ends(cast: Service) -> None:
    free = cast.free
    saved = await free.save()
    for _ in range(100):
        await free.listed()

    read = await refusal(free, "list_bookmarks")
    written = await refusal(free, "update_bookmarks", post_ids=[saved["post_id"]], is_read=True)
    resource = await post(
        free.client, message("resources/read", {"uri": f"bookmark://{saved['post_id']}"})
    )

    for said in (read, written, resource.json()["error"]["message"]):
        assert said.startswith("SUBSCRIPTION_REQUIRED: All 100 calls of the free plan")
        assert "2026-08-01" in said
    assert (await free.account()).unread == 1
    assert (await call(free, "count_bookmarks"))["total"] == 1
    assert (await ask(free, "resources/list"))["resources"] == []


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


@in_turn("name", ["matches", "query", "q"])
async def test_the_query_of_a_rule_is_also_accepted_by_its_usual_name(
    alice: Member, name: str
) -> None:
    actions = [{"do": "mark_read"}]

    made = await call(
        alice, "create_rule", name="Owls", when="arrives", actions=actions, **{name: "owl"}
    )
    changed = await call(alice, "update_rule", rule_id=made["rule_id"], **{name: "crow"})

    assert (made["query"], changed["query"]) == ({"query": "owl"}, {"query": "crow"})
    said = await refusal(alice, "update_rule", rule_id=made["rule_id"], **{name: 5, "position": 1})
    assert said.startswith(f"INVALID_REQUEST: {name}: must be a string")


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
        (
            {"label": None, "tag": "a", "label_name": "b"},
            "label_name: contradicts tag; send only label.",
        ),
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
