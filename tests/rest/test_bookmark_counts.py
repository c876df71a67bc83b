"""GET /v1/bookmarks/count and /v1/bookmarks/facets, and the tool that returns the same."""

from typing import Any

import pytest

from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _counts(member: Member, **params: Any) -> dict[str, int]:
    response = await member.get("/v1/bookmarks/count", **params)
    assert response.status_code == 200, response.text
    data: dict[str, int] = response.json()["data"]
    return data


async def test_the_counters_follow_every_change(alice: Member) -> None:
    record = await alice.save()
    assert await _counts(alice) == {"count": 1, "total": 1, "unread": 1, "archived": 0}
    record = await alice.change(record, is_read=True)
    assert await _counts(alice) == {"count": 0, "total": 1, "unread": 0, "archived": 0}
    record = await alice.change(record, is_archived=True)
    assert await _counts(alice) == {"count": 0, "total": 1, "unread": 0, "archived": 1}
    await alice.change(record, is_read=False, is_archived=False)
    assert await _counts(alice) == {"count": 1, "total": 1, "unread": 1, "archived": 0}
    await alice.remove(record["post_id"])
    assert await _counts(alice) == {"count": 0, "total": 0, "unread": 0, "archived": 0}


ALL = {"is_unread_only": "false", "hide_archived": "false"}
LINK = [{"type": "link", "url": "https://www.example.com/a"}]


async def fill(member: Member) -> None:
    months = ("2026-01-31T23:30:00+00:00", "2026-02-10T00:00:00+00:00", "2025-12-01T00:00:00+00:00")
    await member.save_all(
        [
            make.post(
                post_id=str(n),
                author=("ada", "ada", "mia", "eve")[n % 4],
                name="Ada L." if n % 4 < 2 else "Other",
                text="see https://birds.example.org/x" if n % 2 else "words",
                attachments=LINK if n % 3 == 0 else [],
                tags=["Birds", "Nests"] if n % 4 == 0 else (["Birds"] if n % 4 == 1 else None),
                note="mine" if n == 1 else None,
                bookmarked_at=months[n % 3],
                is_read=n > 8,
            )
            for n in range(1, 13)
        ]
    )


async def facets(member: Member, by: str, **more: Any) -> dict[str, int]:
    response = await member.get("/v1/bookmarks/facets", by=by, **more)
    assert response.status_code == 200, response.text
    return {one["value"]: one["count"] for one in response.json()["data"]}


async def test_counts_by_each_property(alice: Member) -> None:
    await fill(alice)

    assert await facets(alice, "author", **ALL) == {"ada": 6, "eve": 3, "mia": 3}
    assert await facets(alice, "label", **ALL) == {"Birds": 6, "Nests": 3}
    assert await facets(alice, "month", **ALL) == {"2026-02": 4, "2026-01": 4, "2025-12": 4}
    assert await facets(alice, "domain", **ALL) == {"birds.example.org": 6, "example.com": 4}
    assert await facets(alice, "media", **ALL) == {"link": 4, "text": 8}


@pytest.mark.both
async def test_the_filters_and_defaults_are_those_of_the_list(alice: Member) -> None:
    await fill(alice)

    assert await facets(alice, "author") == {"ada": 4, "eve": 2, "mia": 2}
    assert await facets(alice, "label", author="mia,eve", **ALL) == {}
    assert await facets(alice, "author", q="words", **ALL) == {"ada": 3, "mia": 3}
    assert await facets(alice, "author", label="Birds,Nests", label_match="all", **ALL) == {
        "ada": 3
    }
    assert await facets(alice, "author", unlabelled="true", **ALL) == {"eve": 3, "mia": 3}
    assert await facets(alice, "label", has_note="true", **ALL) == {"Birds": 1}
    assert await facets(alice, "author", author="nobody") == {}


async def test_meta_has_the_number_of_bookmarks_and_of_values(alice: Member) -> None:
    await fill(alice)

    answer = (await alice.get("/v1/bookmarks/facets", by="author", limit=1, **ALL)).json()

    assert answer["data"] == [{"value": "ada", "name": "Ada L.", "count": 6}]
    assert answer["meta"] == {"by": "author", "count": 1, "total_count": 3, "bookmarks": 12}


@in_turn("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
async def test_the_ends_of_the_calendar_are_counted(alice: Member, zone: str) -> None:
    times = ("0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00")
    await alice.save_all([make.post(bookmarked_at=time) for time in times])
    await writing.send(alice, "PATCH", "/v1/digests/preferences", {"time_zone": zone})

    found = await facets(alice, "month", limit=2)

    assert found == {"9999-12": found["9999-12"], "0001-01": found["0001-01"]}


@pytest.mark.both
async def test_months_are_those_of_the_accounts_time_zone(alice: Member) -> None:
    await fill(alice)
    body = {"time_zone": "Europe/Berlin"}
    await writing.send(alice, "PATCH", "/v1/digests/preferences", body)

    assert await facets(alice, "month", **ALL) == {"2026-02": 8, "2025-12": 4}


@pytest.mark.both
async def test_a_search_by_meaning_is_counted_too(alice: Member) -> None:
    texts = ["owls hunt at night", "an owl hunts mice at night", "taxes are due in May"]
    await alice.save_all([make.post(text=text, author=text[:2].strip()) for text in texts])
    await alice.embed()

    found = await facets(alice, "author", vector_search_term="owls hunting at night", **ALL)

    listed = await alice.listed(vector_search_term="owls hunting at night", **ALL)
    assert sum(found.values()) == listed["meta"]["total_count"] > 0


@in_turn("asked", [{}, {"by": "colour"}, {"by": "author", "limit": "0"}])
async def test_an_invalid_request_is_refused(alice: Member, asked: dict[str, str]) -> None:
    response = await alice.get("/v1/bookmarks/facets", **asked)

    assert writing.refused(response) == (400, "INVALID_REQUEST")


async def test_a_filter_needs_a_paid_plan(free: Member) -> None:
    response = await free.get("/v1/bookmarks/facets", by="author", label="Birds")

    assert writing.refused(response) == (402, "FILTER_NOT_ALLOWED")
