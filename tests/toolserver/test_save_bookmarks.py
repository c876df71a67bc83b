"""The tool that saves posts and links."""

from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, refusal, result_of

pytestmark = pytest.mark.anyio

X = "https://x.com/nestcam/status/1945000111222333444"
X_ID = "1945000111222333444"


async def test_an_agent_saves_a_link_with_a_label_and_finds_it(alice: Member) -> None:
    saved = await call(alice, "save_bookmarks", links=[X], labels=["to read"], idempotency_key="a")

    assert saved == {
        "results": [{"index": 0, "ok": True, "post_id": X_ID, "result": "new"}],
        "succeeded": 1,
        "failed": 0,
        "truncated": False,
    }
    (listed,) = (await call(alice, "list_bookmarks", tag="to read"))["bookmarks"]
    assert (listed["post_id"], listed["author"]) == (X_ID, "nestcam")
    assert listed["labels"] == ["to read"]
    (found,) = (await call(alice, "search_bookmarks", query="nestcam"))["bookmarks"]
    assert found["post_id"] == X_ID
    again = await call(alice, "save_bookmarks", links=[X], labels=["to read"])
    assert again["results"][0]["result"] == "unchanged"


async def test_the_other_items_are_saved_if_one_fails(alice: Member) -> None:
    posts = [{"post_id": "20", "tweet_details": {"text": "a nest"}}, {"post_id": "21"}, "x"]

    saved = await call(alice, "save_bookmarks", posts=posts, links=["https://example.com", X])

    assert (saved["succeeded"], saved["failed"]) == (2, 3)
    assert [one["ok"] for one in saved["results"]] == [True, False, False, False, True]
    assert saved["results"][1]["error"] == (
        "INVALID_REQUEST: posts[1]: tweet_details: is required."
    )
    assert saved["results"][3]["error"].startswith(
        "INVALID_REQUEST: links[0]: 'https://example.com' is not a link to a post."
    )
    assert sorted(await alice.ids()) == sorted(["20", X_ID])


async def test_a_text_that_no_database_can_store_fails_alone(alice: Member) -> None:
    posts = [{"post_id": "20", "tweet_details": {"text": "a\x00b"}}, make.post(post_id="21")]

    saved = await call(alice, "save_bookmarks", posts=posts)

    assert [one["ok"] for one in saved["results"]] == [False, True]
    assert saved["results"][0]["error"] == (
        "INVALID_REQUEST: posts[0].tweet_details.text: contains U+0000 or half of a "
        "surrogate pair, which no database can store."
    )


async def test_the_text_of_an_agent_is_kept_until_a_source_has_the_post(alice: Member) -> None:
    post = {"post_id": X_ID, "tweet_details": {"text": "A summary of mine"}}
    await call(alice, "save_bookmarks", posts=[post], links=[X])
    assert await alice.ids(q="summary") == [X_ID]

    await call(alice, "save_bookmarks", links=[X])
    assert await alice.ids(q="summary") == [X_ID]
    await alice.save(post_id=X_ID, text="The first egg")

    assert await alice.ids(q="summary") == []
    assert await alice.ids(q="egg") == [X_ID]


async def test_an_agents_copy_never_replaces_a_post_that_the_library_has(alice: Member) -> None:
    await alice.save(post_id="20", text="the original", name="Ada", tags=["x"], is_read=True)
    invented = make.post(post_id="20", text="invented", name="Eve", tags=["y"], is_read=False)

    saved = await call(alice, "save_bookmarks", posts=[invented])

    assert saved["results"][0]["ok"] is True
    (shown,) = (await call(alice, "get_bookmarks", post_ids=["20"]))["bookmarks"]
    assert shown["tweet_details"]["text"] == "the original"
    assert shown["author_details"]["name"] == "Ada"
    assert shown["is_read"] is True
    assert shown["tags"] == ["x", "y"]


