"""The quality of search by words, by meaning, and by both, on our labelled data set."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import pytest

from tests.search.labelled import POSTS, QUERIES
from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio

SEARCHES: dict[str, Any] = {
    "words": lambda text: {"q": text, "sort_by": "relevance"},
    "meaning": lambda text: {"vector_search_term": text},
    "both": lambda text: {"q": text, "vector_search_term": text},
}


def _ndcg(found: Sequence[str], relevant: AbstractSet[str]) -> float:
    """nDCG@10: 1 when all relevant posts come first."""
    gains = [1 / math.log2(rank + 2) for rank, post in enumerate(found[:10]) if post in relevant]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(relevant), 10)))
    return sum(gains) / ideal


async def _quality(member: Member, search: str) -> float:
    gains = [
        _ndcg(await member.ids(**SEARCHES[search](text), limit=10), relevant)
        for text, relevant in QUERIES.items()
    ]
    return sum(gains) / len(gains)


async def test_the_combined_search_is_as_good_as_the_better_of_the_two(alice: Member) -> None:
    await alice.save_all([make.post(post_id=post_id, text=text) for post_id, text in POSTS.items()])
    await alice.embed()

    quality = {search: await _quality(alice, search) for search in SEARCHES}

    assert quality["meaning"] > 0.85, quality
    assert quality["both"] >= max(quality["words"], quality["meaning"]) - 0.01, quality


def test_every_relevant_post_exists() -> None:
    assert set().union(*QUERIES.values()) <= POSTS.keys()
