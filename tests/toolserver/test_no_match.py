"""A count, a change or an export without matches says why, as an empty list does."""

from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, refusal

pytestmark = pytest.mark.anyio


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
        ("undo_change", {"change_id": "x"}, "last hour. Do not retry with the same value."),
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
