"""Arriving: the demo, saving a link, the welcome, and the frame of pages."""

import re
import struct
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import httpx
import pytest

from bowerbird.storage.database import Database
from bowerbird.web import look_around, pages
from bowerbird.web.imports.saving import bookmarklet, shared_link
from tests.support import writing
from tests.support.visiting import Visitor
from tests.support.waiting import until
from tests.web.conftest import PROXIED, OpenSite
from tests.web.house import House, Reader, build, ids

pytestmark = pytest.mark.anyio


DEMO = "/demo/library"

BANNER = "This is a demo to look around in"


@pytest.fixture
def house_settings() -> dict[str, Any]:
    return {"demo": "on"}


async def shown(stranger: Visitor, path: str) -> str:
    page = await stranger.open(path)
    assert page.status_code == 200, (path, page.text)
    assert BANNER in page.text
    return page.text


async def test_a_stranger_reads_searches_and_opens_views_without_a_cookie(house: House) -> None:
    stranger = house.somebody()
    assert 'href="/demo/library"' in (await stranger.open("/")).text
    first = await shown(stranger, "/demo")
    # 30 posts. Those of a thread are one row.
    assert len(ids(first)) == 24
    [picture, *_] = re.findall(r'<img src="(/demo/static/[^"]+)"', first)
    assert (await stranger.open(picture)).headers["content-type"] == "image/svg+xml"
    found = await shown(stranger, f"{DEMO}?q=tides")
    [post_id] = ids(found)
    post = await shown(stranger, f"/demo/p/{post_id}")
    assert "Read this again <strong>at the harbour</strong>" in post
    assert "The best short explanation I know." in post
    assert len(ids(await shown(stranger, "/demo/views/long-reads"))) >= 4
    assert 'href="/demo/views/long-reads"' in await shown(stranger, "/demo/views")
    assert (await stranger.open("/demo/library/suggest?text=bir")).json()["labels"]
    assert not stranger.client.cookies


async def test_a_stranger_searches_by_meaning(house: House) -> None:
    stranger = house.somebody()
    path = f"{DEMO}?vector_search_term=stars+and+darkness&is_unread_only=false"

    await shown(stranger, DEMO)

    async def is_ready() -> bool:
        house.clock.now += look_around.REFILL
        return bool((await stranger.open(f"{DEMO}/meaning")).json()["mark"] == "ready")

    await until(is_ready)
    assert "Seeing in the dark" in await shown(stranger, path)


async def test_nothing_can_be_changed(house: House) -> None:
    stranger = house.somebody()
    before = await shown(stranger, DEMO)
    post_id = ids(before)[0]
    for path in ("library/change", "library/many", "library/label", f"p/{post_id}/note", "views"):
        refused = await stranger.post(
            f"/demo/{path}", read=post_id, post=post_id, note="mine", delete="long-reads"
        )
        assert refused.status_code in (400, 405), path
    assert "nothing can be changed" in (await stranger.post("/demo/library/change")).text
    after = await shown(stranger, DEMO)
    assert ids(after) == ids(before)
    assert 'class="post read"' not in after
    elsewhere = await stranger.open("/demo/import")
    assert elsewhere.status_code == 404
    assert "A library of your own has it." in elsewhere.text


async def test_nothing_of_an_account_can_be_seen(ann: Reader) -> None:
    await ann.member.save(post_id="7", text="The spare key is under the third pot.")
    await ann.page("/library")
    # Somebody who is signed in looks around in the same demo.
    for person in (ann.person, ann.house.somebody()):
        assert (await person.open("/demo/p/7")).status_code == 404
        assert not ids(await shown(person, f"{DEMO}?q=pot&is_unread_only=false"))
        assert "30 unread" in await shown(person, DEMO)
    assert "1 unread" in await ann.page("/library")


async def test_a_network_looks_at_some_pages_at_once_and_accounts_go_on(ann: Reader) -> None:
    stranger = ann.house.somebody()
    answers = [await stranger.open(f"{DEMO}/suggest?text=b") for _ in range(look_around.BURST + 1)]
    assert [answer.status_code for answer in answers] == [200] * look_around.BURST + [429]
    assert answers[-1].headers["retry-after"] == "1"
    assert await ann.page("/library")
    ann.house.clock.now += look_around.REFILL
    assert await shown(stranger, DEMO)


