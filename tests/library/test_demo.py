"""The demo fills an empty library, and is removed without a trace."""

from collections import defaultdict
from typing import Any

import pytest

from bowerbird.errors import Refusal
from bowerbird.library import demo
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.demo import Demo
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.library.views.views import Views
from bowerbird.sources import post_links
from bowerbird.storage.accounts.accounts import AccountStore
from tests.support import writing
from tests.support.imports import dump
from tests.support.service import NOW, Member
from tests.support.writing import DAY, HOUR, SECOND

pytestmark = pytest.mark.anyio
EVERYTHING = {"is_unread_only": "false", "hide_archived": "false", "limit": 50}


def demo_of(member: Member) -> Demo:
    bookmarks = Bookmarks(member.database)
    views = Views(member.database, bookmarks, member.clock)
    return Demo(member.database, views, member.clock)


async def fill(member: Member) -> None:
    await demo_of(member).fill(await member.account())
    member.clock.now += HOUR


async def remove(member: Member) -> None:
    await demo_of(member).remove(await member.account())


async def views(member: Member) -> list[str]:
    return [view["slug"] for view in (await member.get("/v1/views")).json()["data"]]


async def runs(member: Member) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await member.get("/v1/imports")).json()["data"]
    return found


def test_the_demo_has_posts_of_every_kind_and_people_who_cannot_exist() -> None:
    posts = demo.posts(NOW)
    details = [post.record.tweet_details for post in posts]
    kinds = {one["type"] for each in details for one in each.attachments}
    assert 38 <= len(posts) <= 45
    assert kinds == {"image", "video", "gif", "poll", "link"}
    assert any(each.article for each in details)
    assert any(each.quoted_tweet for each in details)
    assert sum(each.meta.is_sub_tweet_of_thread for each in details) >= 6
    texts = "".join(each.text for each in details)
    for first, last in (("\u0590", "\u05ff"), ("\u0600", "\u06ff"), ("\u4e00", "\u9fff")):
        assert any(first <= each <= last for each in texts), first
    assert all(post.record.author_username.endswith(".example") for post in posts)
    assert not any(each.link for each in details)
    quoted = [each.quoted_tweet["link"] for each in details if each.quoted_tweet]
    assert not any(post_links.parse(link) for link in quoted)
    pictures = [one for each in details for one in each.attachments if one["type"] == "image"]
    assert all(one["alt_text"] for one in pictures)
    ids = {post.record.post_id for post in posts}
    assert len(ids) == len(posts)
    metas = [each.meta for each in details]
    answered = {meta.tweet_reply_to_tweet_id for meta in metas if meta.tweet_reply_to_tweet_id}
    assert len(answered) >= 6
    assert answered | {meta.tweet_conversation_id for meta in metas} <= ids


def test_the_posts_of_a_thread_follow_each_other() -> None:
    threads = defaultdict[str, list[str]](list)
    for post in demo.posts(NOW):
        details = post.record.tweet_details
        threads[details.meta.tweet_conversation_id].append(details.posted_at)

    assert max(map(len, threads.values())) == 5
    for posted in threads.values():
        assert posted == sorted(posted)


async def test_filling_and_removing_leaves_nothing(alice: Member) -> None:
    before = await dump(alice)
    await fill(alice)
    account = await alice.account()
    assert account.total == len(demo.posts(NOW))
    assert 0 < account.unread < account.total
    assert account.archived == 2
    assert await views(alice) == ["long-reads"]
    assert set(await writing.labels(alice)) == demo.label_names()
    assert (await alice.listed(**EVERYTHING))["data"][0]["bookmarked_at"].startswith("2026-07-18")
    assert await demo_of(alice).is_present(account)

    await remove(alice)
    assert await dump(alice) == before
    assert await views(alice) == []
    assert not await demo_of(alice).is_present(await alice.account())
    assert [run["state"] for run in await runs(alice)] == ["undone"]
    assert await writing.recount(alice) == []


async def test_what_its_owner_did_with_the_demo_goes_with_it_weeks_later(alice: Member) -> None:
    before = await dump(alice)
    await fill(alice)
    first, second, third, *_ = await alice.ids(**EVERYTHING)
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{first}", {"is_read": True})
    await writing.add(alice, "birds", second)
    await writing.send(alice, "DELETE", f"/v1/bookmarks/{third}")
    await writing.send(alice, "PATCH", "/v1/views/long-reads", {"name": "Mine"})
    alice.clock.now += 45 * DAY
    await Sweeping(alice.database, alice.clock).sweep()
    assert (await runs(alice))[0]["undo_until"] is None

    await remove(alice)

    assert await dump(alice) == before
    assert await views(alice) == []


@pytest.mark.both
async def test_what_belongs_to_the_owner_stays(alice: Member) -> None:
    await writing.send(alice, "POST", "/v1/views", {"name": "My own"})
    await alice.save(post_id="76", tags=["cooking"])
    await writing.send(alice, "DELETE", "/v1/bookmarks/76")
    alice.clock.now += SECOND
    await fill(alice)
    await alice.save(post_id="77", tags=["birds", "mine"])
    await writing.send(alice, "POST", "/v1/views", {"name": "Later"})

    await remove(alice)
    assert await alice.ids(**EVERYTHING) == ["77"]
    assert await views(alice) == ["my-own", "later"]
    kept = await writing.labels(alice)
    assert kept == {"birds": 1, "cooking": 0, "mine": 1}


async def test_filling_twice_changes_nothing_and_the_demo_can_come_back(alice: Member) -> None:
    await fill(alice)
    filled = await dump(alice)
    await fill(alice)
    assert await dump(alice) == filled
    assert len(await runs(alice)) == 1

    for post_id in await alice.ids(**EVERYTHING):
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id}")
    assert (await alice.account()).total == 0
    await fill(alice)
    assert (await alice.account()).total == len(demo.posts(NOW))
    assert await views(alice) == ["long-reads"]


async def test_undoing_its_import_removes_the_demo_as_well(alice: Member) -> None:
    before = await dump(alice)
    await fill(alice)
    post_id = (await alice.ids(**EVERYTHING))[0]
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{post_id}", {"is_read": True})
    run = (await runs(alice))[0]
    undone = await writing.send(alice, "POST", f"/v1/imports/{run['run_id']}/undo")
    assert undone.json()["data"]["removed"] == len(demo.posts(NOW))
    assert await dump(alice) == before
    assert await views(alice) == []


async def test_a_library_with_posts_gets_no_demo(alice: Member) -> None:
    await alice.save(post_id="77")
    with pytest.raises(Refusal, match="for an empty library"):
        await fill(alice)
    assert await alice.ids(**EVERYTHING) == ["77"]


async def test_the_free_plan_gets_the_demo_without_its_view(free: Member) -> None:
    await fill(free)
    assert (await free.account()).total == len(demo.posts(NOW))
    await AccountStore(free.database).set_plan(free.account_id, "pro")
    assert await views(free) == []
    await remove(free)
    assert (await free.account()).total == 0
