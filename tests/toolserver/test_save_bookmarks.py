"""The tool that saves posts and links."""

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio

X = "https://x.com/nestcam/status/1945000111222333444"
X_ID = "1945000111222333444"


async def test_an_agent_saves_a_link_with_a_label_and_finds_it(alice: Member) -> None:
    saved = await call(alice, "save_bookmarks", links=[X], labels=["to read"], idempotency_key="a")

    for name in ("change_id", "undo_until"):
        assert saved.pop(name)
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
