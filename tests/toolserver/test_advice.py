"""A list that is empty or cut says what to do next, and only what the plan allows."""

from typing import Any

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio


async def advice(member: Member, tool: str, **arguments: Any) -> str:
    answer = await call(member, tool, **arguments)
    assert answer.get("bookmarks", []) == []
    said: str = answer["advice"]
    return said


async def test_an_unknown_label_is_answered_with_the_nearest_one(alice: Member) -> None:
    await alice.save(tags=["AI stuff"])

    for name in ("ai-stuff", "AI stufff", "stuff"):
        said = await advice(alice, "list_bookmarks", label=name)
        assert said == f"No post has the label '{name}'. Did you mean 'AI stuff'?"
    said = await advice(alice, "search_bookmarks", query='label:"ai stuf"')
    assert "Did you mean 'AI stuff'?" in said
    said = await advice(alice, "list_bookmarks", label="gardening")
    assert said == "No post has the label 'gardening'. list_labels returns the labels."


@pytest.mark.both
async def test_an_unknown_author_is_answered_with_the_nearest_one(alice: Member) -> None:
    await alice.save(author="simonw", name="Simon Willison")

    for name in ("simonv", "@simonww", "Simon Wilison"):
        said = await advice(alice, "list_bookmarks", author=name)
        assert said == f"No post is by '{name}'. Did you mean 'simonw'?"
    assert "No post is by 'nobody'." in await advice(
        alice, "search_bookmarks", query="author:nobody"
    )


async def test_a_name_is_not_suggested_to_another_account(alice: Member, bob: Member) -> None:
    await alice.save(tags=["secret plans"], author="hidden_author")
    await bob.save()

    assert "plans" not in await advice(bob, "list_bookmarks", label="secret plan")
    assert "hidden_author" not in await advice(bob, "list_bookmarks", author="hidden_autor")


async def test_the_filter_that_excludes_everything_is_named(alice: Member) -> None:
    await alice.save_all([make.post(author="ada", tags=["sky"]) for _ in range(3)])

    said = await advice(
        alice, "list_bookmarks", author="ada", label="sky", posted_from="2026-05-01"
    )

    assert said == "Without posted_from, 3 posts match."


async def test_a_search_by_words_that_finds_nothing_suggests_hybrid(alice: Member) -> None:
    await alice.save(text="My sourdough starter doubled overnight; the loaf has a crust.")
    before = await advice(alice, "search_bookmarks", query="zebra", mode="keyword")
    assert "hybrid" not in before, "the vectors are not ready"
    await alice.embed()

    said = await advice(alice, "search_bookmarks", query="zebra", mode="keyword")

    assert "Try mode hybrid" in said


async def test_every_empty_list_has_advice(alice: Member) -> None:
    assert await advice(alice, "list_bookmarks") == (
        "The library is empty. save_bookmarks adds posts."
    )
    assert "create_view" in (await call(alice, "list_views"))["advice"]
    assert "no digest yet" in (await call(alice, "list_digests"))["advice"]
    await alice.save()
    await call(alice, "create_view", name="Owls", base_query={"query": "owl"})
    assert await advice(alice, "get_view_bookmarks", slug="owls")
    assert await advice(alice, "list_bookmarks", posted_from="2027-01-01")
    assert await advice(alice, "list_bookmarks", media_type="video", response_format="ids")


async def test_the_free_plan_is_advised_only_what_works(free: Member) -> None:
    saved = [make.post(text="long " * 100, tags=[c * 90 for c in "wxyz"]) for _ in range(64)]
    await free.save_all(saved)

    cut = await call(free, "list_bookmarks", limit=100)

    assert cut["count"] < 64
    assert cut["next_cursor"] is None, "the plan refuses a cursor"
    assert "Send response_format ids for the ids of all 64" in cut["advice"]
    assert "cursor" not in cut["advice"]
    every = await call(free, "list_bookmarks", limit=100, response_format="ids")
    assert set(every["post_ids"]) == {post["post_id"] for post in saved}
    assert "advice" not in every
    unseen = every["post_ids"][-1:]
    assert (await call(free, "get_bookmarks", post_ids=unseen))["bookmarks"]


async def test_the_free_plan_is_advised_a_higher_limit_before_the_end(free: Member) -> None:
    await free.save_all([make.post(text="owl") for _ in range(101)])

    few = await call(free, "list_bookmarks", limit=2)
    assert few["advice"] == "Send a higher limit (up to 100) to see more posts."
    whole = await call(free, "list_bookmarks", limit=100, response_format="ids")
    assert "no second page" in whole["advice"]
    assert "reverse sort_order" in whole["advice"]
    other_end = await call(
        free, "list_bookmarks", limit=100, sort_order="asc", response_format="ids"
    )
    assert set(whole["post_ids"]) | set(other_end["post_ids"]) > set(whole["post_ids"])
