"""How good search is: by words, by meaning, and by both, on a labelled set of our own."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import pytest

from tests.search.labelled import POSTS, QUESTIONS
from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio

WAYS: dict[str, Any] = {
    "words": lambda text: {"q": text, "sort_by": "relevance"},
    "meaning": lambda text: {"vector_search_term": text},
    "both": lambda text: {"q": text, "vector_search_term": text},
}


def _gain(found: Sequence[str], right: AbstractSet[str]) -> float:
    """nDCG@10: 1 when all that is right stands first."""
    gained = sum(1 / math.log2(rank + 2) for rank, post in enumerate(found[:10]) if post in right)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(right), 10)))
    return gained / ideal


async def _quality(member: Member, way: str) -> float:
    gains = [
        _gain(await member.ids(**WAYS[way](text), limit=10), right)
        for text, right in QUESTIONS.items()
    ]
    return sum(gains) / len(gains)


async def test_both_together_are_as_good_as_the_better_of_the_two(alice: Member) -> None:
    await alice.save_all([make.post(post_id=post_id, text=text) for post_id, text in POSTS.items()])
    await alice.embed()

    quality = {way: await _quality(alice, way) for way in WAYS}

    assert quality["meaning"] > 0.85, quality
    assert quality["both"] >= max(quality["words"], quality["meaning"]) - 0.01, quality


def test_every_label_names_a_post() -> None:
    assert set().union(*QUESTIONS.values()) <= POSTS.keys()
