"""One ranked list out of two: by meaning and by words."""

from collections.abc import Sequence
from typing import Final

_RANK_CONSTANT: Final = 60
# Words are the surer sign and the rarer one: more weight would let them drown what only meaning
# finds, less would lose names and numbers that meaning does not know.
WORD_WEIGHT: Final = 0.4


def fuse(by_meaning: Sequence[int], by_words: Sequence[int], most: int) -> list[int]:
    """The union of two ranked lists by reciprocal rank, best first."""
    scores: dict[int, float] = {}
    for ranked, weight in ((by_meaning, 1.0), (by_words, WORD_WEIGHT)):
        for rank, number in enumerate(ranked, start=1):
            scores[number] = scores.get(number, 0.0) + weight / (_RANK_CONSTANT + rank)
    best = sorted(scores, key=lambda number: (-scores[number], -number))
    return best[:most]
