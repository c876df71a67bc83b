"""Merges two ranked lists into one: the results by meaning and the results by words."""

from collections.abc import Sequence
from typing import Final

_RANK_CONSTANT: Final = 60
# With more weight, matches by words would push down posts that only meaning finds; with less,
# names and numbers, which the embedding model does not know, would get lost.
WORD_WEIGHT: Final = 0.4


def fuse(by_meaning: Sequence[int], by_words: Sequence[int], limit: int) -> list[int]:
    """The union of both lists, best first, scored by reciprocal rank."""
    scores: dict[int, float] = {}
    for ranked, weight in ((by_meaning, 1.0), (by_words, WORD_WEIGHT)):
        for rank, number in enumerate(ranked, start=1):
            scores[number] = scores.get(number, 0.0) + weight / (_RANK_CONSTANT + rank)
    best = sorted(scores, key=lambda number: (-scores[number], -number))
    return best[:limit]
