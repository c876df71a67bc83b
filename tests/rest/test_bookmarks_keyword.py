"""GET /v1/bookmarks?q=: lists ranked by words, with some of them, and with the words marked."""

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


async def test_every_word_must_match(alice: Member) -> None:
    both, _, mixed = await alice.save_texts("Die Katze liegt", "Die Maus liegt", "LIEGT, katze!")

    assert await alice.ids(q="katze liegt") == [mixed, both]
    assert (await alice.listed(q="katze liegt", limit=1))["meta"]["total_count"] == 2
    assert await alice.crawl(q="katze liegt", limit=1) == [mixed, both]
    assert (await alice.listed(q="katze hund"))["meta"]["relaxed"] is True


ODD = (
    *('"', '"""', "-", "*", "!!!", "AND OR NOT NEAR(a b)", "words:x", "a' OR 1=1 --", "(a", "a)"),
    *("a & b | !c <-> d", "{x}:y", "^a", "\u202e", "👩‍👩‍👧", "日本語", "\\", "-" * 300),
    *("'; DROP TABLE bookmark; --", "a" * 5000, " ".join(f"w{n}" for n in range(500))),
    *('"quick brown"', "katze -hund", 'katze !"mit hund"', "katz*", "k*"),
)


@pytest.mark.both
async def test_every_query_is_valid(alice: Member) -> None:
    await alice.save_texts("something else")

    for q in ODD:
        total = (await alice.listed(q=q))["meta"]["total_count"]
        ranked = await alice.listed(q=q, sort_by="relevance")
        assert ranked["meta"]["total_count"] == total, q


async def test_a_query_without_words_finds_nothing(alice: Member) -> None:
    await alice.save_texts("etwas")

    for q in ("...", '""', "*", "-"):
        assert await alice.ids(q=q) == []
        assert await alice.ids(q=q, sort_by="relevance") == []


async def test_posts_like_the_first_ones_rank_higher_in_long_queries(alice: Member) -> None:
    like, second, first, unlike = await alice.save_texts(
        "A bird at the painted lantern festival",
        "Heron, weir and reeds at the painted lantern festival",
        "Heron, weir, reeds, water: the painted lantern festival",
        "A bird above one quiet mountain meadow",
    )
    query = "heron weir reeds water bird river"

    assert await alice.ids(q=query, sort_by="relevance") == [first, second, like, unlike]
    # Of equal ones, the newer.
    assert await alice.ids(q="bird", sort_by="relevance") == [unlike, like]


async def test_relevance_ranks_the_best_match_first(alice: Member) -> None:
    best, weak, _ = await alice.save_texts(
        "katze katze katze", "a katze among a great many other words", "nothing"
    )

    assert await alice.ids(q="katze", sort_by="relevance") == [best, weak]
    assert await alice.ids(q="katze") == [weak, best]
    assert len(await alice.ids(q=" ")) == 3


@pytest.mark.both
async def test_flags_and_filters_narrow_the_matches(alice: Member) -> None:
    fresh = await alice.save(text="katze", author="ada", tags=["x"])
    read = await alice.save(text="katze", author="eve", is_read=True)
    archived = await alice.save(text="katze", is_archived=True)

    for ranked in ({}, {"sort_by": "relevance"}):
        assert await alice.ids(q="katze", **ranked) == [fresh["post_id"]]
        assert await alice.ids(q="katze", is_unread_only=0, author="eve", **ranked) == [
            read["post_id"]
        ]
        assert set(await alice.ids(q="katze", hide_archived=0, **ranked)) == {
            fresh["post_id"],
            archived["post_id"],
        }
        assert await alice.ids(q="katze", tag="X", **ranked) == [fresh["post_id"]]


@pytest.mark.both
async def test_a_changed_post_is_found_by_its_new_words_only(alice: Member) -> None:
    record = await alice.save(text="alt")
    assert await alice.ids(q="alt") == [record["post_id"]]

    await alice.change(record, tweet_details={**record["tweet_details"], "text": "neu"})

    assert await alice.ids(q="neu") == [record["post_id"]]
    assert await alice.ids(q="alt") == []
    assert await alice.ids(q="alt", sort_by="relevance") == []


async def test_ranked_lists_contain_the_best_thousand(alice: Member) -> None:
    texts = ["katze" + f" und {number} wort" * (number % 3 + 1) for number in range(1005)]
    await alice.save_texts(*texts)

    answer = await alice.listed(q="katze", sort_by="relevance", limit=100)
    crawled = await alice.crawl(q="katze", sort_by="relevance", limit=100)

    assert answer["meta"]["total_count"] == 1000
    assert len(crawled) == len(set(crawled)) == 1000
    assert crawled[:100] == [bookmark["post_id"] for bookmark in answer["data"]]
    # The unranked list has no such limit.
    assert (await alice.listed(q="katze"))["meta"]["total_count"] == 1005


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
