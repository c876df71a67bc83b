"""Notes and highlights: on a post, on their page, and as Markdown."""

import re
import time
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.clock import MICROSECONDS
from bowerbird.web.library.markdown import rendered
from tests.web.house import Reader, signed_in

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

    assert saved.status_code == 200
    assert saved.json()["has_note"]
    assert refused.status_code == 400
    assert "20,000" in refused.json()["error"]
    assert (await bookmark(ann))["note"] == "By script"
    fields = {"change": saved.json()["change"], "back": "/p/1"}
    await ann.person.send("/library/many/undo", "/p/1", **fields)
    assert "note" not in await bookmark(ann)


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


async def test_a_passage_that_is_not_in_the_text_stays_in_its_field(ann: Reader) -> None:
    await ann.member.save(post_id="1", text="One and two")

    refused = await send(ann, "/highlights", quote="one & three")
    page = await ann.page(refused.headers["location"].partition("#")[0])

    assert refused.headers["location"].endswith("#mark")
    assert 'one &amp; three</textarea><p class="error" id="passage-error"' in page
    assert "Copy the words from the post" in page
    assert "Copy the words from the post" not in await ann.page("/p/1")


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


async def test_the_longest_note_fits_into_the_form(ann: Reader) -> None:
    await ann.member.save(post_id="1")
    longest = "👍\r\n" * 10_000

    assert "said=note-saved" in where(await send(ann, "/note", note=longest))

    assert (await bookmark(ann))["note"] == ("👍\n" * 10_000).strip()


DAY = 86_400 * MICROSECONDS


async def save(reader: Reader, number: int, text: str, quote: str = "", **more: Any) -> None:
    passages = [{"id": f"h{number}", "quote": quote, "comment": more.pop("comment", "")}]
    marked = {"highlights": passages} if quote else {}
    fields = {"post_id": str(number), "sort_index": number, "name": f"Author {number}"}
    await reader.member.save(text=text, **fields, **marked, **more)


def listed(page: str) -> list[str]:
    return re.findall(r'<article class="hl" id="p-(\d+)"', page)


def of_today(page: str) -> str:
    found: list[str] = re.findall(r'<section class="daily".*?</section>', page, re.DOTALL)
    # Each page has a token of its own.
    return re.sub(r'name="csrf" value="[^"]+"', "", found[0])


async def test_notes_and_highlights_are_listed_by_post_the_latest_first(ann: Reader) -> None:
    await save(ann, 1, "A bower is not a nest.", "not a nest", is_archived=True, is_read=True)
    await save(ann, 2, "Nothing about this one.")
    await save(ann, 3, "Cyanotypes", note="Print **the** <i>feather</i>")
    other = await signed_in(ann.house, "bob@example.com")
    await save(other, 4, "Bob's own words", "own words")

    page = await ann.page("/highlights")

    assert listed(page) == ["3", "1"]
    assert "1 highlight, 1 note</h1>" in page
    assert "Print <strong>the</strong> &lt;i&gt;feather&lt;/i&gt;" in page
    assert listed(await ann.page("/highlights?show=notes")) == ["3"]
    assert listed(await ann.page("/highlights?show=highlights")) == ["1"]
    assert "own words" not in page
    await other.member.client.aclose()


@pytest.mark.both
async def test_a_search_finds_words_of_notes_highlights_and_comments_only(ann: Reader) -> None:
    await save(ann, 1, "Search finds what you can name. Arrangement does not.", "what you can name")
    await save(ann, 2, "Names of birds", "birds", comment="Same <b>thought")
    await save(ann, 3, "They can name it", note="Ask Oren")
    await save(ann, 4, "Without any mark: you can name it")

    page = await ann.page("/highlights?q=name+you")

    assert listed(page) == ["1"]
    assert "what you can <mark>name</mark></blockquote>" in page
    assert listed(await ann.page("/highlights?q=thoughts+OR+oren")) == ["3", "2"]
    for text in ("arrangement", "?!"):
        page = await ann.page(f"/highlights?q={quote(text)}")
        assert "No highlight or note has these words." in page


