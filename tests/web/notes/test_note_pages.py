"""The note and the highlights on the page of a post."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.web.house import Reader

pytestmark = pytest.mark.anyio

TEXT = "One https://example.org/a/long/address and <b>two</b> 👍 three"


async def send(reader: Reader, path: str, post_id: str = "1", **fields: Any) -> httpx.Response:
    return await reader.person.send(f"/p/{post_id}{path}", f"/p/{post_id}", **fields)


async def bookmark(reader: Reader, post_id: str = "1") -> dict[str, Any]:
    found: dict[str, Any] = (await reader.member.get(f"/v1/bookmarks/{post_id}")).json()["data"]
    return found


def where(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


async def undo(reader: Reader, page: str) -> httpx.Response:
    """Presses the button of the message on a page."""
    change = parse_qs(urlsplit(page).query)["change"][0]
    fields = {"change": change, "back": urlsplit(page).path}
    return await reader.person.send("/library/many/undo", page, **fields)


async def test_a_note_is_saved_shown_and_undone(ann: Reader) -> None:
    await ann.member.save(post_id="1", note="Before")

    saved = where(await send(ann, "/note", note="**After**\r\nmore"))

    assert re.fullmatch(r"/p/1\?said=note-saved&change=\w+#note", saved)
    assert (await bookmark(ann))["note"] == "**After**\nmore"
    page = await ann.page(saved)
    assert "<strong>After</strong><br>\nmore" in page
    assert "The note is saved." in page
    assert "Undone." in await ann.page(where(await undo(ann, saved)))
    assert (await bookmark(ann))["note"] == "Before"


async def test_an_empty_note_removes_it_and_the_same_one_changes_nothing(ann: Reader) -> None:
    await ann.member.save(post_id="1", note="Before")

    assert "said=note-same#note" in where(await send(ann, "/note", note=" Before "))
    removed = where(await send(ann, "/note", note=" \r\n "))
    assert "said=note-removed&change=" in removed
    assert "note" not in await bookmark(ann)
    await undo(ann, removed)
    assert (await bookmark(ann))["note"] == "Before"


async def test_a_script_saves_the_note(ann: Reader) -> None:
    await ann.member.save(post_id="1")

    saved = await send(ann, "/note/json", note="By script")
    refused = await send(ann, "/note/json", note="x" * 20_001)

    assert (saved.status_code, saved.json()) == (200, {"has_note": True})
    assert refused.status_code == 400
    assert "20,000" in refused.json()["error"]
    assert (await bookmark(ann))["note"] == "By script"


async def test_a_passage_is_pasted_marked_commented_removed_and_undone(ann: Reader) -> None:
    await ann.member.save(post_id="1", text=TEXT)

    marked = where(await send(ann, "/highlights", quote="and  <b>two</b>"))

    [made] = (await bookmark(ann))["highlights"]
    assert made["quote"] == "and <b>two</b>"
    assert re.fullmatch(rf"/p/1\?said=highlight-added&change=\w+#h-{made['id']}", marked)
    page = await ann.page("/p/1")
    start = f'<mark class="hl" data-highlight="{made["id"]}" id="h-{made["id"]}">'
    assert f"{start}and &lt;b&gt;two&lt;/b&gt;</mark>" in page
    assert f'href="#h-{made["id"]}"' in page

    await send(ann, "/highlights/comment", highlight=made["id"], comment="Why <i>")
    assert "Why &lt;i&gt;" in await ann.page("/p/1")
    removed = where(await send(ann, "/highlights/remove", highlight=made["id"]))
    assert "highlights" not in await bookmark(ann)
    assert 'name="change"' in await ann.page(removed)
    await undo(ann, removed)
    assert (await bookmark(ann))["highlights"] == [{**made, "comment": "Why <i>"}]


async def test_a_selection_is_sent_as_offsets(ann: Reader) -> None:
    article = {"title": "T", "plain_text": "First line.\n\nSecond 👍 line."}
    await ann.member.save(post_id="1", text=TEXT, article=article)

    await send(ann, "/highlights", field="article", start="6", end="21")

    [made] = (await bookmark(ann))["highlights"]
    assert made["quote"] == "line.\n\nSecond 👍"
    page = await ann.page("/p/1")
    assert re.search(r'id="h-\w+">line.</mark></p><p [^>]*><mark [^>]*>Second 👍</mark> line', page)


async def test_a_lost_passage_is_listed_with_the_reason(ann: Reader) -> None:
    passages = [{"id": "gone", "quote": "was here once", "comment": "keep"}]
    await ann.member.save(post_id="1", text="other", highlights=passages)

    page = await ann.page("/p/1")

    assert "was here once" in page
    assert "does not contain this passage any more" in page
    assert 'href="#h-gone"' not in page


async def test_the_page_leads_back_to_the_list_that_it_was_opened_from(ann: Reader) -> None:
    for number in ("1", "2", "3"):
        await ann.member.save(post_id=number, tags=["Birds"], note="n")
    before = "/library?tag=Birds&density=compact"
    origin = str(ann.person.client.base_url).rstrip("/")

    by_browser = await ann.person.client.get("/p/2", headers={"Referer": origin + before})
    for page in (
        by_browser.text,
        await ann.page("/p/2?from=%2Flibrary%3Ftag%3DBirds%26density%3Dcompact"),
    ):
        assert f'href="{before.replace("&", "&amp;")}#p-2"' in page
        paths = [unescape(path) for path in re.findall(r'href="(/p/[^"]*)" rel="', page)]
        assert [path.partition("?")[0] for path in paths] == ["/p/3", "/p/1"]
        assert all("from=%2Flibrary%3Ftag%3DBirds" in path for path in paths)

    saved = where(await send(ann, "/note", "2", note="x", **{"from": before}))
    assert saved.startswith("/p/2?from=%2Flibrary%3Ftag%3DBirds%26density%3Dcompact&said=")
    deleted = await ann.change("/p/2?from=%2Flibrary%3Ftag%3DBirds", trash="2")
    assert where(deleted).startswith("/library?tag=Birds&said=post-deleted")


async def test_the_page_never_leads_back_elsewhere(ann: Reader) -> None:
    await ann.member.save(post_id="1")
    referer = {"Referer": "https://evil.example/library"}
    ours = ("/sign-out", "/libraryx", "")

    for before in ("//evil.example/library", "https://evil.example/library", "//[", "//a℀", *ours):
        shown = await ann.person.client.get("/p/1", params={"from": before}, headers=referer)
        assert 'href="/library#p-1"' in shown.text, before
        assert "evil" not in shown.text
    saved = await send(ann, "/note", note="x", **{"from": "//evil.example/library"})
    assert where(saved).startswith("/p/1?said=note-saved&change=")


async def test_nobody_changes_the_notes_of_another_account(ann: Reader, bob: Reader) -> None:
    await ann.member.save(post_id="1", text=TEXT, note="Hers")
    await bob.member.save(post_id="2")

    for path, fields in (
        ("/note", {"note": "Mine"}),
        ("/highlights", {"quote": "One"}),
    ):
        answer = await bob.person.send(f"/p/1{path}", "/p/2", **fields)
        assert answer.status_code == 404, path
    assert (await bookmark(ann))["note"] == "Hers"


async def test_the_longest_note_fits_into_the_form(ann: Reader) -> None:
    await ann.member.save(post_id="1")
    longest = "👍\r\n" * 10_000

    assert "said=note-saved" in where(await send(ann, "/note", note=longest))

    assert (await bookmark(ann))["note"] == ("👍\n" * 10_000).strip()


async def test_a_refused_passage_says_why(ann: Reader) -> None:
    await ann.member.save(post_id="1", text=TEXT)
    huge = {"start": "9" * 400, "end": "9" * 401}

    for fields in ({"quote": "not in it"}, {"quote": ""}, huge, {"start": "5", "end": "x"}):
        answer = await send(ann, "/highlights", **fields)
        assert answer.status_code == 400, fields
        assert "Nothing was changed" in answer.text
    assert "highlights" not in await bookmark(ann)