async def test_a_post_keeps_the_date_on_which_it_was_bookmarked(alice: Member) -> None:
    post = {"post_id": "20", "tweet_details": {"text": "a nest"}}
    saved_at = "2024-03-01T10:00:00+00:00"

    await call(alice, "save_bookmarks", posts=[{**post, "bookmarked_at": saved_at}])

    (shown,) = (await call(alice, "get_bookmarks", post_ids=["20"]))["bookmarks"]
    assert shown["bookmarked_at"].startswith("2024-03-01T10:00:00")


async def test_a_field_that_would_be_lost_is_refused(alice: Member) -> None:
    post = {"post_id": "20", "tweet_details": {"text": "a nest"}}

    saved = await call(
        alice,
        "save_bookmarks",
        posts=[{**post, "author": "edge"}, {**post, "saved_at": "x"}, post],
    )

    assert [one["ok"] for one in saved["results"]] == [False, False, True]
    assert saved["results"][0]["error"] == (
        "INVALID_REQUEST: posts[0]: Unknown field 'author'. Did you mean author_username?"
    )
    assert "'saved_at'. Did you mean bookmarked_at?" in saved["results"][1]["error"]


async def test_a_post_of_another_library_can_be_sent_as_get_bookmarks_returns_it(
    alice: Member, bob: Member
) -> None:
    original = await alice.save(text="an owl", note="mine", tags=["x"])
    (whole,) = (await call(alice, "get_bookmarks", post_ids=[original["post_id"]]))["bookmarks"]

    saved = await call(bob, "save_bookmarks", posts=[whole])

    assert saved["results"][0].get("error") is None
    assert saved["succeeded"] == 1


async def test_the_same_key_returns_the_first_result(alice: Member) -> None:
    arguments = {"links": [X, "nothing"], "idempotency_key": "k"}

    first = await call(alice, "save_bookmarks", **arguments)
    again = await call(alice, "save_bookmarks", **arguments)

    assert first["results"][0]["result"] == "new"
    assert again == first


@in_turn(
    ("arguments", "sentence"),
    [
        ({}, "INVALID_REQUEST: links: must have at least one link, unless posts has a post."),
        ({"links": X}, "INVALID_REQUEST: links: must be an array of at most 100 items, got"),
        ({"links": [X] * 101}, "INVALID_REQUEST: links: must be an array of at most 100 items"),
        (
            {"links": [X] * 51, "posts": [{}] * 50},
            "INVALID_REQUEST: links: must have at most 100 items together with posts, got 101",
        ),
        ({"links": [X], "labels": [""]}, "INVALID_REQUEST: labels[0]: must have 1 to 100"),
        ({"link": X}, "INVALID_REQUEST: Unknown field 'link'. Did you mean links?"),
    ],
)
async def test_the_error_names_the_invalid_argument(
    alice: Member, arguments: dict[str, Any], sentence: str
) -> None:
    said = await refusal(alice, "save_bookmarks", **arguments)

    assert said.startswith(sentence), said


async def test_a_hundred_failures_fit_in_one_result(alice: Member) -> None:
    links = ["https://example.com/" + "\U0001f426" * 200] * 100

    result = await result_of(alice, "save_bookmarks", links=links)

    assert len(result["content"][0]["text"].encode()) <= 25_000
    assert len(result["structuredContent"]["results"]) == 100
    assert result["structuredContent"]["truncated"] is True
    assert "is not a link" not in result["structuredContent"]["advice"]


async def test_saving_costs_a_free_account_no_call_and_labels_need_a_paid_plan(
    free: Member,
) -> None:
    for _ in range(100):
        await free.listed()

    saved = await call(free, "save_bookmarks", links=[X], labels=[])
    said = await refusal(free, "save_bookmarks", links=[X], labels=["x"])

    assert saved["succeeded"] == 1
    assert said.startswith("SUBSCRIPTION_REQUIRED: Writing labels needs a paid plan.")
    assert (await free.account()).calls_this_month == 100
