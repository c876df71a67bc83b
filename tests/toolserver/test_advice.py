"""What a tool says when little or nothing is found, and what it left out."""

from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, refusal

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


async def fill(member: Member) -> None:
    read = [make.post(text="owl", author="ada", is_read=True) for _ in range(2)]
    await member.save_all([make.post(author="kernel_ada", tags=["databases"]), *read])


@in_turn(
    ("filters", "sentence"),
    [
        ({"label": "databses"}, "No post has the label 'databses'. Did you mean 'databases'?"),
        ({"author": "kernal_ada"}, "No post is by 'kernal_ada'. Did you mean 'kernel_ada'?"),
        ({"query": "kernel*ada"}, "A * counts only at the end of a word"),
        ({"label": ["databses"]}, "Did you mean 'databases'?"),
        ({"label": "zebras, databses"}, "'databses'. Did you mean 'databases'?"),
    ],
)
async def test_every_answer_of_zero_names_what_was_meant(
    alice: Member, filters: dict[str, Any], sentence: str
) -> None:
    await fill(alice)

    assert sentence in (await call(alice, "count_bookmarks", **filters))["advice"]
    assert sentence in (await call(alice, "facet_bookmarks", by="month", **filters))["advice"]
    for tool, more in (
        ("update_bookmarks", {"is_read": True}),
        ("delete_bookmarks", {}),
        ("add_label", {"label": "x"}),
    ):
        dry = await call(alice, tool, filter=filters, dry_run=True, **more)
        assert dry["count"] == 0
        assert dry["advice"].startswith("There is nothing to change. "), tool
        assert sentence in dry["advice"], tool
    said = await refusal(alice, "create_export", format="csv", **filters)
    assert said.startswith("INVALID_REQUEST: There is nothing to export. ")
    assert sentence in said
    assert "count_bookmarks" not in said


async def test_a_count_of_several_words_says_that_posts_have_some_of_them(alice: Member) -> None:
    await alice.save(text="the owl sleeps by day")

    counted = await call(alice, "count_bookmarks", query="owl sleeps zebra")

    assert counted["count"] == 0
    assert "1 post has some of them; search_bookmarks finds these." in counted["advice"]


async def test_a_search_with_an_unknown_label_does_not_blame_the_words(alice: Member) -> None:
    await alice.save(text="sqlite is fast", tags=["databases"])
    await alice.embed()

    for mode in ("keyword", "hybrid"):
        found = await call(alice, "search_bookmarks", query="sqlite", label="databses", mode=mode)
        assert found["total_count"] == 0
        assert found["advice"].startswith("No post has the label 'databses'."), mode
        assert "words" not in found["advice"]


async def test_the_trash_is_empty(alice: Member) -> None:
    dry = await call(alice, "restore_bookmarks", filter={}, dry_run=True)

    assert (dry["count"], dry["advice"]) == (0, "The trash is empty.")


async def test_ids_that_are_not_there_are_named(alice: Member) -> None:
    saved = (await alice.save())["post_id"]

    deleted = await call(alice, "delete_bookmarks", post_ids=["1", saved, "2"])
    restored = await call(alice, "restore_bookmarks", post_ids=[saved, "3"])

    assert (deleted["affected"], deleted["not_found"]) == (1, ["1", "2"])
    assert deleted["advice"] == "The ids in not_found are not in the library."
    assert (restored["affected"], restored["not_found"]) == (1, ["3"])
    assert restored["advice"] == "The ids in not_found are not in the trash."
    assert "not_found" not in await call(alice, "delete_bookmarks", post_ids=[saved])


async def test_words_that_no_post_has_are_not_presented_as_found(alice: Member) -> None:
    await alice.save_all(
        [
            make.post(text="My sourdough starter doubled overnight; the loaf has a crust."),
            make.post(text="Kneading dough for bread takes ten minutes."),
        ]
    )
    await alice.embed()

    near = await call(alice, "search_bookmarks", query="baking")
    assert near["filters"]["mode"] == "hybrid"
    assert near["total_count"] > 0, "there must be a post to warn about"
    assert near["advice"].startswith("No post has any of these words; these are only near")
    by_date = await call(alice, "search_bookmarks", query="baking", sort_by="posted_at")
    assert "only near in meaning" in by_date["advice"]
    exact = await call(alice, "search_bookmarks", query="sourdough baking")
    assert "near in meaning" not in exact.get("advice", "")
    for mode in ({}, {"mode": "hybrid"}, {"mode": "semantic"}):
        assert (await call(alice, "search_bookmarks", query="?!", **mode))["total_count"] == 0


async def test_a_word_on_another_page_counts(alice: Member) -> None:
    await alice.save_all(
        [
            make.post(text="Kneading dough for bread", posted_at="2026-07-02T00:00:00+00:00"),
            make.post(text="baking bread", posted_at="2026-07-01T00:00:00+00:00"),
        ]
    )
    await alice.embed()

    first = await call(alice, "search_bookmarks", query="baking", sort_by="posted_at", limit=1)

    assert first["next_cursor"], "the post with the word is on the second page"
    assert "near in meaning" not in first.get("advice", "")


