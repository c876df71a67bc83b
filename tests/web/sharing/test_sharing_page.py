"""Sharing: the page, feeds, and pictures."""

import re
from typing import Any

import httpx
import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.rest.test_shares import change, created, path_of
from tests.support import make, service, writing
from tests.support.hosts import feeds
from tests.support.posts import keeping
from tests.support.posts.keeping import Shelf
from tests.support.service import Member, Service
from tests.support.writing import SECOND
from tests.web.house import House, Reader, signed_in, text_of
from tests.web.sharing.test_shared_pages import HOSTILE

pytestmark = pytest.mark.anyio


async def shares(member: Member) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await member.get("/v1/shares")).json()["data"]
    return found


def stranger(house: House) -> httpx.AsyncClient:
    return service.client_on(house.service)


async def test_a_label_is_shared_from_its_list(house: House, ann: Reader) -> None:
    await ann.member.save(tags=["field notes"], text="A blue nest")
    listed = await ann.page("/library?tag=field+notes&is_unread_only=false")
    [address] = re.findall(r'href="(/sharing/new\?[^"]*)"', listed)
    assert address == "/sharing/new?label=field+notes"
    assert "Share “field notes”" in await ann.page(address)

    answer = await ann.person.send(
        "/sharing/new",
        address,
        label="field notes",
        audience="link",
        title="Notes",
        pictures="on",
        hides_gone="on",
        ends="2026-09-30",
    )
    assert answer.status_code == 303, text_of(answer)

    [share] = await shares(ann.member)
    assert answer.headers["location"] == f"/sharing/{share['id']}?said=shared"
    assert (share["title"], share["pictures"], share["notes"]) == ("Notes", True, False)
    assert share["ends_at"] == "2026-10-01T00:00:00.000000+00:00"
    assert "A blue nest" in (await stranger(house).get(path_of(share))).text
    again = await ann.person.open(address)
    assert again.url.path == f"/sharing/{share['id']}"


async def test_the_form_leaves_an_end_that_it_does_not_change(ann: Reader) -> None:
    await ann.member.save(tags=["birds"])
    share = await created(ann.member, label_name="birds", ends_at="2036-07-01T10:00:00+00:00")
    page = f"/sharing/{share['id']}"
    fields = {"do": "save", "audience": "link"}

    await ann.person.send(page, page, **fields, title="Nests", ends="2036-07-01")
    [renamed] = await shares(ann.member)
    await ann.person.send(page, page, **fields, ends="2036-07-02")
    [longer] = await shares(ann.member)

    assert (renamed["title"], renamed["ends_at"]) == ("Nests", share["ends_at"])
    assert longer["ends_at"] == "2036-07-03T00:00:00.000000+00:00"


async def test_nothing_is_shared_until_a_day_that_is_over(ann: Reader) -> None:
    await ann.member.save(tags=["birds"])
    fields = {"label": "birds", "audience": "public", "name": "birds"}

    over = await ann.person.send("/sharing/new", "/sharing", **fields, ends="2020-01-31")
    short = await ann.person.send("/sharing/new", "/sharing", **fields | {"name": "B"})

    assert (over.status_code, short.status_code) == (400, 400)
    assert "“Last day” is over: choose today or a later day" in text_of(over)
    assert 'value="2020-01-31"' in over.text
    assert "“Name in the address” must have 3 to 40" in text_of(short)
    assert await shares(ann.member) == []


async def test_a_share_that_has_ended_says_so(ann: Reader) -> None:
    await ann.member.save(tags=["birds"])
    share = await created(ann.member, label_name="birds", ends_at="2020-02-01T00:00:00+00:00")

    page = await ann.page(f"/sharing/{share['id']}")

    assert "Nobody can read it any more." in page
    assert re.search(r'ended</span></b><span class="soft">on <time[^>]*>31 Jan 2020', page)