async def test_pages_continue_after_the_last_post(ann: Reader) -> None:
    for number in range(25):
        await save(ann, number, f"Words {number}", note=f"Note {number}")

    first = await ann.page("/highlights")
    [older] = re.findall(r'href="(/highlights\?cursor=[^"]+)"', first)
    second = await ann.page(unescape(older))

    assert [*listed(first), *listed(second)] == [str(number) for number in reversed(range(25))]
    assert 'href="/highlights">Newest</a>' in second
    assert listed(await ann.page("/highlights?cursor=forged")) == listed(first)


async def test_one_of_them_is_shown_all_day_and_with_the_digests(ann: Reader) -> None:
    for number in range(12):
        await save(ann, number, f"Passage {number} of twelve", f"Passage {number}")
    shown = of_today(await ann.page("/highlights"))

    ann.house.clock.now += MICROSECONDS
    await save(ann, 99, "Without a mark")

    assert of_today(await ann.page("/highlights")) == shown
    assert of_today(await ann.page("/digests")) == shown
    assert of_today(await ann.page("/highlights?another=1")) != shown
    assert re.findall(r"Passage \d+<", of_today(await ann.page("/highlights?another=998")))
    days = set()
    for _ in range(10):
        ann.house.clock.now += DAY
        days |= set(re.findall(r"Passage \d+<", of_today(await ann.page("/highlights"))))
    assert len(days) > 3


async def test_the_download_is_markdown_of_all_posts(ann: Reader) -> None:
    for number in range(120):
        await save(ann, number, f"Words {number}", note=f"Note {number}")
    await save(ann, 200, "A *bold* claim\nin two lines", "*bold* claim\nin two", comment="[Why?]")

    sent = await ann.person.open("/highlights/download")

    assert sent.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "attachment" in sent.headers["content-disposition"]
    text = sent.text
    assert "\n\n> \\*bold\\* claim\n> in two\n\n\\[Why?\\]\n" in text
    assert [int(number) for number in re.findall(r"Note (\d+)", text)] == [*reversed(range(120))]
    assert "Note" not in (await ann.person.open("/highlights/download?show=highlights")).text


@pytest.mark.both
async def test_one_that_is_left_out_does_not_come_again_until_that_is_undone(ann: Reader) -> None:
    for number in (1, 2):
        await save(ann, number, f"Passage {number} of two", f"Passage {number}")
    [shown] = re.findall(r'name="post" value="(\d)"', of_today(await ann.page("/digests")))
    other = "21"[int(shown) - 1]
    path = "/highlights/again"

    answer = await ann.person.send(path, "/highlights", post=shown)

    page = await ann.page(answer.headers["location"])
    assert f"Passage {other}<" in of_today(page)
    assert f'name="post" value="{shown}" data-undo>Undo</button>' in page
    for another in range(3):
        assert f"Passage {other}<" in of_today(await ann.page(f"/highlights?another={another}"))
    await ann.person.send(path, "/highlights", post=other)
    assert 'class="daily"' not in await ann.page("/highlights")
    # Posts that the library lacks change nothing.
    await ann.person.send(path, "/highlights", post="77")
    await ann.person.send(path, "/highlights", post=shown, again="true")
    assert f"Passage {shown}<" in of_today(await ann.page("/highlights"))


ALLOWED = {
    *("p", "br", "strong", "em", "s", "code", "pre", "a", "ul", "ol", "li", "blockquote", "hr"),
    *("h3", "h4", "h5", "h6"),
}

ATTRIBUTES = {"dir", "href", "rel", "start", "tabindex"}

SIGNS = st.text("*_~`[]()<>!#>-+ \n\t\\1.a\"'&:/", max_size=120)

LINKS = st.sampled_from(
    ["https://a.example/b", "javascript:alert(1)", "data:text/html,x", "//evil", "<script>"]
)


