"""`search_bookmarks`: best matches first, and what a question by words is told."""

from pathlib import Path
from typing import Any

import pytest

from bowerbird import app
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.settings import Settings
from tests.support.hosts.embedding_service import embedding_service
from tests.support.models import ignore
from tests.support.service import Member, Service
from tests.support.toolcalls import call, ids, refusal

pytestmark = pytest.mark.anyio


async def test_it_finds_read_and_archived_posts(alice: Member) -> None:
    read = await alice.save(text="an owl at noon", is_read=True)
    archived = await alice.save(text="an owl at night", is_archived=True)
    await alice.save(text="a crow")

    answer = await call(alice, "search_bookmarks", query="owl")

    assert {p["post_id"] for p in answer["bookmarks"]} == {read["post_id"], archived["post_id"]}
    assert answer["filters"] == {
        "query": "owl",
        "mode": "keyword",
        "is_unread_only": False,
        "hide_archived": False,
        "sort_by": "relevance",
    }


async def test_the_best_match_comes_first_unless_sort_by_is_sent(alice: Member) -> None:
    best = await alice.save(text="owl")
    other = await alice.save(text="an owl among many many other words that are about other birds")

    assert await ids(alice, "search_bookmarks", query="owl") == [best["post_id"], other["post_id"]]
    newest = await ids(alice, "search_bookmarks", query="owl", sort_by="sort_index")
    assert newest == [other["post_id"], best["post_id"]]


async def test_an_empty_query_or_an_unknown_mode_is_rejected(alice: Member) -> None:
    for query in ("", "   ", None):
        said = await refusal(alice, "search_bookmarks", query=query)
        assert said.startswith("INVALID_REQUEST: query: is ")
    said = await refusal(alice, "search_bookmarks", query="owl", mode="telepathic")
    assert "mode: must be one of hybrid, keyword, semantic, got 'telepathic'." in said


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
async def test_the_free_plan_does_not_allow_search_by_meaning(free: Member, mode: str) -> None:
    said = await refusal(free, "search_bookmarks", query="owl", mode=mode)

    assert said == (
        "VECTOR_SEARCH_NOT_ALLOWED: Search by meaning needs a paid plan. "
        "Call search_bookmarks with mode keyword instead."
    )


async def test_a_hit_shows_where_the_word_is_and_how_long_the_article_is(alice: Member) -> None:
    body = "filler " * 500 + "the elusive kakapo dances at night " + "filler " * 500
    await alice.save(text="Worth reading", article={"title": "Parrots", "plain_text": body})
    await alice.save(text="a kakapo")

    short, long = sorted(
        (await call(alice, "search_bookmarks", query="kakapo"))["bookmarks"],
        key=lambda post: "snippet" in post,
    )

    assert "the elusive kakapo dances" in long["snippet"]
    assert "<mark>" not in long["snippet"]
    assert long["article_length"] == len(body)
    assert "snippet" not in short, "the text that is shown has the word"


async def test_a_word_after_the_shown_part_of_a_text_is_in_the_snippet(alice: Member) -> None:
    text = "filler " * 60 + "a <b>kakapo</b> & friends"
    await alice.save(text=text)

    (post,) = (await call(alice, "search_bookmarks", query="kakapo"))["bookmarks"]

    assert post["snippet"].endswith("a <b>kakapo</b> & friends")
    assert post["text_length"] == len(text)


async def test_hybrid_is_the_default_when_the_vectors_are_ready(alice: Member) -> None:
    bread = await alice.save(text="My sourdough starter doubled overnight; the loaf has a crust.")
    await alice.save(text="Freelancers set aside a third of each invoice for taxes.")
    before = await call(alice, "search_bookmarks", query="baking bread at home")
    assert before["filters"]["mode"] == "keyword"
    await alice.embed()

    answer = await call(alice, "search_bookmarks", query="baking bread at home")

    assert answer["filters"]["mode"] == "hybrid"
    assert answer["bookmarks"][0]["post_id"] == bread["post_id"]
    assert answer["bookmarks"][0]["score"] > 0
    only_fields = await call(alice, "search_bookmarks", query="author:ada")
    assert only_fields["filters"]["mode"] == "keyword"
    assert only_fields["total_count"] == 2


async def test_the_default_is_keyword_on_the_free_plan(free: Member) -> None:
    await free.save(text="owl")
    await free.embed()

    answer = await call(free, "search_bookmarks", query="owl")

    assert answer["filters"]["mode"] == "keyword"
    assert answer["count"] == 1


async def test_the_default_is_words_while_the_model_is_away(cast: Service, tmp_path: Path) -> None:
    with embedding_service() as running:
        settings = Settings(
            data_dir=tmp_path,
            embedding_url=running.url,
            embedding_key=running.key,
            embedding_model="tiny",
        )
        built = app.build(settings, cast.database, cast.clock)
        alice = cast.alice.on(built)
        saved = await alice.save(text="red bird")
        builds = VectorBuilds(alice.database, built.models, alice.clock)
        await builds.build(alice.account_id, ignore)
        assert (await call(alice, "search_bookmarks", query="bird"))["filters"]["mode"] == "hybrid"
        running.key = "changed"

        answer = await call(alice, "search_bookmarks", query="red")
        said = await refusal(alice, "search_bookmarks", query="red", mode="hybrid")

        assert answer["filters"]["mode"] == "keyword"
        assert [post["post_id"] for post in answer["bookmarks"]] == [saved["post_id"]]
        assert said.startswith("SERVICE_UNAVAILABLE")
        await alice.client.aclose()
        await built.models.close()


QUESTION = "which herons nest beside quiet rivers"
SOME_WORDS = "how does the starter of a sourdough loaf rise quickly"
SEARCH = "search_bookmarks also finds posts by their meaning."
HYBRID = "Try mode hybrid, which also finds posts by their meaning."
BUILDING = "Only words were searched. The vector store is being built: 0 of 1 posts."
TEXT = "My sourdough starter doubled overnight and the loaf has a crisp crust"


async def advice(member: Member, tool: str, **arguments: Any) -> str:
    return str((await call(member, tool, **arguments)).get("advice", ""))


@pytest.mark.parametrize("query", [QUESTION, SOME_WORDS])
async def test_every_tool_with_a_question_names_the_other_search(alice: Member, query: str) -> None:
    await alice.save(text=TEXT)
    await alice.embed()

    assert await advice(alice, "search_bookmarks", query=query, mode="keyword") != ""
    assert HYBRID in await advice(alice, "search_bookmarks", query=query, mode="keyword")
    assert SEARCH in await advice(alice, "list_bookmarks", query=query)
    assert SEARCH in await advice(alice, "count_bookmarks", query=query)
    assert SEARCH in await advice(alice, "facet_bookmarks", query=query, by="author")


async def test_a_search_says_once_that_the_vectors_are_not_built_yet(alice: Member) -> None:
    await alice.save(text=TEXT)

    for query in ("sourdough", QUESTION, SOME_WORDS):
        said = await advice(alice, "search_bookmarks", query=query)
        assert said.count(BUILDING) == 1, query
    assert BUILDING in await advice(alice, "list_bookmarks", query=QUESTION)
    # Who asks for words gets words.
    assert await advice(alice, "search_bookmarks", query="sourdough", mode="keyword") == ""
    await alice.embed()
    assert BUILDING not in await advice(alice, "search_bookmarks", query="sourdough")
