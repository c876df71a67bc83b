"""The order in which pages arrive does not matter."""

from itertools import permutations
from typing import Any

import pytest

from bowerbird.model.arrival import Completeness, OrderSource
from tests.support import writing
from tests.support.imports import found, take
from tests.support.service import NOW, Member, Service, member

pytestmark = pytest.mark.anyio

INDEX = ((NOW // 1000) - 100_000) << 20
LONG = "A long text that X shows in full only in a note, to the very end."
ROOT = {"tweet_conversation_id": "1"}
REPLY = {"tweet_conversation_id": "1", "is_sub_tweet_of_thread": True}
COUNTS = {"favorite_count": 7}


def at(number: int) -> dict[str, Any]:
    return {"order": OrderSource.X, "sort_index": INDEX + (number << 20)}


PAGES = [
    # A page of bookmarks.
    [found(text=LONG, meta=ROOT, metrics=COUNTS, **at(9)), found(post_id="2", **at(8))],
    # A folder, whose name is a label, with the beginning of a text and an older index.
    [
        found(Completeness.PREVIEW, text=LONG[:20] + "…", metrics=COUNTS, tags=["f"], **at(1)),
        found(post_id="3", meta=REPLY, tags=["f"], **at(7)),
    ],
    # A file of links with dates of saving.
    [
        found(
            Completeness.STUB,
            post_id=post_id,
            text="",
            name="",
            author_id="",
            order=OrderSource.SAVED_DATE,
            bookmarked_at="2024-05-01T10:00:00+00:00",
            line=int(post_id),
            tags=["file"],
        )
        for post_id in ("1", "2", "4")
    ],
    # Pages of single posts, without a place, as they are opened.
    [found(post_id="4", text="the whole text"), found(post_id="3", meta=REPLY)],
]


async def result_of(member: Member, pages: Any) -> list[dict[str, Any]]:
    for page in pages:
        await take(member, *page)
    assert await writing.recount(member) == []
    return list((await member.listed())["data"])


async def test_pages_in_any_order_give_equal_libraries(cast: Service) -> None:
    results = []
    for number, pages in enumerate(permutations(PAGES)):
        someone = await member(cast.app, cast.database, cast.clock, f"m{number}", "pro")
        async with someone.client:
            results.append(await result_of(someone, pages))

    assert [post["post_id"] for post in results[0]] == ["1", "2", "3", "4"]
    assert results[0][0]["tags"] == ["f", "file"]
    assert results[0][0]["tweet_details"]["meta"]["tweet_is_thread"] is True
    assert all(one == results[0] for one in results)


async def test_pages_again_in_any_order_change_nothing(alice: Member) -> None:
    await result_of(alice, PAGES)
    version = await writing.version(alice)

    for pages in permutations(PAGES):
        await result_of(alice, pages)

    assert await writing.version(alice) == version
