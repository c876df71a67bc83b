"""GET /v1/account."""

from typing import Any

import pytest

from tests.support import make
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def _account(member: Member) -> dict[str, Any]:
    response = await member.get("/v1/account")
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()["data"]
    return shown


async def test_a_paid_account_has_unlimited_calls(alice: Member) -> None:
    await alice.save(is_read=True)
    await alice.save(is_archived=True)
    await alice.save()

    shown = await _account(alice)

    assert shown["plan"] == "pro"
    assert shown["limits"] == {
        "calls_per_month": None,
        "page_size": 100,
        "ranked_results": 1000,
        "filtering": True,
        "paging": True,
        "writing": True,
        "vector_search": True,
    }
    assert shown["calls"] == {"used": 0, "left": None, "next_month_begins": "2026-08-01"}
    assert shown["library"] == {"total": 3, "unread": 2, "archived": 1}


async def test_reading_a_free_account_shows_its_calls_without_using_one(free: Member) -> None:
    for _ in range(3):
        await free.listed()

    for _ in range(2):
        shown = await _account(free)
        assert shown["calls"] == {"used": 3, "left": 97, "next_month_begins": "2026-08-01"}
    assert shown["limits"]["calls_per_month"] == 100
    assert shown["limits"]["vector_search"] is False
    assert shown["vector_store"]["state"] == "off"


async def test_the_account_is_readable_after_the_monthly_calls_are_used_up(free: Member) -> None:
    for _ in range(101):
        await free.get("/v1/bookmarks")

    shown = await _account(free)

    assert (shown["calls"]["used"], shown["calls"]["left"]) == (100, 0)


async def test_the_account_reports_the_progress_of_its_vectors(alice: Member) -> None:
    model = "all-MiniLM-L6-v2-int8"
    empty = {"state": "ready", "embedded": 0, "total": 0, "model": model, "problem": None}
    assert (await _account(alice))["vector_store"] == empty

    await alice.save_all([make.post() for _ in range(4)])
    building = {**empty, "state": "building", "total": 4}
    assert (await _account(alice))["vector_store"] == building

    await alice.embed()
    ready = {**empty, "embedded": 4, "total": 4}
    assert (await _account(alice))["vector_store"] == ready

    await alice.save()
    assert (await _account(alice))["vector_store"] == {**ready, "total": 5}


async def test_an_unchanged_account_returns_304(cast: Service) -> None:
    first = await cast.alice.get("/v1/account")
    tag = {"If-None-Match": first.headers["etag"]}
    assert (await cast.alice.client.get("/v1/account", headers=tag)).status_code == 304

    await cast.alice.save()

    assert (await cast.alice.client.get("/v1/account", headers=tag)).status_code == 200
