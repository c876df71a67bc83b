"""GET /v1/bookmarks?highlight=true: excerpts with the words of q marked."""

import html
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.search.queries.highlights import SNIPPET_CHARACTERS, highlight
from bowerbird.search.queries.query_language import parse
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def highlights(member: Member, **asked: str) -> list[dict[str, Any] | None]:
    shown = await member.listed(highlight="true", **asked)
    return [post.get("highlight") for post in shown["data"]]


async def test_the_match_is_marked_in_escaped_text(alice: Member) -> None:
    await alice.save(text="A <b>Heron</b> & two herons")

    assert await highlights(alice, q="heron") == [
        {
            "field": "text",
            "html": "A &lt;b&gt;<mark>Heron</mark>&lt;/b&gt; &amp; two <mark>herons</mark>",
        }
    ]


@in_turn(
    ("text", "q", "marked"),
    [
        ("Café crème", "cafe", ["Café"]),
        ("昨日は東京タワーへ", "東京", ["東京"]),
        ("昨日は東京タワーへ", "タ", ["タ"]),
        ("ฉันชอบกินข้าวผัดมาก", "ข้าวผัด", ["ข้าวผัด"]),
        (
            "Apple\u2019s chip isn\u2019t l\u2019autre",
            "apple chip isnt autre",
            ["Apple\u2019s", "chip", "isn\u2019t", "autre"],
        ),
        ("state-of-the-art herons", '"of the art" her*', ["of-the-art", "herons"]),
        ("#Birds by @ada", "#birds @ada", ["#Birds", "@ada"]),
        ("red bird, blue bird", "bird -green", ["bird", "bird"]),
    ],
)
async def test_the_matched_words_are_marked(
    alice: Member, text: str, q: str, marked: list[str]
) -> None:
    saved = await alice.save(text=text)
    (found,) = await highlights(alice, q=q)
    await alice.remove(saved["post_id"])

    assert found
    assert re.findall("<mark>(.*?)</mark>", found["html"]) == marked


async def test_a_long_text_is_cut_around_the_first_match(alice: Member) -> None:
    await alice.save(text="before " * 2_000 + "the needle " + "after " * 2_000)

    (found,) = await highlights(alice, q="needle")

    assert found
    assert found["html"].startswith("…before ")
    assert "the <mark>needle</mark> after" in found["html"]
    assert found["html"].endswith("after…")
    assert len(found["html"]) < SNIPPET_CHARACTERS + 20


async def test_the_field_that_matches_most_words_is_shown(alice: Member) -> None:
    article = {"title": "On herons", "plain_text": "Herons wait for fish."}
    await alice.save(text="Herons, again", article=article)

    assert await highlights(alice, q="herons fish") == [
        {"field": "article.plain_text", "html": "<mark>Herons</mark> wait for <mark>fish</mark>."}
    ]


async def test_a_match_only_in_the_author_is_shown_there(alice: Member) -> None:
    await alice.save(text="Nothing here", author="ada_l", name="Ada")

    assert await highlights(alice, q="@ada_l") == [
        {"field": "author_username", "html": "<mark>@ada_l</mark>"}
    ]


async def test_highlights_are_added_only_on_request(alice: Member) -> None:
    await alice.save(text="A heron")

    plain = await alice.listed(q="heron")

    assert "highlight" not in plain["data"][0]
    assert await alice.listed(q="heron", highlight="false") == plain
    assert await highlights(alice) == [None]
    assert await highlights(alice, q="-owl") == [None]


async def test_an_invalid_boolean_is_refused(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks", q="a", highlight="maybe")

    assert response.status_code == 400
    assert response.json()["error"].startswith("highlight: ")


async def test_highlights_appear_in_ranked_lists_on_every_page(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n), text=f"heron {n}") for n in range(1, 6)])

    pages = [await alice.listed(q="heron", sort_by="relevance", highlight="true", limit=3)]
    cursor = pages[0]["meta"]["next_cursor"]
    pages.append(
        await alice.listed(q="heron", sort_by="relevance", highlight="true", limit=3, cursor=cursor)
    )

    shown = [post["highlight"]["html"] for page in pages for post in page["data"]]
    assert sorted(shown) == [f"<mark>heron</mark> {n}" for n in range(1, 6)]


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_and_query_work_and_only_mark_tags_are_markup(text: str, asked: str) -> None:
    found = highlight([("text", text)], parse(asked))

    if found is None:
        return
    bare = found.html.replace("<mark>", "").replace("</mark>", "")
    assert "<" not in bare
    shown = " ".join(html.unescape(bare).strip("…").split())
    assert shown in " ".join(text.split())


@given(st.lists(st.sampled_from(["heron", "Émile", "東京", "isn't", "#tag", "ß"]), min_size=1))
def test_every_word_of_the_text_can_be_marked(words: list[str]) -> None:
    text = " ".join(words)

    found = highlight([("text", text)], parse(words[-1]))

    assert found
    assert f"<mark>{words[-1]}" in found.html
