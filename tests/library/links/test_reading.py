"""A saved link gets the text of its post, and what its owner did stays."""

from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Refusal
from bowerbird.library import links as links_reading
from bowerbird.library.access.call_allowance import BURST
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.arrival import Completeness
from bowerbird.model.posts.networks import LEFT, Reason
from bowerbird.sources.file_posts import FilePost, found_post
from bowerbird.sources.post_links import parse, parse_listed
from tests.support import imports, saving, waiting, working
from tests.support.hosts.image_hosts import ImageHosts
from tests.support.hosts.links import (
    BLUESKY_HOST,
    REDDIT_HOST,
    SERVER,
    Reader,
    bluesky_posts,
    x_link,
    x_url,
)
from tests.support.hosts.networks import record
from tests.support.service import Member

pytestmark = pytest.mark.anyio

ELSEWHERE = "https://example.org/x"


@pytest.mark.both
async def test_a_link_to_x_gets_its_text_and_author(reader: Reader) -> None:
    link = reader.x_post(1, text='Look: <a href="https://t.co/a1">https://t.co/a1</a><br>#nest')
    [post_id] = await reader.save(link, labels=["birds"])
    await reader.member.client.patch(f"/v1/bookmarks/{post_id}", json={"is_read": True})
    before = await reader.post(post_id)
    assert await reader.is_due()

    await reader.run()

    after = await reader.post(post_id)
    assert after["tweet_details"]["text"] == "Look: https://t.co/a1\n#nest"
    assert after["author_details"]["name"] == "Nest Cam"
    assert after["author_username"] == "nestcam"
    kept = ("tags", "is_read", "is_archived", "sort_index", "bookmarked_at", "imported_at")
    assert {name: after.get(name) for name in kept} == {name: before.get(name) for name in kept}
    assert await reader.reason(post_id) is None
    assert not await reader.is_due()
    assert len(reader.hosts.requests) == 1


async def test_a_later_capture_is_richer(reader: Reader) -> None:
    [post_id] = await reader.save(reader.x_post(1, text="The beginning…"))
    await reader.run()

    await imports.take(reader.member, imports.found(post_id=post_id, text="The beginning, and all"))

    assert await reader.text(post_id) == "The beginning, and all"


async def test_links_to_other_networks_get_their_posts(reader: Reader) -> None:
    name, view = "alice.example", record(1)["item"]
    key = view["uri"].rpartition("/")[2]
    did = view["author"]["did"]
    reader.put(
        f"https://{BLUESKY_HOST}/xrpc/com.atproto.identity.resolveHandle?handle={name}",
        {"did": did},
    )
    uri = view["uri"].replace(":", "%3A").replace("/", "%2F")
    reader.put(f"https://{BLUESKY_HOST}/xrpc/app.bsky.feed.getPosts?uris={uri}", bluesky_posts(1))
    things = [
        {"kind": "t3", "data": {**REDDIT_POST, "name": "t3_abc", "title": "A bower"}},
        {"kind": "t1", "data": {"name": "t1_xyz", "body": "Blue caps.", "author": "crow"}},
    ]
    asked = f"https://{REDDIT_HOST}/api/info.json?id=t1_xyz%2Ct3_abc&raw_json=1"
    reader.put(asked, {"data": {"children": things}})
    status, bluesky, post, comment = await reader.save(
        reader.status(7),
        f"https://bsky.app/profile/{name}/post/{key}",
        "https://redd.it/abc",
        "https://www.reddit.com/r/birds/comments/abc/a_bower/xyz/",
    )
    reader.put(asked.replace("t1_xyz%2Ct3_abc", "t3_abc%2Ct1_xyz"), {"data": {"children": things}})

    await reader.run()

    assert await reader.text(status) == "Status number 7"
    assert await reader.text(bluesky) == view["record"]["text"]
    assert await reader.text(post) == "A bower\n\nMade of caps."
    assert await reader.text(comment) == "Blue caps."
    found = await reader.post(post)
    assert found["author_username"] == "bird"
    assert found["tweet_details"]["posted_at"].startswith("2024-05-01T")
    assert found["tweet_details"]["attachments"] == []
    assert not await reader.is_due()


