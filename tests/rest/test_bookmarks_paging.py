"""GET /v1/bookmarks: cursor and sort_cursor, also while the library changes during a crawl."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.support import make
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

Record = dict[str, Any]
Between = Callable[[list[str]], Awaitable[None]]


def _fields(number: int) -> Record:
    """Fields that tie with those of other posts, whatever the sort."""
    tie = number % 3
    return {
        "sort_index": tie,
        "text": f"katze {'xyz'[tie]}",
        "author": "abc"[tie],
        "posted_at": f"2026-01-0{tie + 1}T00:00:00Z",
        "imported_at": f"2026-02-0{tie + 1}T00:00:00",
        "bookmarked_at": f"2026-03-0{tie + 1}T00:00:00Z",
        "metrics": dict.fromkeys(
            ("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count"), tie
        ),
    }


async def _fill(member: Member, count: int = 9) -> list[Record]:
    records = [make.post(**_fields(number)) for number in range(count)]
    await member.save_all(records)
    return records


async def _pages(member: Member, between: Between, **params: Any) -> list[str]:
    """Crawl the list and call `between` after each page with the ids seen so far."""
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = await member.listed(**params, cursor=cursor)
        seen += [bookmark["post_id"] for bookmark in answer["data"]]
        cursor = answer["meta"]["next_cursor"]
        await between(seen)
    return seen


@pytest.mark.both
@pytest.mark.parametrize("field", ["sort_index", "posted_at", "title", "quote_count", "relevance"])
async def test_a_crawl_survives_concurrent_changes_of_every_kind(alice: Member, field: str) -> None:
    records = {record["post_id"]: record for record in await _fill(alice)}
    gone: set[str] = set()

    async def change(seen: list[str]) -> None:
        await alice.save(**_fields(len(seen)))
        unseen = [post_id for post_id in records if post_id not in seen and post_id not in gone]
        # The cursor points at the last seen post, so remove exactly that one.
        await alice.remove(seen[-1])
        if seen[-2] in records:
            await alice.change(records[seen[-2]], is_read=True)
        if unseen:
            await alice.change(records[unseen[0]], tags=["moved"])
        if len(unseen) > 3 and len(seen) == 2:
            await alice.change(records[unseen[-1]], is_archived=True)
            await alice.remove(unseen[-2])
            gone.update(unseen[-2:])

    seen = await _pages(alice, change, sort_by=field, q="katze", limit=2)

    assert len(seen) == len(set(seen)), "a post came twice"
    assert set(records) - gone <= set(seen), "a post that stayed was skipped"


async def test_a_cursor_with_no_posts_left_returns_an_empty_last_page(alice: Member) -> None:
    records = await _fill(alice, 3)
    cursor = (await alice.listed(limit=2))["meta"]["next_cursor"]
    await alice.remove(records[0]["post_id"])

    answer = await alice.listed(limit=2, cursor=cursor)

    assert answer["data"] == []
    assert answer["meta"]["next_cursor"] is None


async def test_a_cursor_works_on_another_instance(cast: Service, alice: Member) -> None:
    await _fill(alice)
    other = alice.on(app.build(Settings(), cast.database, cast.clock))

    for asked in ({}, {"sort_by": "title"}, {"q": "katze", "sort_by": "relevance"}):
        first = await alice.listed(**asked, limit=4)
        rest = await other.ids(**asked, cursor=first["meta"]["next_cursor"])
        assert [b["post_id"] for b in first["data"]] + rest == await alice.ids(**asked)


OTHERS: tuple[dict[str, str], ...] = (
    {"sort_by": "title"},
    {"sort_by": "title", "sort_order": "desc", "author": "a"},
    {"sort_by": "author", "sort_order": "desc"},
    {"sort_by": "title", "sort_order": "desc", "q": "katze"},
    {"sort_by": "title", "sort_order": "desc", "is_unread_only": "false"},
    {"sort_by": "relevance", "q": "katze"},
    {},
)


async def test_a_cursor_of_another_query_is_refused(alice: Member) -> None:
    await _fill(alice)
    cursor = (await alice.listed(sort_by="title", sort_order="desc", limit=2))["meta"][
        "next_cursor"
    ]

    for other in OTHERS:
        response = await alice.get("/v1/bookmarks", **other, cursor=cursor)
        assert response.status_code == 400
        assert response.json()["error"].startswith("cursor: ")


async def test_an_equivalent_query_accepts_the_cursor(alice: Member) -> None:
    await _fill(alice)
    cursor = (await alice.listed(limit=2, media_type="text", author="A"))["meta"]["next_cursor"]

    asked = {"media_type": "TEXT", "author": " a", "is_unread_only": "1", "sort_by": "sort_index"}
    assert await alice.ids(**asked, cursor=cursor)


@pytest.mark.both
async def test_an_empty_sort_cursor_is_the_empty_value_of_a_text(alice: Member) -> None:
    empty = (await alice.save(text="", author=""))["post_id"]
    named = (await alice.save(text="katze", author="a"))["post_id"]

    for field in ("title", "author"):
        assert await alice.ids(sort_by=field, sort_order="asc") == [empty, named]
        assert await alice.ids(sort_by=field, sort_order="asc", sort_cursor="") == [named]
        assert await alice.ids(sort_by=field, sort_order="desc", sort_cursor="") == []
    # A number or a date is never empty, so there it means the first page.
    assert len(await alice.ids(sort_by="posted_at", sort_cursor="")) == 2


async def test_cursor_takes_precedence_over_sort_cursor(alice: Member) -> None:
    await _fill(alice)
    whole = await alice.ids(sort_by="title")
    first = await alice.listed(sort_by="title", limit=4)

    # A client may send the last value back with digits lost; the cursor is exact.
    rest = await alice.ids(
        sort_by="title", cursor=first["meta"]["next_cursor"], sort_cursor="katze z"
    )

    assert [b["post_id"] for b in first["data"]] + rest == whole
    refused_alone = {"sort_by": "favorite_count", "sort_cursor": "null"}
    assert (await alice.get("/v1/bookmarks", **refused_alone)).status_code == 400
    second = await alice.listed(sort_by="favorite_count", limit=4)
    cursor = second["meta"]["next_cursor"]
    assert len(await alice.ids(**refused_alone, cursor=cursor)) == 5


MISFITS: tuple[tuple[dict[str, str], str], ...] = (
    ({}, "abc"),
    ({}, str(2**63)),
    ({}, "1.5"),
    ({"sort_by": "favorite_count"}, "2026-01-01"),
    ({"sort_by": "created_at"}, "1"),
    ({"sort_by": "posted_at"}, "katze"),
    ({"sort_by": "relevance", "q": "katze"}, "1"),
)


async def test_a_sort_cursor_of_the_wrong_type_is_refused(alice: Member) -> None:
    for asked, value in MISFITS:
        response = await alice.get("/v1/bookmarks", **asked, sort_cursor=value)
        assert response.status_code == 400
        assert response.json()["error"].startswith("sort_cursor: ")
