"""q with vector_search_term: one score of words and meaning."""

from typing import Any

import pytest

from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _both(member: Member, text: str, **params: Any) -> list[dict[str, Any]]:
    listed = await member.listed(q=text, vector_search_term=text, limit=100, **params)
    found: list[dict[str, Any]] = listed["data"]
    return found


@pytest.mark.both
async def test_an_exact_hit_among_similar_texts_is_in_the_first_ten(alice: Member) -> None:
    posts = [
        make.post(
            text=f"Low-rank adaptation of language models, a paper on arXiv: 2106.{9600 + n}",
            author=f"reader{n}",
        )
        for n in range(60)
    ]
    await alice.save_all(posts)
    await alice.embed()
    wanted = posts[41]

    for text in ("@reader41", "reader41", "2106.9641", "arXiv 2106.9641"):
        first_ten = [post["post_id"] for post in (await _both(alice, text))[:10]]
        assert wanted["post_id"] in first_ten, text


@pytest.mark.both
async def test_posts_with_a_common_word_come_before_similar_ones_without_it(alice: Member) -> None:
    texts = [
        f"A walk by the river this morning, note {n}{' with zephyr' * (n % 5 > 0)}"
        for n in range(155)
    ]
    await alice.save_all([make.post(text=text) for text in texts])
    await alice.embed()

    found = await _both(alice, "zephyr")

    assert sum("zephyr" in text for text in texts) == 124
    assert all("zephyr" in post["tweet_details"]["text"] for post in found[:30])


async def test_scores_fall_from_the_first_post_to_the_last(alice: Member) -> None:
    await alice.save_all([make.post(text=f"the cat {'purrs ' * n}") for n in range(6)])
    await alice.embed()

    for asked in ({"q": "purrs"}, {}):
        listed = await alice.listed(vector_search_term="a purring cat", **asked)
        scores = [post["score"] for post in listed["data"]]
        assert scores
        assert scores == sorted(scores, reverse=True)


@pytest.mark.both
async def test_a_typo_is_forgiven_and_corrected(alice: Member) -> None:
    await alice.save_all([make.post(text="Kubernetes restarted the pod"), make.post(text="Tea")])
    await alice.embed()

    listed = await alice.listed(q="kubrenetes", vector_search_term="kubrenetes")

    assert listed["data"][0]["tweet_details"]["text"].startswith("Kubernetes")
    assert listed["meta"]["did_you_mean"] == "kubernetes"


async def test_similar_posts_are_only_those_that_are_near(alice: Member) -> None:
    cat = await alice.save(text="Our kitten sleeps on the radiator")
    other = await alice.save(text="A cat that sleeps all day")
    await alice.save(text="Bond yields fell in the third quarter")
    await alice.embed()

    answer = (await alice.get(f"/v1/bookmarks/{cat['post_id']}/similar")).json()

    assert [post["post_id"] for post in answer["data"]] == [other["post_id"]]
    assert 0 < answer["data"][0]["score"] <= 1
    assert answer["meta"]["total_count"] == 1


async def test_hidden_posts_with_the_words_are_counted_beside_near_ones(alice: Member) -> None:
    await alice.save(text="A platypus swims in the creek", is_read=True)
    await alice.save(text="An otter and a beaver swim in the river")
    await alice.embed()
    both = dict.fromkeys(("q", "vector_search_term"), "platypus swims in a creek")

    listed = await alice.listed(**both)

    assert listed["meta"]["total_count"] == 1
    assert listed["meta"]["hint"].startswith("1 read or archived post matches.")