async def test_a_view_is_shared_and_changed(house: House, ann: Reader) -> None:
    view = {"name": "Nests", "base_query": {"q": "nest"}}
    await writing.send(ann.member, "POST", "/v1/views", view)
    assert "/sharing/new?view=nests" in await ann.page("/views/nests")
    form = "/sharing/new?view=nests"
    fields = {"view": "nests", "audience": "public", "name": "nests", "is_indexed": "on"}

    await ann.person.send("/sharing/new", form, **fields)

    [share] = await shares(ann.member)
    page = f"/sharing/{share['id']}"
    assert (share["url"], share["is_indexed"]) == ("http://localhost:8080/c/nests", True)
    assert (await stranger(house).get("/c/nests")).status_code == 200
    await ann.person.send(page, page, do="save", audience="link", title="Mine")
    [share] = await shares(ann.member)
    assert (share["audience"], share["title"], share["is_indexed"]) == ("link", "Mine", False)
    assert (await stranger(house).get("/c/nests")).status_code == 404
    for do, status in (("off", 404), ("on", 200), ("renew", 404)):
        await ann.person.send(page, page, do=do)
        assert (await stranger(house).get(path_of(share))).status_code == status
    await ann.person.send(page, page, do="delete")
    assert await shares(ann.member) == []
    assert "It is not shared any more." in await ann.page("/sharing?said=share-deleted")


@pytest.mark.parametrize("of", ["list unread", "label field notes", "view nests"])
async def test_a_private_feed_is_made_and_deleted(house: House, ann: Reader, of: str) -> None:
    await ann.member.save(tags=["field notes"], text="A nest")
    view = {"name": "Nests", "base_query": {"q": "nest"}}
    await writing.send(ann.member, "POST", "/v1/views", view)

    await ann.person.send("/sharing", "/sharing", of=of)

    [share] = await shares(ann.member)
    assert share["audience"] == "feed"
    listed = await ann.page("/sharing?said=feed-created")
    assert share["atom_url"] in listed
    assert "A nest" in (await stranger(house).get(path_of(share, "atom_url"))).text
    page = f"/sharing/{share['id']}"
    await ann.person.send(page, page, do="renew")
    assert (await stranger(house).get(path_of(share, "atom_url"))).status_code == 404
    await ann.person.send(page, page, do="delete")
    assert await shares(ann.member) == []


@pytest.mark.parametrize("path", ["/sharing/new", "/sharing/new?label=x", "/sharing/new?view=%00"])
async def test_what_does_not_exist_has_no_form(ann: Reader, path: str) -> None:
    assert (await ann.person.open(path)).status_code == 404


@pytest.mark.both
async def test_the_operator_stops_a_share(house: House) -> None:
    owner = await house.owner()
    ann = await signed_in(house, "ann@example.com")
    await ann.member.save(tags=["birds"])
    share = await created(ann.member, label_name="birds", title="Nests")
    secret = share["url"].rpartition("/")[2]
    page = await owner.open("/operator")
    assert "Nests" in page.text
    assert secret not in page.text

    await owner.send("/operator/shares/stop", "/operator", share=share["id"])

    assert (await stranger(house).get(path_of(share))).status_code == 404
    [stopped] = await shares(ann.member)
    assert stopped["state"] == "stopped"
    assert "The operator stopped the sharing of “Nests”" in await ann.page("/activity")
    one = f"/sharing/{share['id']}"
    await ann.person.send(one, one, do="on")
    assert (await stranger(house).get(path_of(share))).status_code == 404
    await owner.send("/operator/shares/allow", "/operator", share=share["id"])
    assert (await stranger(house).get(path_of(share))).status_code == 200
    unknown = await owner.send("/operator/shares/stop", "/operator", share="a-b")
    assert "No share has the id" in text_of(unknown)
    await ann.member.client.aclose()


async def test_the_operator_reads_all_shares_page_by_page(house: House) -> None:
    owner = await house.owner()
    ann = await signed_in(house, "ann@example.com")
    await ann.member.save(tags=["birds"])
    for number in range(25):
        await created(ann.member, label_name="birds", title=f"number {number:02}")

    first = (await owner.open("/operator")).text
    [older] = re.findall(r'href="(/operator\?shares=[^"#]*)', first)
    second = (await owner.open(older)).text

    found = re.findall(r"<bdi>(number \d\d)</bdi>", first + second)
    assert sorted(found) == [f"number {number:02}" for number in range(25)]
    for wrong in ("x", "1", "1-", "1-%C3%A9", "9" * 30 + "-a"):
        assert (await owner.open(f"/operator?shares={wrong}")).status_code == 400
    await ann.member.client.aclose()


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


