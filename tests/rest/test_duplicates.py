"""GET /v1/bookmarks/duplicates lists posts that are there several times; resolve keeps one."""

from typing import Any

import httpx
import pytest

from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.storage.database import Transaction
from tests.rest.paging import items
from tests.rest.test_changes import library, since_now
from tests.support import make, writing
from tests.support.posts.sources import no_report
from tests.support.service import Member

pytestmark = pytest.mark.anyio

PATH = "/v1/bookmarks/duplicates"
TEXT = "the same long text about the nests of bowerbirds"


def link(url: str) -> list[dict[str, Any]]:
    return [{"type": "link", "url": url}]


async def fill(member: Member) -> None:
    a, b = link("https://a.example/x?utm_source=me"), link("http://www.a.example/x/")
    await member.save_all(
        [
            make.post(post_id="11", text=TEXT, tags=["a"]),
            make.post(post_id="12", text=f"{TEXT}  https://t.co/x", tags=["b", "c"]),
            make.post(post_id="13", text=TEXT.upper(), is_read=True),
            make.post(post_id="21", text="one short text", attachments=a),
            make.post(post_id="22", text="another short text", attachments=b, note="mine"),
            # The same text and links: one group.
            make.post(post_id="31", text=f"{TEXT} again", attachments=link("https://b.example")),
            make.post(post_id="32", text=f"{TEXT} again", attachments=link("https://b.example")),
            make.post(post_id="41", text="this one is alone in the library"),
        ]
    )


async def groups(member: Member, **params: Any) -> list[dict[str, Any]]:
    return await items(member, PATH, **params)


def short(found: list[dict[str, Any]]) -> set[tuple[str, ...]]:
    return {(one["same"], *(post["post_id"] for post in one["posts"])) for one in found}


async def resolve(member: Member, *groups: tuple[str, list[str]]) -> httpx.Response:
    body = {"groups": [{"keep": keep, "remove": remove} for keep, remove in groups]}
    return await writing.send(member, "POST", f"{PATH}/resolve", body)


ALL = {("text", "11", "12", "13"), ("link", "21", "22"), ("link", "31", "32")}


async def test_posts_with_the_same_links_or_text_are_groups(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save(post_id="99", text=TEXT)

    found = await groups(alice)

    assert short(found) == ALL
    assert await groups(alice, limit=1) == found
    assert [one["same"] for one in found] == ["link", "link", "text"]
    assert short(await groups(alice, same="link")) == ALL - {("text", "11", "12", "13")}
    assert short(await groups(alice, same="text", limit=1)) == {
        ("text", "11", "12", "13"),
        ("text", "31", "32"),
    }
    keep = {one["posts"][0]["post_id"]: one["keep"] for one in found}
    assert keep == {"11": "12", "21": "22", "31": "31"}
    [post] = [post for one in found for post in one["posts"] if post["post_id"] == "12"]
    assert (post["tags"], post["is_annotated"], post["is_read"]) == (["b", "c"], False, False)
    assert await groups(bob) == []


def image(url: str) -> list[dict[str, Any]]:
    return [{"type": "image", "url": url}]


async def test_posts_with_the_same_pictures_are_groups(alice: Member) -> None:
    nest = "https://pbs.twimg.com/media/Nest1"
    bluesky = "https://cdn.bsky.app/img"
    both = image(f"{nest}.jpg") + image("https://a.example/b.png")
    still = [{"type": "video", "url": "https://v.example/1", "preview_image": f"{nest}.jpg"}]
    card = [{"type": "link", "url": "https://c.example", "preview_image": f"{nest}.jpg"}]
    pictures = {
        "11": image(f"{nest}.jpg"),
        "12": image(f"{nest}?format=png&name=small"),
        "13": image(f"{nest}.jpg:large"),
        "14": still,
        "21": image("https://a.example/p?id=1&w=200&format=webp"),
        "22": image("https://a.example/p?id=1"),
        "31": image(f"{bluesky}/feed_fullsize/plain/did:plc:a/bafk1@jpeg"),
        "32": image(f"{bluesky}/feed_thumbnail/plain/did:plc:b/bafk1@jpeg"),
        # Not all pictures, another one, and that of a linked page.
        "41": both,
        "42": image("https://a.example/p?id=2"),
        "43": card,
    }
    posts = [make.post(post_id=one, text="", attachments=some) for one, some in pictures.items()]
    # The same text too: listed once.
    posts += [
        make.post(post_id=one, text=TEXT, attachments=image("https://d.example/x"))
        for one in ("51", "52")
    ]
    await alice.save_all(posts)

    by_picture = {
        ("picture", "11", "12", "13", "14"),
        ("picture", "21", "22"),
        ("picture", "31", "32"),
    }
    assert short(await groups(alice)) == by_picture | {("text", "51", "52")}
    assert short(await groups(alice, limit=1)) == by_picture | {("text", "51", "52")}
    assert short(await groups(alice, same="picture")) == by_picture | {("picture", "51", "52")}
    found = await alice.crawl(is_duplicate="true")
    assert sorted(found) == ["11", "12", "13", "14", "21", "22", "31", "32", "51", "52"]
    answer = await resolve(alice, ("11", ["14"]), ("21", ["22"]))
    assert (answer.status_code, answer.json()["meta"]["affected"]) == (200, 2)
    assert writing.refused(await resolve(alice, ("11", ["41"])))[0] == 400


@pytest.mark.both
async def test_pictures_of_stored_posts_are_looked_at_in_the_background(alice: Member) -> None:
    same = image("https://a.example/p")
    posts = [make.post(post_id=one, text="one two", attachments=same) for one in ("11", "12")]
    await alice.save_all(posts)

    async def as_the_release_before(transaction: Transaction) -> None:
        forget = "UPDATE bookmark SET media = media & ~524288, picture_print = NULL, word_form = 3"
        await transaction.run(f"{forget} WHERE account_id = :id", {"id": alice.account_id})

    await alice.database.write(as_the_release_before)
    page = (await alice.get(PATH)).json()
    assert (page["data"], "still being looked at" in page["meta"]["hint"]) == ([], True)
    # What that release knew is found as before.
    assert await alice.ids(max_words="2") == ["12", "11"]

    await Reindexing(alice.database, alice.clock, 0).run(alice.account_id, no_report)

    assert short(await groups(alice)) == {("picture", "11", "12")}
    assert "hint" not in (await alice.get(PATH)).json()["meta"]
    assert await writing.recount(alice) == []


async def test_a_large_group_shows_its_first_posts(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n), text=TEXT) for n in range(100, 130)])

    [group] = await groups(alice)

    assert group["count"] == 30
    assert [post["post_id"] for post in group["posts"]] == [str(n) for n in range(100, 110)]


