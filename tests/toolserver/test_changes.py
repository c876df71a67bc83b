"""The tools that mark and label posts."""

from typing import Any

import pytest

from bowerbird.model.labels import NAME_RULE
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, refusal

pytestmark = pytest.mark.anyio


async def test_posts_can_be_marked_and_unmarked(alice: Member) -> None:
    saved = await alice.save()
    post_id = saved["post_id"]

    done = await call(alice, "update_bookmarks", post_ids=[post_id, "404"], is_read=True)
    again = await call(alice, "update_bookmarks", post_ids=[post_id], is_read=True)

    state = {"post_id": post_id, "is_read": True, "is_archived": False}
    undoable = {name: done.pop(name) for name in ("change_id", "undo_until")}
    assert all(undoable.values())
    assert done == {"affected": 1, "posts": [state], "not_found": ["404"]}
    assert again == {"affected": 0, "posts": [state], "not_found": []}
    undone = await call(alice, "undo_change", change_id=undoable["change_id"])
    assert (undone["state"], undone["affected"]) == ("undone", 1)
    assert await alice.ids(is_unread_only="true") == [post_id]
    await call(alice, "update_bookmarks", post_ids=[post_id], is_read="false", is_archived=True)
    assert await alice.ids(hide_archived="false") == [post_id]


@in_turn(
    ("arguments", "sentence"),
    [
        ({"post_ids": ["1"]}, "INVALID_REQUEST: is_read: is required, unless is_archived or "),
        ({"post_ids": ["1", "2"], "note": "x"}, "INVALID_REQUEST: note: can be set on one "),
        ({"post_ids": ["1"], "note": "x" * 20_001}, "INVALID_REQUEST: note: must have at most "),
        ({"post_ids": ["404"], "is_read": True}, "NOT_FOUND: No post '404' on this account."),
        ({"tweet_ids": ["1"], "is_read": True}, "INVALID_REQUEST: Unknown field 'tweet_ids'."),
    ],
)
async def test_the_error_names_the_invalid_argument(
    alice: Member, arguments: dict[str, Any], sentence: str
) -> None:
    await alice.save()

    assert (await refusal(alice, "update_bookmarks", **arguments)).startswith(sentence)


async def test_a_batch_reports_each_change_separately(alice: Member) -> None:
    saved = await alice.save(tags=["old"])
    ids = [saved["post_id"]]
    operations = [
        {"op": "add", "post_ids": [*ids, "404"], "label_name": "new"},
        {"op": "remove", "post_ids": ids, "label_name": "old"},
        {"op": "add", "post_ids": [5], "label_name": "new"},
        {"op": "paint", "post_ids": ids, "label_name": "new"},
        "nonsense",
        {"op": "add", "post_ids": ids * 101, "label_name": "new"},
        {"op": "add", "tweet_ids": ids, "label_name": "new"},
        {"op": "add", "post_ids": ["x" * 41], "label_name": "new"},
        {"op": "add", "post_ids": ids, "label_name": " "},
        {"op": "add", "post_ids": ids},
    ]

    done = await call(alice, "batch_label", operations=operations)

    assert (done["succeeded"], done["failed"]) == (2, 8)
    assert done["results"][0] == {"index": 0, "ok": True, "affected": 1, "not_found": ["404"]}
    errors = [result["error"] for result in done["results"][2:]]
    number = "must be a string: a JSON number would lose digits."
    digits = f"must be a post id of 1 to 40 digits, got '{'x' * 41}'."
    items = "must be an array of 1 to 100 items, got an array of 101."
    fields = "Unknown field 'tweet_ids'. Allowed fields: op, post_ids, label_name."
    name = f"must have {NAME_RULE}, got ' '."
    assert errors == [
        f"INVALID_REQUEST: operations[2].post_ids[0]: {number}",
        "INVALID_REQUEST: operations[3].op: must be one of add, remove, got 'paint'.",
        "INVALID_REQUEST: operations[4]: must be a JSON object, got 'nonsense'.",
        f"INVALID_REQUEST: operations[5].post_ids: {items}",
        f"INVALID_REQUEST: operations[6]: {fields}",
        f"INVALID_REQUEST: operations[7].post_ids[0]: {digits}",
        f"INVALID_REQUEST: operations[8].label_name: {name}",
        "INVALID_REQUEST: operations[9].label_name: is required.",
    ]
    assert (await alice.listed())["data"][0]["tags"] == ["new"]


async def test_a_batch_with_an_idempotency_key_runs_once(alice: Member) -> None:
    saved = await alice.save()
    operations = [{"op": "add", "post_ids": [saved["post_id"]], "label_name": "new"}]

    first = await call(alice, "batch_label", operations=operations, idempotency_key="k1")
    again = await call(alice, "batch_label", operations=operations, idempotency_key="k1")

    assert first["results"][0]["affected"] == 1
    assert again == first
    said = await refusal(alice, "batch_label", operations=operations * 2, idempotency_key="k1")
    assert said.startswith("IDEMPOTENCY_KEY_REUSED: idempotency_key: this key was used")
    other = await refusal(alice, "create_view", name="x", idempotency_key="k1")
    assert other.startswith("IDEMPOTENCY_KEY_REUSED")


async def test_the_string_null_is_not_treated_as_a_missing_argument(alice: Member) -> None:
    await alice.save_all([make.post(post_id="1")])
    await call(alice, "create_view", name="V", base_query={"q": "owl"})

    for tool, arguments in (
        ("update_view", {"slug": "v", "base_query": "null"}),
        ("update_view", {"slug": "v", "triage_buckets": "null"}),
        ("create_export", {"format": "json", "post_ids": "null"}),
        ("update_bookmarks", {"post_ids": ["1"], "is_read": "null"}),
    ):
        assert (await refusal(alice, tool, **arguments)).startswith("INVALID_REQUEST"), tool

    listed = await call(alice, "list_views")
    assert listed["views"][0]["base_query"] == {"query": "owl"}


async def test_an_unknown_argument_is_rejected_even_if_it_is_null(alice: Member) -> None:
    assert "Unknown field 'nope'" in await refusal(alice, "list_labels", nope=None)
