"""No tool, resource or completion shows or changes the data of another account."""

import json
from typing import Any

import pytest

from bowerbird.toolserver.assembly import TOOLS
from tests.support import make
from tests.support.offenders import Offenders
from tests.support.service import Member
from tests.support.toolcalls import ask, call, message, post, result_of

pytestmark = [pytest.mark.anyio, pytest.mark.both]

SECRET = "geheim"
THEIRS = "777001"
# Arguments that try to reach the data of another account.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "list_bookmarks": {"q": SECRET, "is_unread_only": False, "hide_archived": False},
    "search_bookmarks": {"query": SECRET},
    "get_bookmarks": {"post_ids": [THEIRS]},
    "count_bookmarks": {"q": SECRET, "is_unread_only": False},
    "update_bookmarks": {"post_ids": [THEIRS], "is_read": True},
    "delete_bookmarks": {"post_ids": [THEIRS]},
    "restore_bookmarks": {"filter": {}, "dry_run": True},
    "undo_change": {"change_id": "0" * 24},
    "get_change": {"change_id": "0" * 24},
    "list_changes": {},
    "list_trash": {"author": "theirs"},
    "list_duplicates": {},
    "resolve_duplicates": {"groups": [{"keep": THEIRS, "remove": [THEIRS + "1"]}]},
    "similar_bookmarks": {"post_id": THEIRS},
    "suggest_labels": {"post_ids": [THEIRS]},
    "facet_bookmarks": {"by": "label"},
    "update_note": {"post_id": THEIRS, "note": "mine"},
    "add_highlight": {"post_id": THEIRS, "quote": SECRET},
    "update_highlight": {"post_id": THEIRS, "highlight_id": "1", "comment": "mine"},
    "delete_highlight": {"post_id": THEIRS, "highlight_id": "1"},
    "update_label": {"label": SECRET, "new_name": "mine"},
    "merge_labels": {"from": SECRET, "into": SECRET},
    "delete_label": {"label": SECRET},
    "update_digest_preferences": {"hour": 5},
    "list_imports": {},
    "undo_import": {"run_id": "0" * 24},
    "list_labels": {},
    "add_label": {"post_ids": [THEIRS], "label_name": "mine"},
    "remove_label": {"post_ids": [THEIRS], "label_name": SECRET},
    "batch_label": {"operations": [{"op": "add", "post_ids": [THEIRS], "label_name": "mine"}]},
    "list_views": {},
    "get_view_bookmarks": {"slug": SECRET},
    "create_view": {"name": "mine", "base_query": {"tag": SECRET}},
    "update_view": {"slug": SECRET, "name": "taken"},
    "delete_view": {"slug": SECRET},
    "list_rules": {},
    "create_rule": {"name": "mine", "when": "arrives", "actions": [{"do": "stop"}]},
    "update_rule": {"rule_id": "0" * 24, "name": "mine"},
    "delete_rule": {"rule_id": "0" * 24},
    "create_export": {"format": "json", "view": SECRET},
    "get_export": {"job_id": "0" * 32},
    "list_digests": {},
    "get_digest": {},
    "get_account": {},
    # Last, because the caller has a post and a label of its own after it.
    "save_bookmarks": {"links": [f"https://x.com/i/status/{THEIRS}"], "labels": ["mine"]},
}


async def fill(bob: Member) -> None:
    await bob.save_all([make.post(post_id=THEIRS, text=f"{SECRET} words", tags=[SECRET])])
    await call(bob, "create_view", name=SECRET, base_query={"q": SECRET})


async def everything(bob: Member) -> Any:
    library = await bob.listed(is_unread_only="false", hide_archived="false")
    views = await call(bob, "list_views")
    return library["data"], views["views"]


def test_every_tool_is_covered() -> None:
    assert set(ARGUMENTS) == {tool.name for tool in TOOLS}


async def test_a_tool_only_reaches_the_account_of_its_caller(alice: Member, bob: Member) -> None:
    await fill(bob)
    before = await everything(bob)

    offenders = Offenders()
    for tool, arguments in ARGUMENTS.items():
        with offenders.check(tool):
            require_no_foreign_data(tool, await result_of(alice, tool, **arguments))
            assert await everything(bob) == before

    assert offenders == {}


def require_no_foreign_data(tool: str, result: dict[str, Any]) -> None:
    shown = json.dumps(result.get("structuredContent", {}))
    assert "words" not in shown
    if tool in ("list_labels", "list_views"):
        assert SECRET not in shown
    if tool.startswith(("count", "list", "search")):
        assert not any(result["structuredContent"].get(n) for n in ("count", "total_count"))


async def test_resources_and_completions_show_only_the_callers_data(
    alice: Member, bob: Member
) -> None:
    await fill(bob)
    reference = {"type": "ref/resource", "uri": "view://{slug}"}

    for uri in (f"bookmark://{THEIRS}", f"view://{SECRET}"):
        response = await post(alice.client, message("resources/read", {"uri": uri}))
        assert response.status_code == 400
        assert response.json()["error"]["code"] == -32602
        assert response.json()["error"]["data"] == {"uri": uri}
    assert (await ask(alice, "resources/list"))["resources"] == []
    completed = await ask(
        alice, "completion/complete", ref=reference, argument={"name": "slug", "value": ""}
    )
    assert completed["completion"]["values"] == []