async def test_the_operator_can_switch_it_off(database: Database, tmp_path: Path) -> None:
    stranger = build(database, tmp_path, demo="off").somebody()
    assert (await stranger.open("/demo")).status_code == 404
    assert (await stranger.open(DEMO)).status_code == 404
    assert "Look around" not in (await stranger.open("/")).text


BANNER_DEMO = "This is a demo"


async def test_the_demo_is_filled_in_named_and_removed(ann: Reader) -> None:
    empty = await ann.page("/library")
    assert "An empty bower" in empty
    assert BANNER_DEMO not in empty

    filled = await ann.person.send("/library/demo", "/library")
    assert filled.headers["location"] == "/library?said=demo-filled"
    shown = await ann.page("/library?said=demo-filled")
    assert BANNER_DEMO in shown
    assert "The demo is in." in shown
    # A page has 30 posts, and each of its threads is one row.
    assert len(ids(shown)) == 24
    assert "Long reads" in shown
    assert BANNER_DEMO in await ann.page("/library?q=nothing-has-this")
    assert BANNER_DEMO in await ann.page("/views/long-reads")

    removed = await ann.person.send("/library/demo/remove", "/library")
    assert removed.headers["location"] == "/library?said=demo-removed"
    assert "An empty bower" in await ann.page("/library?said=demo-removed")


async def test_own_posts_have_no_banner_and_no_demo(ann: Reader) -> None:
    await ann.member.save(post_id="7")
    assert BANNER_DEMO not in await ann.page("/library")
    refused = await ann.person.send("/library/demo", "/library")
    assert refused.status_code == 400
    assert "for an empty library" in refused.text


LISTS = ("/library", "/views", "/labels", "/trash")

ROOMS = (*LISTS, *(place.path for place in pages.ROOMS), "/save", "/account")


async def test_every_place_is_a_page_with_the_whole_sidebar_and_says_where_somebody_is(
    ann: Reader,
) -> None:
    await writing.send(ann.member, "POST", "/v1/views", {"name": "Nests", "base_query": {}})
    for path in (*ROOMS, *(place.path for place in pages.SETTINGS)):
        page = await ann.page(path)
        side = page.partition('<nav class="side"')[2].partition("</nav>")[0]
        assert all(side.count(f'href="{room}"') == 1 for room in ROOMS), path
        assert 'href="/views/nests"' in side, path
        assert f'href="{path}" aria-current="page"' in page or path == "/save", path


async def test_the_settings_have_a_tab_per_page(ann: Reader) -> None:
    paths = [place.path for place in pages.SETTINGS]
    for path in paths:
        tabs = (await ann.page(path)).partition("settabs")[2].partition("</nav>")[0]
        assert re.findall(r'href="(/[a-z-]+)"', tabs)[: len(paths)] == paths, path
    assert "settabs" not in await ann.page("/import")


async def test_only_the_owner_is_led_to_the_page_of_the_operator(house: House) -> None:
    owner, other = await house.owner(), await house.member("other@example.com")
    assert 'href="/operator"' in (await owner.open("/account")).text
    assert 'href="/operator"' not in (await other.open("/account")).text


async def test_the_manifest_names_icons_that_have_their_size(site: httpx.AsyncClient) -> None:
    page = await site.get("/", headers={"Accept": "text/html"})
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page.text
    assert "manifest-src 'self'" in page.headers["content-security-policy"]
    answer = await site.get("/manifest.webmanifest")
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    for icon in manifest["icons"]:
        image = await site.get(icon["src"])
        assert image.headers["content-type"] == "image/png"
        width, height = struct.unpack(">II", image.content[16:24])
        assert icon["sizes"] == f"{width}x{height}"


async def test_everything_in_the_manifest_is_under_the_path_of_the_site(
    open_site: OpenSite,
) -> None:
    settings = PROXIED | {"site_url": "https://example.org/posts"}
    manifest = (await (await open_site(**settings)).get("/manifest.webmanifest")).json()
    paths = [manifest["start_url"], manifest["scope"], manifest["share_target"]["action"]]
    paths += [icon["src"] for icon in manifest["icons"]]
    assert all(urlsplit(path).path.startswith("/posts/") for path in paths)


