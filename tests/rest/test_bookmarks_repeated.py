"""GET /v1/bookmarks with a query that the account has sent before: the same answers as at first."""

from typing import Any

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.support import make
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

QUERIES: list[dict[str, Any]] = [
    {},
    {"limit": 2},
    {"limit": 2, "is_unread_only": "false"},
    {"limit": 2, "sort_by": "posted_at", "sort_order": "asc"},
    {"limit": 2, "sort_by": "title"},
    {"limit": 2, "hide_archived": "false", "is_archived_only": "true"},
    {"limit": 2, "q": "bower"},
    {"limit": 2, "posted_from": "-900w"},
    {"limit": 2, "bookmarked_to": "today", "bookmarked_from": "2001-01-01"},
    {"limit": 2, "author": "bowerwatch"},
    {"limit": 2, "highlight": "true", "q": "bower"},
    {"limit": 2, "sort_cursor": "3"},
]


def _uncached(member: Member, cast: Service) -> Member:
    """The same member, of a service that caches no answers."""
    return member.on(app.build(Settings(answer_cache_mb=0), cast.database, cast.clock))


async def _crawl(member: Member, query: dict[str, Any]) -> list[bytes]:
    bodies = []
    cursor: str | None = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        response = await member.get("/v1/bookmarks", **query, **more)
        assert response.status_code == 200, response.text
        bodies.append(response.content)
        cursor = response.json()["meta"]["next_cursor"]
        if cursor is None:
            return bodies


@pytest.mark.parametrize("query", QUERIES)
async def test_every_page_is_the_same_as_at_first(
    alice: Member, cast: Service, query: dict[str, Any]
) -> None:
    await alice.save_all([make.post(text=f"bower {n}", sort_index=n) for n in range(7)])

    fresh = _uncached(alice, cast)
    first = await _crawl(fresh, query)

    assert await _crawl(fresh, query) == first
    assert await _crawl(_uncached(alice, cast), query) == first


async def test_a_repeated_query_shows_what_changed_since(alice: Member, cast: Service) -> None:
    fresh = _uncached(alice, cast)
    await alice.save_all([make.post(text="first")])
    await _crawl(fresh, {"limit": 5})

    await alice.save_all([make.post(text="second")])

    listed = await fresh.listed(limit=5)
    assert (listed["meta"]["total_count"], len(listed["data"])) == (2, 2)
    for post in listed["data"]:
        await alice.remove(post["post_id"])
    assert (await fresh.listed(limit=5))["meta"]["total_count"] == 0


async def test_a_repeated_query_of_an_account_that_became_free_is_refused(
    alice: Member, cast: Service
) -> None:
    fresh = _uncached(alice, cast)
    await alice.save_all([make.post(text=f"post {n}") for n in range(3)])
    cursor = (await fresh.listed(limit=1))["meta"]["next_cursor"]
    assert (await fresh.get("/v1/bookmarks", limit=1, cursor=cursor)).status_code == 200

    await alice.set_plan("free")

    response = await fresh.get("/v1/bookmarks", limit=1, cursor=cursor)
    assert response.json()["code"] == "PAGINATION_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=1&cursor={cursor}x", "cursor"),
        ("limit=1&cursor=cAAAA", "cursor"),
        ("limit=1&cursor={cursor}&cursor={cursor}", "cursor"),
        ("limit=1&cursor=&cursor={cursor}", "cursor"),
        ("limit=1&limit=1", "limit"),
        ("limit=1&sort_by=posted_at&cursor={cursor}", "cursor"),
    ],
)
async def test_an_invalid_query_is_refused_after_a_valid_one(
    alice: Member, cast: Service, query: str, named: str
) -> None:
    fresh = _uncached(alice, cast)
    await alice.save_all([make.post(text=f"post {n}") for n in range(3)])
    await fresh.listed(limit=1, sort_by="posted_at")
    cursor = (await fresh.listed(limit=1))["meta"]["next_cursor"]
    await fresh.listed(limit=1, cursor=cursor)

    response = await fresh.client.get(f"/v1/bookmarks?{query.format(cursor=cursor)}")

    assert (response.status_code, response.json()["code"]) == (400, "INVALID_REQUEST")
    assert response.json()["error"].startswith(f"{named}: ")


async def test_a_cursor_of_another_account_is_refused(
    alice: Member, bob: Member, cast: Service
) -> None:
    service = app.build(Settings(answer_cache_mb=0), cast.database, cast.clock)
    for member in (alice, bob):
        await member.save_all([make.post(text=f"post {n}") for n in range(3)])
        await member.on(service).listed(limit=1)
    cursor = (await bob.on(service).listed(limit=1))["meta"]["next_cursor"]

    response = await alice.on(service).get("/v1/bookmarks", limit=1, cursor=cursor)

    assert response.status_code == 400
