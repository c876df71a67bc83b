"""`get_account`: the plan, the calls left and the size of the library."""

import pytest

from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio


async def test_a_free_account_sees_the_calls_left_without_using_one(free: Member) -> None:
    await free.save(is_read=True)
    await call(free, "list_bookmarks")

    for _ in range(2):
        shown = await call(free, "get_account")

    assert shown == {
        "plan": "free",
        "can_filter": False,
        "can_page": False,
        "can_write_labels_and_views": False,
        "can_search_by_meaning": False,
        "calls_used": 1,
        "calls_left": 99,
        "next_month_begins": "2026-08-01",
        "total": 1,
        "unread": 0,
        "archived": 0,
        "vector_store": {"state": "off", "embedded": 0, "total": 1},
    }


async def test_a_paid_account_sees_the_progress_of_its_vectors(alice: Member) -> None:
    await alice.save()
    before = await call(alice, "get_account")
    await alice.embed()
    after = await call(alice, "get_account")

    assert "calls_left" not in before
    assert before["vector_store"] == {"state": "building", "embedded": 0, "total": 1}
    assert before["can_search_by_meaning"] is False
    assert after["vector_store"] == {"state": "ready", "embedded": 1, "total": 1}
    assert after["can_search_by_meaning"] is True
    assert "advice" not in after
