"""/save: what a bookmarklet or a share sheet sends is shown, and saved only by the form."""

import re
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import pytest

from bowerbird.web.saving import bookmarklet, shared_link
from tests.support import writing
from tests.web.house import House, Reader

pytestmark = pytest.mark.anyio
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


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"link": "https://blog.example/"}, "is not a link to a post"),
        ({"link": "https://t.co/a"}, "is a short address; open it and save the address of the"),
        ({"link": ""}, "is not a link to a post"),
        (
            {"link": LINK, "labels": "birds, " + "x" * 120},
            "A label has at most 100 characters; this one has 120.",
        ),
    ],
)
async def test_what_cannot_be_saved_is_explained_and_kept(
    ann: Reader, fields: dict[str, Any], sentence: str
) -> None:
    refused = await ann.person.send("/save", "/save", **fields)
    assert refused.status_code == 400
    assert sentence in refused.text
    assert "labels[" not in refused.text
    assert f'value="{fields["link"]}"' in refused.text
    assert (await ann.member.account()).total == 0


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


async def test_the_free_plan_saves_without_labels(free: Reader) -> None:
    assert 'name="labels"' not in await free.page("/save")
    saved = await free.person.send("/save", "/save", link=LINK)
    assert saved.headers["location"] == f"/p/{POST}?said=link-saved&post={POST}"
    refused = await free.person.send("/save", "/save", link=LINK, labels="birds")
    assert refused.status_code == 402


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
