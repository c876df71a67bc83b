"""A question by words that finds nothing is told about search by meaning, if it can be used."""

import pytest

from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio

QUESTION = "which herons nest beside quiet rivers"
SOME_WORDS = "how does the starter of a sourdough loaf rise quickly"
READY = "To search by meaning, send the question as vector_search_term."
BUILDING = "Search by meaning is not ready yet: the vectors are being built."
TEXT = "My sourdough starter doubled overnight and the loaf has a crisp crust"


async def hint(member: Member, **params: str) -> str:
    return str((await member.listed(**params))["meta"].get("hint", ""))


async def test_a_question_is_told_about_search_by_meaning_once_it_is_ready(alice: Member) -> None:
    await alice.save(text=TEXT)
    before = await alice.get("/v1/bookmarks", q=QUESTION)
    assert before.json()["meta"]["hint"].endswith(BUILDING)
    await alice.embed()

    again = await alice.client.get(
        "/v1/bookmarks",
        params={"q": QUESTION},
        headers={"If-None-Match": before.headers["etag"]},
    )

    assert again.status_code == 200, "the hint has changed, although the library has not"
    assert again.json()["meta"]["hint"].endswith(READY)
    assert again.json()["meta"]["hint"].startswith("No post has the words")
    assert (await alice.get("/v1/bookmarks", vector_search_term=QUESTION)).status_code == 200


async def test_new_vectors_do_not_change_the_etag_of_a_question_by_words(alice: Member) -> None:
    await alice.save(text=TEXT)
    await alice.embed()
    await alice.save(text="a heron")
    answers = [
        await alice.get("/v1/bookmarks", q=question)
        for question in ("sourdough starter doubled overnight", SOME_WORDS, QUESTION)
    ]

    await alice.embed()

    for answer in answers:
        headers = {"If-None-Match": answer.headers["etag"]}
        again = await alice.client.get(answer.request.url, headers=headers)
        assert again.status_code == 304, answer.json()


async def test_posts_with_some_of_the_words_are_told_it_too_once_it_is_ready(alice: Member) -> None:
    await alice.save(text=TEXT)
    some = "No post has all of these words. These have some of them."
    assert await hint(alice, q=SOME_WORDS) == some
    await alice.embed()

    assert await hint(alice, q=SOME_WORDS) == f"{some} {READY}"


async def test_other_searches_are_not_told_about_it(alice: Member, free: Member) -> None:
    for member in (alice, free):
        await member.save(text=TEXT)
        await member.save(text="herons by the river", is_read=True)
    await alice.embed()

    assert READY not in await hint(alice, q="herons rivers"), "two words are no question"
    assert await hint(alice, q="sourdough starter doubled overnight") == "", "it has been found"
    assert READY not in await hint(alice, q="herons by the river"), "read posts have all words"
    assert READY not in await hint(alice, q=QUESTION, vector_search_term=QUESTION)
    assert READY not in await hint(free, q=QUESTION), "the plan does not include it"
    assert BUILDING not in await hint(free, q=QUESTION)


async def test_a_search_by_meaning_counts_the_posts_that_it_cannot_find_yet(alice: Member) -> None:
    first = await alice.save(text=TEXT)
    await alice.embed()
    await alice.save_all([make.post(text="a heron"), make.post(text="a rocket")])

    listed = await alice.listed(vector_search_term="baking bread")
    near = (await alice.get(f"/v1/bookmarks/{first['post_id']}/similar")).json()

    for answer in (listed, near):
        assert answer["meta"]["vector_pending"] == 2
        assert answer["meta"]["hint"].endswith(
            "2 posts cannot be found by meaning yet: their vectors are being built."
        )
    await alice.embed()
    assert "vector_pending" not in (await alice.listed(vector_search_term="bread"))["meta"]
    assert await hint(alice, vector_search_term="baking bread") == ""
