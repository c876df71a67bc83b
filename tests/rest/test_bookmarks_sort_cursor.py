"""GET /v1/bookmarks by a client that pages with sort_cursor alone, also where values are equal."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest

from bowerbird.model.posts.filters import SORT_FIELDS
from tests.support import make
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

Bookmark = dict[str, Any]
METRICS: Final = (
    *("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count"),
)


def _count(name: str) -> Callable[[Bookmark], str]:
    path = "non_real_time_engagement_metrics"
    return lambda one: str(one["tweet_details"]["meta"][path][name])


# What a client sees of each sort field.
SHOWN: Final[dict[str, Callable[[Bookmark], str]]] = {
    "sort_index": lambda one: str(one["sort_index"]),
    "created_at": lambda one: one["bookmarked_at"],
    "posted_at": lambda one: one["tweet_details"]["posted_at"],
    "imported_at": lambda one: one["imported_at"],
    "title": lambda one: one["tweet_details"]["text"].split("\n")[0],
    "author": lambda one: one["author_username"],
    **{name: _count(name) for name in METRICS},
}


def _post(value: int, **fields: Any) -> Bookmark:
    """A post whose sort fields all have this value."""
    return make.post(
        sort_index=value,
        text=f"Katze {value:02}\n{fields}",
        author=f"user{value:02}",
        posted_at=f"2026-01-{value + 1:02}T00:00:00Z",
        imported_at=f"2026-02-{value + 1:02}T00:00:00",
        bookmarked_at=f"2026-03-{value + 1:02}T00:00:00Z",
        metrics=dict.fromkeys(METRICS, value),
        **fields,
    )


async def _crawl(member: Member, field: str, **params: Any) -> list[str]:
    """The ids of a list, read page by page with the value of the last post."""
    seen: list[str] = []
    place: dict[str, str] = {}
    while True:
        answer = await member.listed(sort_by=field, **params, **place)
        seen += [bookmark["post_id"] for bookmark in answer["data"]]
        if answer["meta"]["next_cursor"] is None:
            return seen
        place = {"sort_cursor": SHOWN[field](answer["data"][-1])}


async def test_a_crawl_by_sort_cursor_alone_returns_each_post_once(alice: Member) -> None:
    random = Random(1)  # noqa: S311 - test data
    values = [value for value in range(20) for _ in range(random.randint(0, 5))]
    random.shuffle(values)
    await alice.save_all([_post(value, is_read=random.random() < 0.3) for value in values])

    assert set(SHOWN) == set(SORT_FIELDS)
    for field in SORT_FIELDS:
        for asked in ({}, {"q": "katze"}, {"is_unread_only": "false", "sort_order": "asc"}):
            whole = await alice.ids(sort_by=field, limit=100, **asked)
            for limit in (6, 13):
                assert await _crawl(alice, field, limit=limit, **asked) == whole


async def test_a_sort_cursor_where_no_page_ends_continues_after_the_value(alice: Member) -> None:
    await alice.save_all([_post(value) for value in (0, 1, 1, 1, 2, 2)])
    whole = await alice.ids(sort_by="title")

    # A page of four ends among those with the value 1 no more than a page of one hundred does.
    for limit in (4, 100):
        assert await alice.ids(sort_by="title", sort_cursor="Katze 01", limit=limit) == whole[4:]
    assert await alice.ids(sort_by="title", sort_cursor="Katze 01", limit=3) == whole[3:]


async def test_more_equal_values_than_fit_on_a_page_are_named_in_a_hint(alice: Member) -> None:
    await alice.save_all([_post(value) for value in (0, 1, 1, 1, 1, 1, 1, 2)])
    whole = await alice.ids(sort_by="title")
    asked = {"sort_by": "title", "limit": 2}

    first = await alice.listed(**asked)
    second = await alice.listed(**asked, sort_cursor="Katze 01")

    assert "hint" not in first["meta"]
    # Several pages end with this value, so nobody can say which of them was the last.
    assert [one["post_id"] for one in second["data"]] == whole[6:]
    assert second["meta"]["hint"] == (
        "6 posts have this value of title, more than a page. To read them all, send next_cursor as "
        "cursor, with or without sort_cursor."
    )
    assert await alice.crawl(**asked) == whole


async def test_the_last_page_says_so_if_its_sort_cursor_would_repeat_it(alice: Member) -> None:
    await alice.save_all([_post(value) for value in (0, 1, 1)])
    asked = {"sort_by": "title", "sort_order": "asc", "limit": 2}
    whole = await alice.ids(**{**asked, "limit": 100})

    first = await alice.listed(**asked)
    last = await alice.listed(**asked, sort_cursor="Katze 01")

    assert [one["post_id"] for one in first["data"] + last["data"]] == whole
    assert "hint" not in first["meta"]
    assert last["meta"]["next_cursor"] is None
    assert last["meta"]["hint"] == "This is the end of the list: next_cursor is null."
    # The value does not say that its page was the last one.
    assert await alice.listed(**asked, sort_cursor="Katze 01") == last

    await alice.save_all([_post(2)])
    assert "hint" not in (await alice.listed(**asked, sort_cursor="Katze 01"))["meta"]
    after = await alice.listed(**asked, sort_cursor="Katze 02")
    assert (after["data"], "hint" in after["meta"]) == ([], False)