YOUTUBE = "https://www.youtube.com/watch?v=Bower-Bird_"
ASKED_YOUTUBE = (
    "https://www.youtube.com/oembed?format=json&"
    "url=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3DBower-Bird_"
)


async def test_links_to_videos_and_blogs_get_their_titles(reader: Reader) -> None:
    reader.put(
        ASKED_YOUTUBE,
        {
            "title": "How to build a <b>bower</b>",
            "author_name": "Ada Birds",
            "author_url": "https://www.youtube.com/@adabirds",
            "thumbnail_url": "https://i.ytimg.com/vi/Bower-Bird_/hqdefault.jpg",
            "html": "<iframe></iframe>",
        },
    )
    reader.put(
        "https://www.tiktok.com/oembed?"
        "url=https%3A%2F%2Fwww.tiktok.com%2F%40_%2Fvideo%2F7300000000000000001",
        {"title": "Caps #blue", "author_url": "https://www.tiktok.com/@ada.l"},
    )
    reader.put(
        "https://www.tumblr.com/oembed/1.0?"
        "url=https%3A%2F%2Fada-birds.tumblr.com%2Fpost%2F731234567890123456",
        {"title": "Twigs", "author_url": "https://ada-birds.tumblr.com/"},
    )
    video, short, blog = await reader.save(
        "https://youtu.be/Bower-Bird_?si=abc",
        "https://www.tiktokv.com/share/video/7300000000000000001/",
        "https://www.tumblr.com/ada-birds/731234567890123456/twigs",
    )

    await reader.run()

    found = await reader.post(video)
    assert found["tweet_details"]["text"] == "How to build a <b>bower</b>"
    assert found["tweet_details"]["link"] == YOUTUBE
    assert found["tweet_details"]["attachments"][0]["type"] == "image"
    assert (found["author_username"], found["author_details"]["name"]) == ("adabirds", "Ada Birds")
    found = await reader.post(short)
    assert (found["tweet_details"]["text"], found["author_username"]) == ("Caps #blue", "ada.l")
    assert found["tweet_details"]["posted_at"].startswith("2023-11-11T00:48:18")
    assert (await reader.post(blog))["author_username"] == "ada-birds"
    assert await reader.text(blog) == "Twigs"
    assert not await reader.is_due()


async def test_a_video_that_other_sites_must_not_show_is_not_gone(reader: Reader) -> None:
    reader.put(ASKED_YOUTUBE, b"Unauthorized", "401 Unauthorized")
    [post_id] = await reader.save(YOUTUBE)

    await reader.run()

    assert await reader.reason(post_id) == (LEFT, Reason.SIGN_IN)
    assert "gone_at" not in await reader.post(post_id)


async def test_networks_that_need_an_account_are_not_asked(reader: Reader) -> None:
    ids = await reader.save(
        "https://www.linkedin.com/posts/ada_birds-activity-7254567890123456789-Ab1c",
        "https://www.instagram.com/reel/Bower-Bird_/",
        "https://www.threads.net/@ada/post/Bower-Bird_",
        "https://www.facebook.com/ada.birds/posts/10150000000000001",
    )

    await reader.run()

    assert {await reader.reason(one) for one in ids} == {(LEFT, Reason.NO_SOURCE)}
    assert reader.hosts.requests == []
    response = await reader.member.client.get(f"/v1/bookmarks/{ids[0]}")
    body = response.json()
    assert body["data"]["author_username"] == "ada"
    assert body["data"]["tweet_details"]["posted_at"].startswith("2024-10-22T19:02:48")
    assert body["meta"]["content_state"] == "link"
    assert "signed in" in body["meta"]["content_problem"]


REDDIT_POST = {
    "author": "bird",
    "selftext": "Made of caps.",
    "is_self": True,
    "url": "https://www.reddit.com/r/birds/comments/abc/",
    "created_utc": 1714521600.0,
    "score": 5,
}


