"""/highlights: everything that an account marked and wrote, and one of it each day."""

import re
from html import unescape
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from tests.web.house import Reader, signed_in

pytestmark = pytest.mark.anyio

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
    assert "No highlight or note has these words." in await ann.page("/highlights?q=arrangement")


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