def open_steps(page: str) -> list[str]:
    steps = page.split('<details name="begin"')[1:]
    return [step.split("<summary>")[1].split("<")[0] for step in steps if step.startswith(" open")]


async def test_a_new_person_is_welcomed_once(house: House) -> None:
    account_id = await house.accounts.create("me@example.com")
    person = house.somebody()

    async def sign_in() -> str:
        token = await house.links.create_for(account_id)
        entered = await person.send("/link", "/link", token=token)
        assert entered.headers["location"] == "/welcome?said=signed-in"
        return (await person.open("/welcome?said=signed-in")).text

    first = await sign_in()
    assert "<h1>Welcome</h1>" in first
    assert open_steps(first) == ["A passkey for this device"]
    again = await sign_in()
    assert "<h1>Welcome</h1>" not in again
    assert "How you sign in" in again
    assert 'href="/welcome"' in again
    assert "<h1>Welcome</h1>" in (await person.open("/welcome")).text


async def test_each_step_can_be_skipped_and_says_when_it_is_done(ann: Reader) -> None:
    assert open_steps(await ann.page("/welcome?step=posts")) == ["Bring your posts"]
    assert open_steps(await ann.page("/welcome?step=agent")) == ["Connect an agent or a program"]
    assert open_steps(await ann.page("/welcome?step=<b>")) == ["A passkey for this device"]
    await ann.member.save(post_id="1")

    page = await ann.page("/welcome")

    # The reader has a key.
    assert page.count('<li class="done">') == 2
    assert "To the library" in page
    assert "Look at the demo instead" not in page
    # Any site can link to it.
    back = await ann.person.open("/welcome?said=%C3%A9%0A")
    assert back.status_code == 200


async def test_the_command_that_connects_an_agent_has_the_header_with_its_key(ann: Reader) -> None:
    page = await ann.page("/welcome?step=agent")

    command = page.partition("claude mcp add")[2].partition("</code>")[0]
    assert unescape(command).endswith("--header 'Authorization: Bearer bwr_your_key'")


LINK = "https://x.com/bowerwatch/status/1945678901234567890"

BLUESKY = "at://did:plc:abc/app.bsky.feed.post/3k"

POST = "1945678901234567890"


@pytest.mark.parametrize(
    ("fields", "link"),
    [
        ({"url": LINK}, LINK),
        ({"text": f"Look at this: {LINK}."}, LINK),
        ({"title": "A post", "text": f"(“{LINK}”)"}, LINK),
        ({"url": "https://t.example/a", "text": f"https://b.example {LINK}"}, LINK),
        ({"url": "https://blog.example/page"}, "https://blog.example/page"),
        ({"text": f"seen at {BLUESKY}"}, BLUESKY),
        ({"text": "no link here", "url": ""}, ""),
        ({"url": "javascript:alert(1)"}, ""),
        ({"url": "https://x.com/" + "a" * 5_000}, ""),
    ],
)
def test_the_link_is_found_in_what_was_shared(fields: dict[str, str], link: str) -> None:
    assert shared_link(fields) == link


def test_the_bookmarklet_opens_our_page_with_the_address_of_the_other() -> None:
    code = bookmarklet("https://posts.example.org")
    assert code.startswith("javascript:void open('https://posts.example.org/save?url='+")
    assert unquote(code) == code
    assert '"' not in code


async def test_opening_the_page_saves_nothing(ann: Reader) -> None:
    shared = {"url": LINK, "title": "<i>Bowers</i>", "text": f"They build {LINK}"}
    shown = await ann.page(f"/save?{urlencode(shared)}")
    assert f'value="{LINK}"' in shown
    # Its author and date are in the link.
    assert "@bowerwatch</bdi></b> · " in shown
    assert ">17 Jul 2025</time>" in shown
    assert "<b>&lt;i&gt;Bowers&lt;/i&gt;</b>" in shown
    assert ">They build</p>" in shown
    assert "Nothing is saved yet." in shown
    assert (await ann.member.account()).total == 0