async def test_missing_and_protected_posts_are_recorded(reader: Reader) -> None:
    missing, protected = x_link(1), x_link(2)
    reader.put(x_url(missing), {}, "404 Not Found")
    reader.put(x_url(protected), {}, "403 Forbidden")
    ids = await reader.save(missing, protected)

    await reader.run()

    posts = [await reader.post(one) for one in ids]
    assert [one["gone_reason"] for one in posts] == ["not found", "protected"]
    assert all(one["gone_at"] for one in posts)
    reasons = [Reason.GONE, Reason.PROTECTED]
    assert [await reader.reason(one) for one in ids] == [(LEFT, reason) for reason in reasons]
    await reader.run()
    assert len(reader.hosts.requests) == 2


async def test_a_network_that_publishes_nothing_is_not_asked(reader: Reader) -> None:
    link = parse_listed(f"https://{SERVER}/objects/01234567-89ab-cdef-0123-456789abcdef")
    assert link is not None
    await imports.take(reader.member, found_post(FilePost(link=link, line=1)))

    await reader.run()

    state = (LEFT, Reason.NO_SOURCE)
    assert await reader.reason(link.post_id) == state
    assert reader.hosts.requests == []
    assert not await reader.is_due()


async def test_the_newest_link_is_read_first_and_no_host_waits_for_another(
    reader: Reader,
) -> None:
    await reader.save(*(reader.x_post(number) for number in range(20)))
    reader.member.clock.now += 1
    newest, other = await reader.save(reader.x_post(99), reader.status(7))

    async def first_report(done: int, _total: int) -> None:
        assert done == 4
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await reader.reading.run(reader.member.account_id, first_report)

    assert await reader.text(newest) != ""
    assert await reader.text(other) == "Status number 7"
    await reader.run()
    assert len(reader.hosts.requests) == 22


async def test_a_host_gets_one_request_per_second(reader: Reader, bob: Member) -> None:
    other = Reader(bob, reader.hosts, reader.folder)
    await reader.save(*(reader.x_post(number) for number in range(5)))
    await other.save(reader.x_post(1), reader.x_post(9))

    await reader.run()
    await other.run()

    assert len(reader.hosts.requests) == 7
    assert reader.slept + other.slept == pytest.approx(6)


@pytest.mark.both
async def test_a_deleted_post_stays_deleted_and_an_undone_import_stays_undone(
    reader: Reader,
) -> None:
    member = reader.member
    [deleted] = await reader.save(reader.x_post(1))
    links = [parse(reader.x_post(number)) for number in (2, 3)]
    posts = [found_post(FilePost(link=link, line=1)) for link in links if link]
    run_id = await imports.run(member, *posts)
    await reader.run()
    filled = [one.record.post_id for one in posts]
    assert [await reader.text(one) for one in filled] == ["The nest is full."] * 2
    assert (await member.client.delete(f"/v1/bookmarks/{deleted}")).status_code == 200

    runs = ImportRuns(member.database, member.clock)
    await runs.undo(await member.account(), run_id)
    await reader.run()

    for post_id in (deleted, *filled):
        assert (await member.get(f"/v1/bookmarks/{post_id}")).status_code == 404
    assert not await reader.is_due()


async def test_a_post_that_is_a_link_again_after_an_undo_is_asked_for(reader: Reader) -> None:
    member = reader.member
    [post_id] = await reader.save(reader.x_post(1))
    run_id = await imports.run(member, imports.found(post_id=post_id, text="From a file"))
    await reader.run()
    assert await reader.text(post_id) == "From a file"

    await ImportRuns(member.database, member.clock).undo(await member.account(), run_id)
    assert await reader.reason(post_id) == ("waiting", "")
    await reader.run()

    assert await reader.text(post_id) == "The nest is full."


async def test_posts_with_a_text_and_posts_that_are_gone_from_the_library_are_not_asked_for(
    reader: Reader,
) -> None:
    filled, deleted = await reader.save(x_link(1), x_link(2))
    await imports.take(reader.member, imports.found(post_id=filled, text="captured"))
    assert (await reader.member.client.delete(f"/v1/bookmarks/{deleted}")).status_code == 200

    await reader.run()

    assert reader.hosts.requests == []
    assert not await reader.is_due()