class _Parsed(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check(html: str) -> _Parsed:
    parsed = _Parsed(html)
    assert parsed.open == []
    assert parsed.tags <= ALLOWED
    assert parsed.attributes <= ATTRIBUTES
    assert all(re.match(r"https?://[^/]", link, re.IGNORECASE) for link in parsed.links)
    return parsed


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", '<p dir="auto">plain</p>'),
        ("a\nb\n\nc", '<p dir="auto">a<br>\nb</p><p dir="auto">c</p>'),
        ("# T", '<h3 dir="auto">T</h3>'),
        ("###### T ##", '<h6 dir="auto">T</h6>'),
        ("**b** *i* __b__ _i_ ~~s~~", None),
        ("snake_case_name and 2*3*4", None),
        ("`<b>`", '<p dir="auto"><code>&lt;b&gt;</code></p>'),
        (
            "```\n<b>\n  x\n```",
            '<pre tabindex="0"><code dir="auto">&lt;b&gt;\n  x\n</code></pre>\n',
        ),
        ("> a\n> b", '<blockquote><p dir="auto">a<br>\nb</p></blockquote>'),
        ("- a\n- b", '<ul><li dir="auto">a</li><li dir="auto">b</li></ul>'),
        ("3. a\n4. b", '<ol start="3"><li dir="auto">a</li><li dir="auto">b</li></ol>'),
        ("- a\n  - b", '<ul><li dir="auto">a<ul><li dir="auto">b</li></ul></li></ul>'),
        ("---", "<hr>"),
        ("\\*a\\*", '<p dir="auto">*a*</p>'),
        (
            "[a](https://b.example)",
            '<p dir="auto"><a href="https://b.example" rel="noreferrer">a</a></p>',
        ),
        ("[a](javascript:alert(1))", '<p dir="auto">[a](javascript:alert(1))</p>'),
        ("[a](data:text/html,x)", '<p dir="auto">[a](data:text/html,x)</p>'),
        (
            "![cat](https://b.example/c.png)",
            '<p dir="auto"><a href="https://b.example/c.png" rel="noreferrer">cat</a></p>',
        ),
        (
            "https://b.example/c).",
            '<p dir="auto"><a href="https://b.example/c" rel="noreferrer">b.example/c</a>).</p>',
        ),
        ("<script>alert(1)</script>", '<p dir="auto">&lt;script&gt;alert(1)&lt;/script&gt;</p>'),
        ('<a href="x" onclick=y>', None),
        ("", ""),
    ],
)
def test_markdown_becomes_safe_markup(text: str, html: str | None) -> None:
    shown = rendered(text)

    check(shown)
    if html is not None:
        assert shown == html


def test_emphasis_is_shown_and_names_are_not_changed() -> None:
    assert rendered("**b** *i* ~~s~~") == (
        '<p dir="auto"><strong>b</strong> <em>i</em> <s>s</s></p>'
    )
    assert "<em>" not in rendered("snake_case_name and 2 * 3 * 4")


@given(text=st.lists(st.one_of(SIGNS, LINKS, st.text(max_size=20)), max_size=8).map("".join))
def test_no_text_becomes_other_markup(text: str) -> None:
    check(rendered(text))


@given(text=st.text(st.characters(categories=["L", "N"], include_characters=" \n"), max_size=80))
def test_plain_words_are_kept(text: str) -> None:
    assert "".join(check(rendered(text)).text.split()) == "".join(text.split())


@pytest.mark.parametrize(
    "part",
    [
        "*",
        "**a",
        "_a",
        "[",
        "![*",
        "[a](",
        "`",
        "> ",
        "- ",
        "  " * 9 + "- a\n",
        "```\n",
        "\\",
        "1. ",
    ],
)
def test_a_long_hostile_note_takes_no_time(part: str) -> None:
    started = time.thread_time()

    check(rendered(part * (20_000 // len(part))))

    assert time.thread_time() - started < 4
