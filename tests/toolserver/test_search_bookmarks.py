"""`search_bookmarks`: best matches first, including read and archived posts."""

import pytest

from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, ids, refusal

pytestmark = pytest.mark.anyio


async def test_it_finds_read_and_archived_posts(alice: Member) -> None:
    read = await alice.save(text="an owl at noon", is_read=True)
    archived = await alice.save(text="an owl at night", is_archived=True)
    await alice.save(text="a crow")

    answer = await call(alice, "search_bookmarks", query="owl")

    assert {p["post_id"] for p in answer["bookmarks"]} == {read["post_id"], archived["post_id"]}
    assert answer["filters"] == {
        "query": "owl",
        "mode": "keyword",
        "is_unread_only": False,
        "hide_archived": False,
        "sort_by": "relevance",
    }


async def test_the_best_match_comes_first_unless_sort_by_is_sent(alice: Member) -> None:
    best = await alice.save(text="owl")
    other = await alice.save(text="an owl among many many other words that are about other birds")

    assert await ids(alice, "search_bookmarks", query="owl") == [best["post_id"], other["post_id"]]
    newest = await ids(alice, "search_bookmarks", query="owl", sort_by="sort_index")
    assert newest == [other["post_id"], best["post_id"]]


async def test_pages_of_a_search_skip_nothing(alice: Member) -> None:
    saved = {(await alice.save(text="owl"))["post_id"] for _ in range(5)}

    first = await call(alice, "search_bookmarks", query="owl", limit=3)
    second = await call(
        alice, "search_bookmarks", query="owl", limit=3, cursor=first["next_cursor"]
    )

    shown = [p["post_id"] for p in [*first["bookmarks"], *second["bookmarks"]]]
    assert set(shown) == saved
    assert len(shown) == 5
    assert second["next_cursor"] is None


async def test_filters_narrow_a_search(alice: Member) -> None:
    await alice.save(text="owl", author="bea")
    mine = await alice.save(text="owl", author="ada", tags=["night"])

    assert await ids(alice, "search_bookmarks", query="owl", tag="Night") == [mine["post_id"]]
    assert await ids(alice, "search_bookmarks", query="owl -owl") == []


@in_turn("query", ["", "   ", None])
async def test_an_empty_query_is_rejected(alice: Member, query: str | None) -> None:
    said = await refusal(alice, "search_bookmarks", query=query)

    assert said.startswith("INVALID_REQUEST: query: is ")


async def test_an_unknown_mode_is_rejected(alice: Member) -> None:
    said = await refusal(alice, "search_bookmarks", query="owl", mode="telepathic")

    assert "mode: must be one of hybrid, keyword, semantic, got 'telepathic'." in said


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
async def test_the_free_plan_does_not_allow_search_by_meaning(free: Member, mode: str) -> None:
    said = await refusal(free, "search_bookmarks", query="owl", mode=mode)

    assert said == (
        "VECTOR_SEARCH_NOT_ALLOWED: Search by meaning needs a paid plan. "
        "Call search_bookmarks with mode keyword instead."
    )


async def test_search_by_meaning_finds_posts_without_a_common_word(alice: Member) -> None:
    bread = await alice.save(text="My sourdough starter doubled overnight; the loaf has a crust.")
    other = await alice.save(text="Freelancers set aside a third of each invoice for taxes.")
    await alice.embed()

    semantic = await call(alice, "search_bookmarks", query="baking at home", mode="semantic")
    hybrid = await ids(alice, "search_bookmarks", query="invoice", mode="hybrid")

    assert semantic["bookmarks"][0]["post_id"] == bread["post_id"]
    assert semantic["filters"]["mode"] == "semantic"
    assert "vector_search_term" not in semantic["filters"]
    assert hybrid == [other["post_id"]]


async def test_an_incomplete_vector_store_is_reported_with_its_progress(alice: Member) -> None:
    await alice.save(text="an owl")

    said = await refusal(alice, "search_bookmarks", query="owl", mode="semantic")

    assert said == (
        "VECTOR_SEARCH_NOT_ALLOWED: The vector store is being built: 0 of 1 posts. "
        "Call search_bookmarks with mode keyword instead."
    )
