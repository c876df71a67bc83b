"""updated_at: when a bookmark last changed, and the filter that asks for it."""

from typing import Any

import pytest

from bowerbird.model.instants import with_offset
from tests.rest.test_changes import library, since_now
from tests.support import make, writing
from tests.support.service import NOW, Member
from tests.support.writing import SECOND

pytestmark = [pytest.mark.anyio, pytest.mark.both]

ALL = {"is_unread_only": "false", "hide_archived": "false"}


async def test_it_is_the_time_of_the_last_event_of_a_post(alice: Member) -> None:
    posts = [make.post(post_id=str(n), tags=["a"] if n % 2 else None) for n in range(1, 9)]
    follower = await since_now(alice)
    await alice.save_all(posts)
    writes: list[tuple[str, str, Any]] = [
        ("PATCH", "/v1/bookmarks/1", {"is_read": True}),
        ("PATCH", "/v1/bookmarks/2", {"note": "mine"}),
        (
            "POST",
            "/v1/bookmarks/update",
            {"filter": {"tag": "a"}, "is_archived": True, "expected_count": 3},
        ),
        ("POST", "/v1/labels/add", {"tweet_ids": ["1", "4"], "label_name": "b"}),
        ("POST", "/v1/labels/remove", {"tweet_ids": ["4"], "label_name": "b"}),
        ("POST", "/v1/bookmarks/5/highlights", {"quote": "post"}),
        ("PATCH", f"/v1/labels/{await writing.label_id(alice, 'a')}", {"label_name": "c"}),
        ("DELETE", "/v1/bookmarks/6", None),
        ("POST", "/v1/bookmarks/6/restore", None),
        ("PATCH", "/v1/bookmarks/7", {"is_read": False}),
    ]
    answers = {}
    for method, path, body in writes:
        alice.clock.now += SECOND
        answer = await writing.send(alice, method, path, body)
        assert answer.status_code < 300, answer.text
        answers[path] = answer
    alice.clock.now += SECOND
    undo = answers["/v1/bookmarks/update"].json()["meta"]["change"]["change_id"]
    await writing.send(alice, "POST", f"/v1/bookmarks/changes/{undo}/undo")
    alice.clock.now += SECOND
    await alice.change(posts[7], tweet_details={**posts[7]["tweet_details"], "text": "new"})
    # The same post again changes nothing.
    alice.clock.now += SECOND
    await alice.save_all([posts[0]])

    await follower.catch_up()
    last = {event["post_id"]: event["at"] for event in follower.seen if "post_id" in event}
    assert follower.copy == await library(alice)
    assert {post_id: post["updated_at"] for post_id, post in follower.copy.items()} == last
    assert len(set(last.values())) > 4


async def test_lists_counts_and_exports_have_what_changed_since(alice: Member, bob: Member) -> None:
    await alice.save_all([make.post(post_id=str(n)) for n in range(1, 6)])
    await bob.save(post_id="9")
    alice.clock.now += SECOND
    since = with_offset(alice.clock.now)
    for post_id in ("2", "4"):
        await writing.send(alice, "PATCH", f"/v1/bookmarks/{post_id}", {"is_read": True})

    assert await alice.crawl(updated_since=since, **ALL, limit=1) == ["4", "2"]
    assert await alice.crawl(updated_since=since, **ALL, sort_by="posted_at") == ["4", "2"]
    assert await alice.crawl(updated_since=since) == []
    later = with_offset(alice.clock.now + 1)
    assert await alice.crawl(updated_since=later, **ALL) == []
    assert len(await alice.crawl(updated_since=with_offset(NOW), **ALL)) == 5
    # The whole day is included, from its first instant.
    assert len(await alice.crawl(updated_since="2026-07-18", **ALL)) == 5
    assert await alice.crawl(updated_since="2026-07-19", **ALL) == []
    count = await alice.get("/v1/bookmarks/count", updated_since=since, **ALL)
    assert count.json()["data"]["count"] == 2


async def test_a_post_that_is_sent_says_nothing_about_its_update(alice: Member) -> None:
    await alice.save(post_id="1", updated_at="2001-01-01T00:00:00+00:00")

    assert (await writing.bookmark(alice, "1"))["updated_at"] == with_offset(NOW)


async def test_the_free_plan_cannot_filter_by_it(free: Member) -> None:
    answer = await free.get("/v1/bookmarks", updated_since="2026-07-18")

    assert writing.refused(answer) == (402, "FILTER_NOT_ALLOWED")
