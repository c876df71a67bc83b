"""A question by words that finds nothing is told about search by meaning, if it can be used."""

from typing import Any

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio

QUESTION = "which herons nest beside quiet rivers"
SOME_WORDS = "how does the starter of a sourdough loaf rise quickly"
SEARCH = "search_bookmarks also finds posts by their meaning."
HYBRID = "Try mode hybrid, which also finds posts by their meaning."
BUILDING = "Only words were searched. The vector store is being built: 0 of 1 posts."
TEXT = "My sourdough starter doubled overnight and the loaf has a crisp crust"


async def advice(member: Member, tool: str, **arguments: Any) -> str:
    return str((await call(member, tool, **arguments)).get("advice", ""))


@pytest.mark.parametrize("query", [QUESTION, SOME_WORDS])
async def test_every_tool_with_a_question_names_the_search_by_meaning(
    alice: Member, query: str
) -> None:
    await alice.save(text=TEXT)
    await alice.embed()

    assert await advice(alice, "search_bookmarks", query=query, mode="keyword") != ""
    assert HYBRID in await advice(alice, "search_bookmarks", query=query, mode="keyword")
    assert SEARCH in await advice(alice, "list_bookmarks", query=query)
    assert SEARCH in await advice(alice, "count_bookmarks", query=query)
    assert SEARCH in await advice(alice, "facet_bookmarks", query=query, by="author")


async def test_a_search_says_once_that_the_vectors_are_not_built_yet(alice: Member) -> None:
    await alice.save(text=TEXT)

    for query in ("sourdough", QUESTION, SOME_WORDS):
        said = await advice(alice, "search_bookmarks", query=query)
        assert said.count(BUILDING) == 1, query
    assert BUILDING in await advice(alice, "list_bookmarks", query=QUESTION)
    # Who asks for words gets words.
    assert await advice(alice, "search_bookmarks", query="sourdough", mode="keyword") == ""
    await alice.embed()
    assert BUILDING not in await advice(alice, "search_bookmarks", query="sourdough")


async def test_a_search_by_meaning_counts_the_posts_that_it_cannot_find_yet(alice: Member) -> None:
    first = await alice.save(text=TEXT)
    await alice.embed()
    await alice.save_all([make.post(text="a heron"), make.post(text="a rocket")])
    sentence = "2 posts cannot be found by meaning yet: vectors are still being built."

    for mode in ("hybrid", "semantic"):
        found = await call(alice, "search_bookmarks", query="sourdough", mode=mode)
        assert found["vector_pending"] == 2
        assert sentence in found["advice"], mode
    assert sentence in await advice(alice, "similar_bookmarks", post_id=first["post_id"])


async def test_the_free_plan_is_not_told_about_it(free: Member) -> None:
    await free.save(text=TEXT)

    for tool in ("search_bookmarks", "list_bookmarks", "count_bookmarks"):
        said = await advice(free, tool, query=QUESTION)
        assert "meaning" not in said
        assert "vector" not in said