async def test_a_worker_reads_a_link_soon_and_only_if_it_may(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    off = Reader(alice, hosts, tmp_path, {"fetch_posts": "off"})
    assert off.jobs.recurring == []
    reader = Reader(alice, hosts, tmp_path)
    [post_id] = await reader.save(reader.x_post(1))
    await off.run()
    assert hosts.requests == []

    await reader.jobs.sweep()
    worker = working.worker(alice.database, reader.jobs.kind.run, kinds=[reader.jobs.kind])
    async with working.at_work(worker):

        async def has_text() -> bool:
            return bool(await reader.text(post_id))

        await waiting.until(has_text)


async def test_links_from_before_are_asked_for_again_on_request(reader: Reader) -> None:
    [post_id] = await reader.save(link := x_link(1))
    reader.put(x_url(link), {}, "404 Not Found")
    await reader.run()
    assert not await reader.is_due()
    reader.x_post(1)

    assert await reader.reading.ask_again(await reader.member.account()) == 1
    await reader.run()

    assert await reader.text(post_id) == "The nest is full."
    assert "gone_at" not in await reader.post(post_id)
    assert await reader.reading.ask_again(await reader.member.account()) == 0
    stored = await reader.member.database.rows("SELECT completeness FROM bookmark", {})
    assert [row[0] for row in stored] == [Completeness.PREVIEW]


@pytest.mark.both
async def test_a_request_to_ask_again_leaves_most_of_it_to_a_job(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_reading, "PER_TRANSACTION", 2)
    ids = await reader.save(*(x_link(number) for number in range(5)))
    for number in range(5):
        reader.put(x_url(x_link(number)), {}, "404 Not Found")
    await reader.run()
    assert {await reader.reason(one) for one in ids} == {(LEFT, Reason.GONE)}

    account = await reader.member.account()
    await reader.reading.ask_again_soon(account)
    counts = await reader.reading.counts(account)
    assert (counts.waiting, counts.reasons) == (2, {Reason.GONE: 3})

    async def all_wait() -> bool:
        return (await reader.reading.counts(account)).waiting == len(ids)

    kind = reader.jobs.kind
    async with working.at_work(working.worker(reader.member.database, kind.run, kinds=[kind])):
        await waiting.until(all_wait)


async def test_a_host_that_is_silent_during_a_preview_is_left_alone(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, account = parse(address := reader.x_post(1)), await reader.member.account()
    assert link is not None
    reader.hosts.dripping.add(x_url(address).removeprefix("https://"))
    monkeypatch.setattr(links_reading, "PREVIEW_S", 0.2)

    assert await reader.reading.preview(account, link) is Reason.UNREACHABLE
    assert await reader.reading.preview(account, link) is Reason.BUSY
    assert len(reader.hosts.requests) == 1


@pytest.mark.both
async def test_an_account_can_ask_for_a_few_previews_at_once(reader: Reader) -> None:
    link, account = parse(reader.x_post(1)), await reader.member.account()
    assert link is not None

    async def ask() -> None:
        # Each takes a second of the clock.
        for _ in range(2 * BURST):
            await reader.reading.preview(account, link)

    with pytest.raises(Refusal, match="Too many attempts"):
        await ask()


@pytest.mark.both
async def test_a_post_that_gets_another_address_is_not_due_for_ever(reader: Reader) -> None:
    reader.put(f"https://{SERVER}/api/v1/statuses/2", {}, "503 Service Unavailable")
    [post_id] = await reader.save(f"https://{SERVER}/ap/users/1/statuses/2")
    await reader.run()
    posts = [{"post_id": post_id, "author_username": "ada", "tweet_details": {"link": ELSEWHERE}}]
    await saving.results(reader.member, posts=posts)
    reader.member.clock.now += 60 * MICROSECONDS
    await reader.run()

    assert await reader.reason(post_id) == (LEFT, Reason.NO_SOURCE)
    assert not await reader.is_due()
