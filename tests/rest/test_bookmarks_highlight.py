"""GET /v1/bookmarks?highlight=true: excerpts with the words of q marked."""

import html
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.search.queries.highlights import SNIPPET_CHARACTERS, highlight
from bowerbird.search.queries.query_language import parse
from tests.support import make
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
