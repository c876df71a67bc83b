"""Plans and charged calls: the same rules as in the REST API, with errors as text."""

from typing import Any

import pytest

from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import ask, call, message, post, refusal

pytestmark = pytest.mark.anyio

UPGRADE = "http://localhost:8080/upgrade"


async def used(cast: Service) -> int:
    """Calls charged to the free account this month."""
    return (await cast.free.account()).calls_this_month


@in_turn(
    ("tool", "arguments", "code"),
    [
        ("list_bookmarks", {"author": "ada"}, "FILTER_NOT_ALLOWED"),
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


async def test_the_plan_is_checked_before_the_arguments(free: Member) -> None:
    said = await refusal(free, "list_bookmarks", posted_from="nonsense", nonsense=1)

    assert said.startswith("FILTER_NOT_ALLOWED")


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