@pytest.mark.both
async def test_one_of_each_group_stays_and_gets_the_labels_of_the_others(alice: Member) -> None:
    await fill(alice)
    before = await library(alice)
    follower = await since_now(alice)

    answer = await resolve(alice, ("12", ["11", "13", "77"]), ("21", ["22"]), ("31", ["32"]))

    body = answer.json()
    assert answer.status_code == 200, answer.text
    assert body["data"] == [
        {"post_id": "12", "tags": ["a", "b", "c"]},
        {"post_id": "21", "tags": None},
        {"post_id": "31", "tags": None},
    ]
    meta = body["meta"]
    assert (meta["affected"], meta["not_found"], meta["not_changed"]) == (3, ["77"], ["22"])
    # The post with a note stays, so that its note is not lost.
    assert await groups(alice) == await groups(alice, same="link")
    assert short(await groups(alice)) == {("link", "21", "22")}
    assert sorted(await library(alice)) == ["12", "21", "22", "31", "41"]
    assert await writing.labels(alice) == {"a": 1, "b": 1, "c": 1}
    [change] = (await alice.get("/v1/bookmarks/changes")).json()["data"]
    # The post that got labels stays.
    assert change["summary"] == "Moved 3 posts to the trash."
    await follower.catch_up()
    events = [(event["type"], event.get("post_id")) for event in follower.seen]
    assert sorted(events) == [
        ("post.deleted", "11"),
        ("post.deleted", "13"),
        ("post.deleted", "32"),
        ("post.labelled", "12"),
    ]

    undone = await writing.send(
        alice, "POST", f"/v1/bookmarks/changes/{meta['change']['change_id']}/undo"
    )

    assert undone.json()["data"]["state"] == "undone"
    after = await library(alice)
    for post in (*before.values(), *after.values()):
        del post["updated_at"]
    assert after == before
    assert await writing.labels(alice) == {"a": 1, "b": 1, "c": 1}
    assert short(await groups(alice)) == {("text", "12", "11", "13"), *ALL} - {
        ("text", "11", "12", "13")
    }
    assert await writing.recount(alice) == []


async def test_posts_that_are_no_duplicates_are_not_removed(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save(post_id="99", text=TEXT)
    before = await library(alice)

    answer = await resolve(alice, ("11", ["12"]), ("31", ["41"]))
    assert writing.refused(answer) == (400, "INVALID_REQUEST")
    assert "41 has neither the text, the links nor the pictures of 31" in writing.sentence(answer)
    answer = await resolve(alice, ("99", ["11"]))
    assert writing.refused(answer) == (404, "NOT_FOUND")
    answer = await resolve(alice, ("11", ["99"]))
    assert answer.json()["meta"]["not_found"] == ["99"]
    assert answer.json()["meta"]["affected"] == 0
    assert "change" not in answer.json()["meta"]
    requests: list[list[tuple[str, list[str]]]] = [
        [("11", ["11"])],
        [("11", ["12"]), ("12", ["13"])],
        [("11", [])],
        [],
    ]
    for wrong in requests:
        assert writing.refused(await resolve(alice, *wrong)) == (400, "INVALID_REQUEST")
    many = [str(n) for n in range(1_000, 1_051)]
    assert writing.refused(await resolve(alice, ("11", many))) == (400, "INVALID_REQUEST")
    answer = await resolve(alice, ("11", many[:30]), ("12", many[30:]))
    assert "at most 50" in writing.sentence(answer)
    assert await library(alice) == before
    assert sorted(await library(bob)) == ["99"]


async def test_a_post_cannot_get_more_labels_than_allowed(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT, tags=[f"a{n}" for n in range(99)])
    await alice.save(post_id="2", text=TEXT, tags=["b", "c"])
    before = await library(alice)

    answer = await resolve(alice, ("1", ["2"]))

    assert writing.refused(answer) == (400, "INVALID_REQUEST")
    assert "100 labels" in writing.sentence(answer)
    assert await library(alice) == before


async def test_duplicates_need_a_paid_plan(free: Member) -> None:
    assert writing.refused(await free.get(PATH)) == (402, "FILTER_NOT_ALLOWED")
