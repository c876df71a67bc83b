"""bookmarked_before, posted_since and the other names of bounds, in every request with filters."""

from typing import Any

import pytest

from tests.support import make, writing
from tests.support.exporting import exported
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

DAYS = ("2024-12-30", "2024-12-31", "2025-01-01", "2025-01-02")
ASKED: list[tuple[str, tuple[str, ...]]] = [
    ("before", DAYS[:1]),
    ("until", DAYS[:2]),
    ("to", DAYS[:2]),
    ("after", DAYS[2:]),
    ("since", DAYS[1:]),
    ("from", DAYS[1:]),
]


async def fill(member: Member) -> None:
    await member.save_all(
        [
            make.post(
                post_id=day.replace("-", ""),
                posted_at=f"{day}T12:00:00+00:00",
                bookmarked_at=f"{day}T12:00:00+00:00",
            )
            for day in DAYS
        ]
    )


async def change(member: Member, **filters: Any) -> dict[str, Any]:
    body = {"action": "archive", "filters": filters, "dry_run": True}
    response = await writing.send(member, "POST", "/v1/bookmarks/changes", body)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()["data"]
    return found


@in_turn(("word", "days"), ASKED)
async def test_every_name_selects_the_same_posts_everywhere(
    alice: Member, word: str, days: tuple[str, ...]
) -> None:
    await fill(alice)
    expected = [day.replace("-", "") for day in days]
    for what in ("posted", "bookmarked"):
        asked = {f"{what}_{word}": "2024-12-31"}

        assert sorted(await alice.ids(**asked)) == expected
        counted = await alice.get("/v1/bookmarks/count", **asked)
        assert counted.json()["data"]["count"] == len(days)
        facets = await alice.get("/v1/bookmarks/facets", by="month", **asked)
        assert sum(one["count"] for one in facets.json()["data"]) == len(days)
        assert (await change(alice, **asked))["count"] == len(days)
        view = {"name": f"{what} {word}", "base_query": asked}
        made = (await writing.send(alice, "POST", "/v1/views", view)).json()["data"]
        assert made["count"] == len(days)
        shown = await alice.get(f"/v1/views/{made['slug']}/bookmarks")
        assert sorted(one["post_id"] for one in shown.json()["data"]) == expected


async def test_an_export_takes_the_names_too(cast: Service) -> None:
    await fill(cast.alice)

    posts = await exported(cast, cast.alice, bookmarked_before="2025-01-01", posted_since="-3y")

    assert sorted(post["post_id"] for post in posts) == ["20241230", "20241231"]


async def test_a_view_stores_the_plain_name(alice: Member) -> None:
    body = {"name": "Old", "base_query": {"bookmarked_before": "today", "posted_since": "-7d"}}

    made = (await writing.send(alice, "POST", "/v1/views", body)).json()["data"]

    assert made["base_query"] == {"bookmarked_to": "today-1d", "posted_from": "-7d"}


async def test_a_bucket_cannot_set_a_bound_of_its_view_by_another_name(alice: Member) -> None:
    bucket = {"name": "Older", "query": {"posted_until": "2024-01-01"}}
    body = {"name": "Old", "base_query": {"posted_to": "2025-01-01"}, "triage_buckets": [bucket]}

    refused = await writing.send(alice, "POST", "/v1/views", body)

    assert refused.status_code == 400
    assert refused.json()["error"] == (
        "triage_buckets[0].query.posted_to: is already set by base_query."
    )


async def test_a_list_with_two_names_of_one_bound_is_refused(alice: Member) -> None:
    asked = {"bookmarked_to": "2025-01-01", "bookmarked_before": "2025-01-01"}

    for path in ("/v1/bookmarks", "/v1/bookmarks/count"):
        refused = await alice.get(path, **asked)
        assert refused.status_code == 400
        assert refused.json()["error"] == (
            "bookmarked_before: is the same bound as bookmarked_to; send only one of them."
        )


async def test_a_relative_bound_by_any_name_moves_with_the_time(alice: Member) -> None:
    await alice.save(posted_at="2026-07-17T00:00:00Z")
    for name in ("posted_since", "posted_after"):
        assert len(await alice.ids(**{name: "-7d"})) == 1
    tags = {
        name: (await alice.get("/v1/bookmarks", **{name: "-7d"})).headers["etag"]
        for name in ("posted_since", "posted_after")
    }
    alice.clock.now += 8 * 86_400 * 1_000_000

    for name, tag in tags.items():
        again = await alice.client.get(
            "/v1/bookmarks", params={name: "-7d"}, headers={"If-None-Match": tag}
        )
        assert (again.status_code, again.json()["data"]) == (200, []), name


async def test_a_bound_by_any_name_needs_a_paid_plan(free: Member) -> None:
    for word in ("before", "until", "after", "since"):
        refused = await free.get("/v1/bookmarks", **{f"posted_{word}": "2025-01-01"})
        assert refused.status_code == 402
        assert f"posted_{word}" in refused.json()["error"]
        body = {"action": "read", "filters": {f"posted_{word}": "2025-01-01"}, "dry_run": True}
        changed = await writing.send(free, "POST", "/v1/bookmarks/changes", body)
        assert changed.status_code == 402


async def test_an_invalid_bound_is_refused_by_the_name_that_was_sent(alice: Member) -> None:
    refused = await alice.get("/v1/bookmarks", bookmarked_before="soon")

    assert refused.status_code == 400
    assert refused.json()["error"].startswith("bookmarked_before: must be an ISO 8601 date")