async def pictures_on(house: House, path: str) -> list[str]:
    text = (await stranger(house).get(path)).text
    return re.findall(r'<img src="([^"]*)"', text)


@pytest.mark.both
async def test_pictures_come_from_here_while_a_post_of_the_share_has_them(
    house: House, ann: Reader, bob: Reader, shelf: Shelf
) -> None:
    member = ann.member
    mine, other, shared = (shelf.picture(name) for name in ("mine", "other", "shared"))
    post = await member.save(tags=["birds"], attachments=[keeping.image(mine, alt_text="A nest")])
    await member.save(tags=["walls"], attachments=[keeping.image(other)])
    await member.save(tags=["walls"], attachments=[keeping.image(shared)])
    await member.save(tags=["birds"], attachments=[keeping.image(shared)])
    await shelf.run()
    account = await member.account()
    kept = await shelf.kept.among(account, [mine, other, shared])
    share = await created(member, label_name="birds")
    path = path_of(share)
    nobody = stranger(house)

    sources = await pictures_on(house, path)
    first = await nobody.get(f"{path}/media/{kept[mine].media_id}")

    assert set(sources) == {f"{path}/media/{kept[url].media_id}" for url in (mine, shared)}
    assert (first.status_code, first.headers["content-type"]) == (200, "image/png")
    assert first.content == await shelf.content(mine)
    assert first.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert "set-cookie" not in first.headers
    ranged = await nobody.get(f"{path}/media/{kept[mine].media_id}", headers={"Range": "bytes=0-3"})
    assert (ranged.status_code, ranged.content) == (206, first.content[:4])
    # Of another post of the account, of nobody, and at the share of somebody else.
    assert (await nobody.get(f"{path}/media/{kept[other].media_id}")).status_code == 404
    for name in ("x", "%00", "..%2f..", "a" * 65):
        assert (await nobody.get(f"{path}/media/{name}")).status_code == 404
    await bob.member.save(tags=["birds"])
    theirs = path_of(await created(bob.member, label_name="birds"))
    assert (await nobody.get(f"{theirs}/media/{kept[mine].media_id}")).status_code == 404
    # The post leaves the list.
    await writing.send(member, "DELETE", f"/v1/bookmarks/{post['post_id']}")
    assert (await nobody.get(f"{path}/media/{kept[mine].media_id}")).status_code == 404
    assert (await nobody.get(f"{path}/media/{kept[shared].media_id}")).status_code == 200


async def test_a_share_without_pictures_serves_none(
    house: House, ann: Reader, shelf: Shelf
) -> None:
    url = shelf.picture("mine")
    await ann.member.save(tags=["birds"], attachments=[keeping.image(url, alt_text="A nest")])
    await shelf.run()
    share = await created(ann.member, label_name="birds")
    [source] = await pictures_on(house, path_of(share))
    feed = await stranger(house).get(path_of(share, "json_url"))
    assert f'src=\\"http://localhost:8080{source}\\"' in feed.text

    await change(ann.member, share["id"], pictures=False)

    assert await pictures_on(house, path_of(share)) == []
    assert "A nest" in (await stranger(house).get(path_of(share))).text
    assert (await stranger(house).get(source)).status_code == 404


async def test_nothing_is_loaded_from_another_host(house: House, ann: Reader, shelf: Shelf) -> None:
    await ann.member.save(
        tags=["birds"],
        author_details={"name": "Ada", "profile_image": shelf.picture("face")},
        attachments=[
            keeping.video("https://video.twimg.com/a.mp4", shelf.picture("still")),
            {"type": "link", "url": "https://a.example/", "preview_image": shelf.picture("card")},
        ],
    )
    share = await created(ann.member, label_name="birds")
    before = await stranger(house).get(path_of(share))
    await shelf.run()

    after = await stranger(house).get(path_of(share))

    for response in (before, after):
        for tag in re.findall(r"<(?:img|link|video|source|iframe)\b[^>]*>", response.text):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag) or "canonical" in tag, tag
        assert "video.twimg.com" not in response.text
    assert len(re.findall("<img", after.text)) == 3