async def test_the_form_saves_the_post_with_labels(ann: Reader) -> None:
    page = f"/save?{urlencode({'text': f'seen {LINK}'})}"
    saved = await ann.person.send("/save", page, link=LINK, labels="birds,  Blue things ,,birds")
    assert saved.headers["location"] == f"/p/{POST}?said=link-saved&post={POST}"
    assert "Saved." in await ann.page(saved.headers["location"])
    assert await writing.labels(ann.member) == {"birds": 1, "Blue things": 1}

    known = await ann.page(page)
    assert "Already in your library, since <time" in known
    assert "Labels: <bdi>birds</bdi>, <bdi>Blue things</bdi>" in known
    assert "Nothing is saved yet" not in known
    assert "The link is stored" not in known
    again = await ann.person.send("/save", page, link=LINK)
    assert again.headers["location"] == f"/p/{POST}?said=link-known&post={POST}"


async def test_labels_of_a_known_post_are_added_without_a_word_about_its_text(ann: Reader) -> None:
    post_id = (await ann.member.save(post_id=POST, text="A whole text", tags=["birds"]))["post_id"]

    async def said(labels: str) -> str:
        saved = await ann.person.send("/save", "/save", link=LINK, labels=labels)
        assert urlsplit(saved.headers["location"]).path == f"/p/{post_id}"
        shown = await ann.page(saved.headers["location"])
        found = re.search(r'role="status"><span>(.*?)</span>', shown)
        assert found is not None
        return found[1]

    assert await said("BIRDS, art") == "Added 1 label."
    assert await said("one, two, birds") == "Added 2 labels."
    assert await said("birds") == "The post has these labels already."
    assert await said("") == "This post was in your library already."


async def test_a_dialog_goes_back_to_its_list_with_an_undo_and_keeps_the_note(ann: Reader) -> None:
    fields = {"link": LINK, "note": "Read\r\nlater", "back": "/library?q=bower&said=post-read"}
    saved = await ann.person.send("/save", "/save", **fields)

    there = saved.headers["location"]
    assert there == f"/library?q=bower&said=link-saved&post={POST}"
    shown = (await ann.member.get(f"/v1/bookmarks/{POST}")).json()["data"]
    assert shown["note"] == "Read\nlater"
    page = await ann.page(there)
    assert f'name="trash" value="{POST}" data-undo' in page
    await ann.change(there, trash=POST)
    assert (await ann.member.account()).total == 0
    elsewhere = await ann.person.send("/save", "/save", link=LINK, back="//evil.example")
    assert elsewhere.headers["location"].startswith(f"/p/{POST}?")


async def test_signing_in_keeps_what_was_shared(house: House) -> None:
    stranger = house.somebody()
    target = f"/save?{urlencode({'url': LINK, 'title': 'Grüße'})}"
    sent = await stranger.client.get(target)
    assert sent.status_code == 303
    address = urlsplit(sent.headers["location"])
    assert address.path == "/sign-in"
    assert parse_qs(address.query) == {"next": [target]}
    form = await stranger.open(sent.headers["location"])
    assert quote(LINK, safe="") in form.text


async def test_an_address_that_cannot_be_kept_is_left_without_its_query(house: House) -> None:
    sent = await house.somebody().client.get("/save?url=" + "a" * 3_000)
    assert sent.headers["location"] == "/sign-in?next=/save"


async def test_labels_that_fit_the_link_are_offered(ann: Reader) -> None:
    for n in range(4):
        await ann.member.save(text=f"note {n}", author="bowerwatch", tags=["birds"])
    await ann.member.save(text="old", author="other", tags=["stages"])

    assert _offered(await ann.page(f"/save?{urlencode({'url': LINK})}")) == ["birds"]
    page = f"/save?{urlencode({'url': LINK, 'text': 'About stages'})}"
    assert _offered(await ann.page(page)) == ["birds", "stages"]

    await ann.person.send("/save", page, link=LINK, labels="birds")
    assert _offered(await ann.page(page)) == []
    await ann.member.set_plan("free")
    assert _offered(await ann.page(f"/save?{urlencode({'url': LINK})}")) == []


def _offered(page: str) -> list[str]:
    return re.findall(r'class="sug" type="button" value="([^"]*)"', page)
