"""GET /v1/digests and /v1/digests/:id; GET and PATCH /v1/digests/preferences."""

from datetime import date, timedelta
from typing import Any

import pytest

from tests.support import digesting, writing
from tests.support.digesting import MONDAY, instant
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

PATH = "/v1/digests/preferences"
NO_ZONE = "time_zone: must be a time zone such as Europe/Berlin, got"
DEFAULTS = {
    "frequency": "weekly",
    "time_zone": "UTC",
    "hour": 8,
    "mail": False,
    "highlight": False,
    "mail_available": False,
    "next_digest_at": "2026-07-20T08:00:00.000000+00:00",
}


async def with_days(member: Member, count: int) -> list[str]:
    """Create `count` daily digests and return their ids, latest first."""
    await digesting.prefer(member, "2026-07-01T00:00:00+00:00", frequency="daily")
    await member.save(bookmarked_at="2026-06-30T00:00:00+00:00")
    days = [date(2026, 7, 1) + timedelta(days=n) for n in range(count)]
    for day in days:
        await digesting.make(member, f"{day + timedelta(days=1)}T08:00:00+00:00")
    return [f"daily-{day}" for day in reversed(days)]


async def test_a_new_account_has_weekly_digests(alice: Member) -> None:
    assert (await alice.get(PATH)).json()["data"] == DEFAULTS
    assert (await alice.get("/v1/digests")).json() == {
        "status": True,
        "data": [],
        "meta": {"next_cursor": None, "limit": 20, "total_count": 0, "count": 0},
    }


async def test_a_digest_contains_its_fields_markdown_and_html(alice: Member) -> None:
    await alice.save(bookmarked_at="2026-07-14T10:00:00+00:00", text="nests", name="Ada L.")
    await digesting.make(alice)

    whole = await digesting.shown(alice, "weekly-2026-07-13")

    assert (whole["kind"], whole["first_day"], whole["last_day"]) == (
        "weekly",
        "2026-07-13",
        "2026-07-19",
    )
    assert whole["title"] == "13 to 19 July 2026"
    assert whole["mail"] == {"state": "none", "at": None, "reason": None}
    assert whole["saved"]["posts"][0]["text"] == "nests"
    assert whole["markdown"].startswith("# Your week in saved posts\n")
    assert whole["html"].startswith("<!doctype html>")


@in_turn(
    ("format", "held"),
    [
        ("json", (False, False)),
        ("markdown", (True, False)),
        ("html", (False, True)),
        ("", (True, True)),
    ],
)
async def test_choosing_a_format_omits_the_others(
    alice: Member, format: str, held: tuple[bool, bool]
) -> None:
    await alice.save(bookmarked_at="2026-07-14T10:00:00+00:00")
    await digesting.make(alice)

    digest = await digesting.shown(alice, format=format)

    assert ("markdown" in digest, "html" in digest) == held


async def test_an_unknown_format_is_refused(alice: Member) -> None:
    response = await alice.get("/v1/digests/latest", format="pdf")

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response) == ("format: must be one of json, markdown, html, got 'pdf'.")


async def test_preferences_are_changed_field_by_field(alice: Member) -> None:
    first = await writing.send(alice, "PATCH", PATH, {"time_zone": "Asia/Kathmandu", "hour": 0})
    second = await writing.send(alice, "PATCH", PATH, {"frequency": "daily", "mail": True})

    assert first.json()["data"] == {
        **DEFAULTS,
        "time_zone": "Asia/Kathmandu",
        "hour": 0,
        "next_digest_at": "2026-07-19T18:15:00.000000+00:00",
    }
    assert second.json()["data"] == {
        "frequency": "daily",
        "time_zone": "Asia/Kathmandu",
        "hour": 0,
        "mail": True,
        "highlight": False,
        "mail_available": False,
        "next_digest_at": "2026-07-18T18:15:00.000000+00:00",
    }
    assert (await alice.get(PATH)).json() == second.json()


async def test_the_time_of_the_next_digest_advances_with_the_clock(alice: Member) -> None:
    before = await alice.get(PATH)
    alice.clock.now = instant(MONDAY)

    after = await alice.client.get(PATH, headers={"If-None-Match": before.headers["etag"]})

    assert after.json()["data"]["next_digest_at"] == "2026-07-27T08:00:00.000000+00:00"


async def test_an_account_with_digests_off_has_no_next_digest(alice: Member) -> None:
    response = await writing.send(alice, "PATCH", PATH, {"frequency": "off"})

    assert response.json()["data"]["next_digest_at"] is None


WRONG: list[tuple[Any, str]] = [
    (
        {"time_zone": "Europe/Berln"},
        (
            "time_zone: must be a time zone such as Europe/Berlin "
            "(the nearest is Europe/Berlin), got 'Europe/Berln'."
        ),
    ),
    (
        {"time_zone": "../../etc/passwd"},
        f"{NO_ZONE} '../../etc/passwd'.",
    ),
    ({"time_zone": "x" * 65}, f"{NO_ZONE} '{'x' * 65}'."),
]


async def test_an_invalid_preference_is_named_and_nothing_changes(alice: Member) -> None:
    for body, sentence in WRONG:
        response = await writing.send(alice, "PATCH", PATH, body)

        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response) == sentence
    assert (await alice.get(PATH)).json()["data"] == DEFAULTS


async def test_the_free_plan_can_use_digests_and_each_request_is_a_call(cast: Service) -> None:
    free = cast.free
    made = await with_days(free, 3)
    first = (await free.get("/v1/digests", limit=1)).json()

    second = await free.get("/v1/digests", limit=2, cursor=first["meta"]["next_cursor"])
    await digesting.shown(free)
    await cast.app.calls.flush()

    listed = first["data"] + second.json()["data"]
    assert [digest["digest_id"] for digest in listed] == made
    # One change of preferences, two pages and one digest.
    sql = "SELECT calls FROM api_call WHERE account_id = :account_id"
    rows = await free.database.rows(sql, {"account_id": free.account_id})
    assert [row[0] for row in rows] == [4]
