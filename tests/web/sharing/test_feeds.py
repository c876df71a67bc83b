"""The Atom and JSON feeds of shared lists and of private ones."""

import re
from typing import Any

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.rest.test_shares import change, created, path_of
from tests.support import feeds, make, service, writing
from tests.support.service import Member, Service
from tests.support.writing import SECOND
from tests.web.sharing.test_shared_pages import HOSTILE

pytestmark = pytest.mark.anyio
FORMS = ("atom_url", "json_url")


async def feed_of(cast: Service, member: Member, **fields: Any) -> tuple[Any, dict[str, Any]]:
    """Both feeds of a new share."""
    share = await created(member, **fields)
    found = [await cast.nobody.get(path_of(share, form)) for form in FORMS]
    return feeds.atom(found[0]), feeds.json_feed(found[1])


async def test_both_feeds_are_valid_and_have_the_same_posts(cast: Service) -> None:
    await cast.alice.save(tags=["birds"], text="First line\nand second", name="Mara")
    await cast.alice.save(tags=["birds"], article={"title": "On nests", "plain_text": "Twigs."})
    await cast.alice.save(tags=["birds"], text="", posted_at="")

    atom, json_feed = await feed_of(
        cast, cast.alice, label_name="birds", title="Nests", description="All.", curator="Ann"
    )

    assert feeds.texts(atom, "title")[1:] == ["On nests", "First line and second"]
    items = json_feed["items"]
    assert feeds.texts(atom, "id") == [item["id"] for item in items]
    assert feeds.texts(atom, "content")[2] == items[2]["content_html"]
    assert "First line<br>\nand second" in items[2]["content_html"]
    assert items[1]["title"] == "On nests"
    assert items[2]["authors"] == [{"name": "Mara"}]
    assert (json_feed["title"], json_feed["description"]) == ("Nests", "All.")
    assert json_feed["authors"] == [{"name": "Ann"}]
    assert feeds.link(atom, "alternate") == json_feed["home_page_url"]
    assert feeds.link(atom, "next") is None


@pytest.mark.parametrize("text", [HOSTILE, "\x0b\x0c\ufffe\uffff\x7f", "]]>", "&#0;", "\U0001f426"])
async def test_a_feed_is_valid_whatever_the_posts_contain(cast: Service, text: str) -> None:
    await cast.alice.save(
        tags=["birds"],
        text=text,
        name=text,
        posted_at="9999-12-31T23:59:59+00:00",
        quoted={"text": text},
        attachments=[{"type": "link", "title": text, "url": f"https://x.example/{text}"}],
    )
    await cast.alice.save(tags=["birds"], text=text, posted_at="0001-01-01T00:00:00+00:00")

    title = re.sub("[\x00-\x1f\x7f]", "", text)
    atom, json_feed = await feed_of(cast, cast.alice, label_name="birds", title=title)

    assert len(json_feed["items"]) == 2
    for content in feeds.texts(atom, "content"):
        assert "<script" not in content


async def test_feeds_have_fifty_posts_and_continue(cast: Service) -> None:
    posts = [make.post(tags=["birds"], text=f"number {number}") for number in range(120)]
    await cast.alice.save_all(posts)
    share = await created(cast.alice, label_name="birds")

    seen: dict[str, list[str]] = {form: [] for form in FORMS}
    for form in FORMS:
        address: str | None = share[form]
        while address:
            response = await cast.nobody.get(address.removeprefix("http://localhost:8080"))
            if form == "atom_url":
                feed = feeds.atom(response)
                assert feeds.link(feed, "self") == address
                seen[form] += feeds.texts(feed, "title")
                address = feeds.link(feed, "next")
            else:
                found = feeds.json_feed(response)
                assert found["feed_url"] == address
                assert len(found["items"]) <= 50
                texts = [re.search(r"number \d+", one["content_html"]) for one in found["items"]]
                seen[form] += [text[0] for text in texts if text]
                address = found.get("next_url")

    assert seen["atom_url"] == [f"number {number}" for number in range(119, -1, -1)]
    assert seen["json_url"] == seen["atom_url"]