async def test_the_free_plan_is_not_advised_to_drop_the_filter_of_a_change(free: Member) -> None:
    await free.save()

    for tool, more in (("update_bookmarks", {"is_archived": True}), ("delete_bookmarks", {})):
        for filters in ({"bookmarked_to": "-2y"}, {"query": "author:ada"}):
            said = await refusal(free, tool, filter=filters, dry_run=True, **more)
            assert said.startswith("FILTER_NOT_ALLOWED: The free plan does not include filters (")
            assert "Nothing was changed. Send the ids of the posts as post_ids" in said
            assert "without the filter" not in said
            assert "Remove" not in said
    said = await refusal(free, "list_bookmarks", query="author:ada")
    assert "(author: in query)" in said
    assert "Call again without the filter" in said


@in_turn(
    ("tool", "arguments", "sentence"),
    [
        ("get_export", {"job_id": "x"}, "'x' on this account. Do not retry with the same value."),
        ("undo_change", {"change_id": "x"}, "can be undone. Do not retry with the same value."),
        ("get_digest", {}, "No digest has been created yet. Tell the user."),
        ("get_bookmarks", {"post_ids": ["1"]}, "search_bookmarks and list_bookmarks return the"),
        ("get_view_bookmarks", {"slug": "x"}, "list_views returns the slugs."),
        ("get_view_bookmarks", {"slug": "birdz"}, "Did you mean 'birds'? Do not retry with the"),
        ("delete_label", {"label": "zzz"}, "list_labels returns the labels."),
        ("remove_label", {"label": "databses", "post_ids": ["1"]}, "Did you mean 'databases'?"),
        (
            "remove_label",
            {"label": "databses", "filter": {}, "dry_run": True},
            "Did you mean 'databases'?",
        ),
    ],
)
async def test_not_found_names_a_tool_that_exists(
    alice: Member, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    await alice.save(tags=["databases"])
    await call(alice, "create_view", name="Birds")

    said = await refusal(alice, tool, **arguments)

    assert said.startswith("NOT_FOUND: ")
    assert sentence in said
    assert "list tool" not in said


async def test_a_count_that_differs_asks_for_another_dry_run(alice: Member) -> None:
    await fill(alice)

    said = await refusal(alice, "update_bookmarks", filter={}, is_read=True, expected_count=2)

    assert said.startswith("COUNT_MISMATCH: ")
    assert "Call again with dry_run true" in said


async def test_a_dry_run_of_remove_label_counts_the_posts_that_have_it(alice: Member) -> None:
    await alice.save_all(
        [
            make.post(author="ada", tags=["birds"]),
            make.post(author="ada"),
            make.post(author="bea", tags=["birds"]),
        ]
    )
    given: dict[str, Any] = {"label": "birds", "filter": {"author": "ada"}}

    dry = await call(alice, "remove_label", **given, dry_run=True)
    removed = await call(alice, "remove_label", **given, expected_count=dry["count"])

    assert (dry["count"], removed["affected"]) == (1, 1)
    assert (await call(alice, "count_bookmarks", label="birds"))["count"] == 1


ALL: dict[str, Any] = {"is_unread_only": False, "hide_archived": False}

BOTH = "Send is_unread_only false and hide_archived false to include them."

ARCHIVED = "Send hide_archived false to include them."


async def fill_out(member: Member) -> None:
    """54 of 92 posts are neither read nor archived. Every fourth is by ada."""
    kinds = [
        *[{}] * 54,
        *[{"is_read": True}] * 20,
        *[{"is_archived": True}] * 11,
        *[{"is_read": True, "is_archived": True}] * 7,
    ]
    await member.save_all(
        [
            make.post(text=f"an owl number {number}", author="bea" if number % 4 else "ada", **kind)
            for number, kind in enumerate(kinds)
        ]
    )


async def advice_out(member: Member, tool: str, **arguments: Any) -> str:
    return str((await call(member, tool, **arguments)).get("advice", ""))


@pytest.mark.parametrize("tool", ["list_bookmarks", "count_bookmarks"])
async def test_the_number_is_exact_whatever_filters_are_given(alice: Member, tool: str) -> None:
    await fill_out(alice)
    counts: list[tuple[dict[str, Any], str]] = [
        ({}, f"38 read or archived posts are left out. {BOTH}"),
        ({"is_unread_only": False}, f"18 archived posts are left out. {ARCHIVED}"),
        ({"is_unread_only": True}, f"11 archived posts are left out. {ARCHIVED}"),
        (
            {"hide_archived": False},
            "27 read posts are left out. Send is_unread_only false to include them.",
        ),
        ({"author": "ada"}, f"9 read or archived posts are left out. {BOTH}"),
        ({"query": "owl"}, f"38 read or archived posts are left out. {BOTH}"),
        ({"author": "ada", "is_unread_only": True}, f"3 archived posts are left out. {ARCHIVED}"),
    ]
    for arguments, sentence in counts:
        said = await advice_out(alice, tool, **arguments)
        assert said == sentence, arguments


@pytest.mark.parametrize("tool", ["list_bookmarks", "count_bookmarks"])
async def test_who_chose_what_is_left_out_is_told_nothing(alice: Member, tool: str) -> None:
    await fill_out(alice)

    for chosen in (
        ALL,
        {"is_unread_only": True, "hide_archived": True},
        {"is_archived_only": True, "is_unread_only": False},
        {"query": "is:read is:archived"},
    ):
        assert await advice_out(alice, tool, **chosen) == "", chosen


async def test_nothing_is_said_if_nothing_was_left_out(alice: Member) -> None:
    await alice.save_all([make.post(text="owl", author="ada"), make.post(text="owl")])

    assert await advice_out(alice, "list_bookmarks") == ""
    assert await advice_out(alice, "count_bookmarks") == ""
    # One read post does not match the filter.
    await alice.save(text="heron", is_read=True)
    assert await advice_out(alice, "list_bookmarks", query="owl") == ""
    assert await advice_out(alice, "count_bookmarks", author="ada", query="owl") == ""
    assert (await advice_out(alice, "count_bookmarks")).startswith(
        "1 read or archived post is left"
    )


async def test_a_list_of_similar_words_counts_what_it_leaves_out(alice: Member) -> None:
    await alice.save(text="the owl sleeps in the old barn by day")
    await alice.save(text="the owl sleeps in the old barn at noon", is_read=True)

    said = await call(alice, "list_bookmarks", query="owl sleeps barn zebra")

    assert said["relaxed"] is True
    assert "1 read or archived post is left out." in said["advice"]


async def test_searches_facets_changes_and_exports_leave_nothing_out(alice: Member) -> None:
    await fill_out(alice)

    found = await call(alice, "search_bookmarks", query="owl", mode="keyword", limit=1)
    assert (found["total_count"], "advice" in found) == (92, False)
    facets = await call(alice, "facet_bookmarks", by="author")
    assert (facets["bookmarks"], "advice" in facets) == (92, False)
    dry = await call(alice, "update_bookmarks", filter={}, is_read=True, dry_run=True)
    assert (dry["count"], "left out" in dry["advice"]) == (92, False)
    begun = await call(alice, "create_export", format="json")
    assert (begun["total"], "left out" in begun["advice"]) == (92, False)


async def test_an_export_of_unread_posts_counts_the_archived_ones(alice: Member) -> None:
    await fill_out(alice)

    begun = await call(alice, "create_export", format="json", is_unread_only=True)

    assert begun["total"] == 54
    assert begun["advice"].startswith(f"11 archived posts are left out. {ARCHIVED} Not ready yet.")
    chosen = {"is_unread_only": True, "hide_archived": True}
    said = await advice_out(alice, "create_export", format="json", **chosen)
    assert "left out" not in said


async def test_a_view_counts_the_archived_posts_that_it_does_not_show(alice: Member) -> None:
    await fill_out(alice)
    buckets = [{"name": "Unread", "query": {"is_unread_only": True}}]
    await call(alice, "create_view", name="Owls", base_query={}, triage_buckets=buckets)
    await call(alice, "create_view", name="All", base_query={"hide_archived": False})
    include = "If the base_query of the view has hide_archived false, it includes them."

    assert await advice_out(alice, "get_view_bookmarks", slug="owls", response_format="ids") == (
        f"18 archived posts are left out. {include}"
    )
    asked: dict[str, Any] = {"slug": "owls", "bucket": "unread", "response_format": "ids"}
    assert await advice_out(alice, "get_view_bookmarks", **asked) == (
        f"11 archived posts are left out. {include}"
    )
    assert await advice_out(alice, "get_view_bookmarks", slug="all", response_format="ids") == ""


async def test_similar_posts_count_the_archived_ones(alice: Member) -> None:
    owl = await alice.save(text="the barn owl sleeps in the old barn")
    await alice.save(text="a barn owl sleeps by day in the barn", is_archived=True)
    await alice.embed()

    alone = await call(alice, "similar_bookmarks", post_id=owl["post_id"])
    assert alone["total_count"] == 0
    assert alone["advice"] == (
        "1 archived post is left out. Send hide_archived false to include it."
    )
    await alice.save(text="the barn owl sleeps in an old barn too")
    await alice.embed()
    near = await call(alice, "similar_bookmarks", post_id=owl["post_id"])
    assert (near["total_count"], near["advice"]) == (1, alone["advice"])
    full = await call(alice, "similar_bookmarks", post_id=owl["post_id"], limit=1)
    assert full["advice"].startswith("Archived posts are left out. Send hide_archived false")
    chosen = await call(alice, "similar_bookmarks", post_id=owl["post_id"], hide_archived=True)
    assert "advice" not in chosen
