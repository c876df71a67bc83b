"""GET /v1/bookmarks: sort_by and sort_order."""

from typing import Any

import pytest

from bowerbird.model.posts.filters import SORT_FIELDS
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _saved(member: Member, posts: list[dict[str, Any]]) -> list[str]:
    records = [make.post(**fields) for fields in posts]
    await member.save_all(records)
    return [record["post_id"] for record in records]


COUNTS = ("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count")
# Values of each field in rising order, which is not the order of their texts.
RISING: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "created_at",
        [
            {"bookmarked_at": moment}
            for moment in (
                "2026-03-01T00:00:00Z",
                "2026-03-03T01:00:00+02:00",
                "2026-03-03T00:00:00Z",
            )
        ],
    ),
    (
        "posted_at",
        [{"posted_at": f"2026-01-01T{time}"} for time in ("10:00:00Z", "08:00:00-05:00")],
    ),
    ("imported_at", [{"imported_at": f"2026-01-0{day}T00:00:00"} for day in (1, 2)]),
    ("sort_index", [{"sort_index": value} for value in (-(2**63), 2**62, 2**62 + 1)]),
    ("author", [{"author": "amy", "name": "Zoe"}, {"author": "Zed", "name": "Aaron"}]),
    *(
        (
            field,
            [
                {"metrics": {**dict.fromkeys(COUNTS, 5), field: value}}
                for value in (2, 10, 2**53 + 1)
            ],
        )
        for field in COUNTS
    ),
]


@pytest.mark.both
@in_turn(("field", "posts"), RISING)
async def test_each_field_sorts_by_its_value(
    alice: Member, field: str, posts: list[dict[str, Any]]
) -> None:
    saved = await _saved(alice, [posts[-1], *posts[:-1]])
    rising = await alice.ids(sort_by=field, sort_order="asc")
    falling = await alice.ids(sort_by=field, sort_order="desc")
    default = await alice.ids(sort_by=field)
    for post_id in saved:
        await alice.remove(post_id)

    assert rising == [*saved[1:], saved[0]]
    assert falling == rising[::-1]
    assert default == (rising if field == "author" else falling)


@pytest.mark.both
async def test_title_is_the_article_title_or_the_first_line(alice: Member) -> None:
    titled, lined, blank = await _saved(
        alice,
        [
            {"text": "zzz", "article": {"title": "Banana"}},
            {"text": "\n\n  apple\nzzz"},
            {"text": "cherry", "article": {"title": ""}},
        ],
    )

    assert await alice.ids(sort_by="title") == [lined, titled, blank]
    assert await alice.ids(sort_by="title", sort_order="desc") == [blank, titled, lined]


@pytest.mark.both
async def test_text_sorts_case_folded_and_bytewise_on_both_databases(alice: Member) -> None:
    texts = (
        *("a b", "A-b", "ab", "B", "_", "É", "zebra", "\uffee", "\U0001f600", "straße", "STRASSF"),
    )
    ids = dict(zip(texts, await _saved(alice, [{"text": text} for text in texts]), strict=True))

    expected = ["_", "a b", "A-b", "ab", "B", "straße", "STRASSF", "zebra", "É"]
    expected += ["\uffee", "\U0001f600"]
    assert await alice.ids(sort_by="title") == [ids[text] for text in expected]


async def test_only_the_first_128_characters_affect_the_order(alice: Member) -> None:
    first, second = await _saved(alice, [{"text": "x" * 128 + "b"}, {"text": "x" * 128 + "a"}])

    assert await alice.ids(sort_by="title") == [first, second]


async def test_an_unknown_sort_is_refused_and_the_valid_ones_listed(alice: Member) -> None:
    for text in ("likes", "Title", "created_at,title", "-title", "b.number"):
        response = await alice.get("/v1/bookmarks", sort_by=text)

        assert response.status_code == 400
        error = response.json()["error"]
        assert error.startswith("sort_by: must be one of sort_index, created_at, posted_at, ")
        assert all(field in error for field in (*SORT_FIELDS, "relevance"))


async def test_an_unknown_sort_order_is_refused(alice: Member) -> None:
    for asked in ({}, {"sort_by": "title"}, {"q": "a", "sort_by": "relevance"}):
        response = await alice.get("/v1/bookmarks", sort_order="up", **asked)
        assert response.status_code == 400
        assert response.json()["error"] == "sort_order: must be asc or desc, got 'up'."


async def test_relevance_needs_a_search(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks", sort_by="relevance")

    assert response.status_code == 400
    assert response.json()["error"] == "sort_by: relevance needs a search."