@pytest.mark.both
async def test_a_feed_that_has_not_changed_is_not_sent_again(cast: Service) -> None:
    post = await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")

    for form in ("url", *FORMS):
        path = path_of(share, form)
        first = await cast.nobody.get(path)
        tag, changed = first.headers["etag"], first.headers["last-modified"]
        same = [
            await cast.nobody.get(path, headers=headers)
            for headers in (
                {"If-None-Match": tag},
                {"If-None-Match": f'"x", {tag}'},
                {"If-None-Match": tag, "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
                {"If-Modified-Since": changed},
            )
        ]
        assert [each.status_code for each in same] == [304] * 4
        assert same[0].content == b""
        assert same[0].headers["etag"] == tag
        # Reading a post is nobody's business.
        await writing.send(
            cast.alice, "PATCH", f"/v1/bookmarks/{post['post_id']}", {"is_read": True}
        )
        await writing.send(
            cast.alice, "PATCH", f"/v1/bookmarks/{post['post_id']}", {"is_read": False}
        )
        cast.clock.now += 5 * SECOND
        again = await cast.nobody.get(path)
        assert (again.headers["etag"], again.headers["last-modified"]) == (tag, changed)


@pytest.mark.parametrize("since", ["", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "0", "\x7f" * 99])
async def test_a_feed_is_sent_if_it_may_have_changed(cast: Service, since: str) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")
    path = path_of(share, "atom_url")
    first = await cast.nobody.get(path)

    for headers in ({"If-Modified-Since": since}, {"If-None-Match": '"x"'}):
        assert (await cast.nobody.get(path, headers=headers)).status_code == 200
    cast.clock.now += 2 * SECOND
    await cast.alice.save(tags=["birds"])
    headers = {"If-None-Match": first.headers["etag"]}
    assert (await cast.nobody.get(path, headers=headers)).status_code == 200
    headers = {"If-Modified-Since": first.headers["last-modified"]}
    assert (await cast.nobody.get(path, headers=headers)).status_code == 200


async def test_the_names_of_posts_stay_when_the_address_changes(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")
    before = feeds.json_feed(await cast.nobody.get(path_of(share, "json_url")))

    renamed = (await change(cast.alice, share["id"], new_address=True)).json()["data"]

    after = feeds.json_feed(await cast.nobody.get(path_of(renamed, "json_url")))
    assert [item["id"] for item in after["items"]] == [item["id"] for item in before["items"]]
    other = await created(cast.alice, label_name="birds")
    another = feeds.json_feed(await cast.nobody.get(path_of(other, "json_url")))
    assert another["items"][0]["id"] != before["items"][0]["id"]


@pytest.mark.both
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("unread", ["new"]),
        ("all", ["gone", "starred", "archived", "read", "new"]),
        ("archive", ["archived"]),
        ("favourites", ["starred"]),
    ],
)
async def test_a_private_feed_of_each_list(cast: Service, name: str, texts: list[str]) -> None:
    await cast.alice.save(text="new")
    await cast.alice.save(text="read", is_read=True)
    await cast.alice.save(text="archived", is_read=True, is_archived=True)
    await cast.alice.save(text="starred", is_read=True, tags=["Favourite"])
    gone = "2026-07-01T00:00:00+00:00"
    await cast.alice.save(text="gone", is_read=True, gone_at=gone, bookmarked_at=gone)

    atom, json_feed = await feed_of(cast, cast.alice, list=name, audience="feed")

    assert feeds.texts(atom, "title") == texts
    assert "home_page_url" not in json_feed
    assert feeds.link(atom, "alternate") is None


async def test_the_operator_can_forbid_sharing(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")
    forbidding = app.build(Settings(sharing="off", fetch_posts="off"), cast.database, cast.clock)
    member = cast.alice.on(forbidding)
    stranger = service.client_on(forbidding)

    for form in ("url", *FORMS):
        assert (await stranger.get(path_of(share, form))).status_code == 404
    assert (await member.get("/v1/shares")).json()["data"][0]["state"] == "forbidden"
    refused = await writing.send(member, "POST", "/v1/shares", {"label_name": "birds"})
    assert (refused.status_code, "forbids sharing" in refused.json()["error"]) == (400, True)
