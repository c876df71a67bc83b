"""GET /v1/bookmarks: sort_by and sort_order."""

from typing import Any

import pytest

from bowerbird.model.filters import SORT_FIELDS
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

COUNTS = ("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count")


async def _saved(member: Member, posts: list[dict[str, Any]]) -> list[str]:
    records = [make.post(**fields) for fields in posts]
    await member.save_all(records)
    return [record["post_id"] for record in records]


async def test_created_at_sorts_by_the_time_of_bookmarking(alice: Member) -> None:
    moments = ("2026-03-01T00:00:00Z", "2026-03-03T00:00:00Z", "2026-03-03T01:00:00+02:00")
    first, last, middle = await _saved(alice, [{"bookmarked_at": moment} for moment in moments])

    assert await alice.ids(sort_by="created_at") == [last, middle, first]
    assert await alice.ids(sort_by="created_at", sort_order="asc") == [first, middle, last]


async def test_posted_at_compares_instants_and_not_text(alice: Member) -> None:
    late, early = await _saved(
        alice,
        [{"posted_at": "2026-01-01T08:00:00-05:00"}, {"posted_at": "2026-01-01T10:00:00+00:00"}],
    )

    assert await alice.ids(sort_by="posted_at") == [late, early]


async def test_imported_at_sorts_by_the_first_insert(alice: Member) -> None:
    late, early = await _saved(
        alice, [{"imported_at": "2026-01-02T00:00:00"}, {"imported_at": "2026-01-01T00:00:00"}]
    )

    assert await alice.ids(sort_by="imported_at") == [late, early]
    assert await alice.ids(sort_by="imported_at", sort_order="asc") == [early, late]


@in_turn("field", COUNTS)
async def test_counts_sort_largest_first_by_default(alice: Member, field: str) -> None:
    others = {name: 5 for name in COUNTS if name != field}
    ten, two, big = await _saved(
        alice, [{"metrics": {**others, field: count}} for count in (10, 2, 2**53 + 1)]
    )
    falling = await alice.ids(sort_by=field)
    rising = await alice.ids(sort_by=field, sort_order="asc")
    for post_id in (ten, two, big):
        await alice.remove(post_id)

    assert falling == [big, ten, two]
    assert rising == [two, ten, big]


async def test_sort_index_compares_all_64_bits(alice: Member) -> None:
    below, above, least = await _saved(
        alice, [{"sort_index": 2**62}, {"sort_index": 2**62 + 1}, {"sort_index": -(2**63)}]
    )

    assert await alice.ids(sort_by="sort_index") == [above, below, least]
    assert await alice.ids(sort_by="sort_index", sort_order="asc") == [least, below, above]


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


async def test_text_sorts_case_folded_and_bytewise_on_both_databases(alice: Member) -> None:
    texts = (
        "a b",
        "A-b",
        "ab",
        "B",
        "_",
        "É",
        "zebra",
        "\uffee",
        "\U0001f600",
        "straße",
        "STRASSF",
    )
    ids = dict(zip(texts, await _saved(alice, [{"text": text} for text in texts]), strict=True))

    expected = ["_", "a b", "A-b", "ab", "B", "straße", "STRASSF", "zebra", "É"]
    expected += ["\uffee", "\U0001f600"]
    assert await alice.ids(sort_by="title") == [ids[text] for text in expected]


async def test_only_the_first_128_characters_affect_the_order(alice: Member) -> None:
    first, second = await _saved(alice, [{"text": "x" * 128 + "b"}, {"text": "x" * 128 + "a"}])

    assert await alice.ids(sort_by="title") == [first, second]


async def test_author_sorts_by_handle(alice: Member) -> None:
    upper, lower = await _saved(
        alice, [{"author": "Zed", "name": "Aaron"}, {"author": "amy", "name": "Zoe"}]
    )

    assert await alice.ids(sort_by="author") == [lower, upper]


async def test_ties_follow_the_direction_of_the_sort(alice: Member) -> None:
    same: dict[str, Any] = {
        "sort_index": 5,
        "text": "same",
        "bookmarked_at": "2026-01-01T00:00:00Z",
    }
    ids = await _saved(alice, [same, same, same])

    for field in SORT_FIELDS:
        assert await alice.ids(sort_by=field, sort_order="asc") == ids
        assert await alice.ids(sort_by=field, sort_order="desc") == ids[::-1]


async def test_sort_order_reverses_the_default_list_too(alice: Member) -> None:
    ids = await _saved(alice, [{}, {}])

    assert await alice.ids(sort_order="asc") == ids
    assert await alice.ids(sort_order="DESC") == ids[::-1]


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


async def test_sorting_and_filtering_combine(alice: Member) -> None:
    few, many, _ = await _saved(
        alice,
        [
            {"author": "ada", "text": "katze", "metrics": {"favorite_count": 1}},
            {"author": "ada", "text": "katze", "metrics": {"favorite_count": 9}},
            {"author": "eve", "text": "katze", "metrics": {"favorite_count": 5}},
        ],
    )

    assert await alice.ids(author="ada", sort_by="favorite_count") == [many, few]
    assert await alice.ids(author="ada", q="katze", sort_by="favorite_count") == [many, few]
