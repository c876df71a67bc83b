"""Compares the posts exactly that a list depends on, after a scan has compared all roughly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bowerbird.search.meaning.arrays import Floats, Integers, np
from bowerbird.search.meaning.byte_products import rounded
from bowerbird.search.meaning.nearness import Nearness, best_places

if TYPE_CHECKING:
    from bowerbird.search.meaning.vectors import Block

# The query loses its last bits in a product of bytes: up to this much of a similarity.
_MAX_ERROR: Final = 0.004
# The length of a stored vector is at most this.
_LONGEST: Final = 1.05
# This many of the best posts are compared exactly, which is more than a page has.
_EXACT_POSTS: Final = 256
# So are the posts that may be on either side of the floor, up to this many.
_EXACT_POSTS_AT_FLOOR: Final = 2_048


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Some posts of a block, in the order of their places, and how similar each is to a query."""

    block: "Block"
    places: Integers
    scores: Floats


def nearness_of(
    parts: Sequence[BlockScores], query: Floats, floor: float, *, is_cut: bool
) -> Nearness:
    """Joins the posts of several blocks, and compares those exactly that a list depends on."""
    if not parts:
        return Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32), floor)
    scores = np.concatenate([part.scores for part in parts])
    inexact = _inexact_places(scores, floor, is_cut=is_cut)
    start = 0
    for part in parts:
        end = start + len(part.places)
        first, last = np.searchsorted(inexact, (start, end))
        chosen = inexact[first:last]
        if len(chosen):
            scores[chosen] = part.block.exact_similarity(query, part.places[chosen - start])
        start = end
    numbers = np.concatenate([part.block.numbers[part.places] for part in parts])
    return Nearness(numbers, scores, floor)


def lowest_similarity(query: Floats, floor: float) -> float:
    """The lowest approximate similarity of a post that a list with this floor can depend on.

    The product of the loss of a query with a vector of length 1 is at most as long as the loss.
    Stored vectors are a little longer than 1, because they are rounded too.
    """
    losses = []
    for row in np.atleast_2d(query):
        values, scale = rounded(row)
        losses.append(float(np.linalg.norm(row - values * scale)))
    return floor - _MAX_ERROR - max(_MAX_ERROR, _LONGEST * max(losses))


def _inexact_places(scores: Floats, floor: float, *, is_cut: bool) -> Integers:
    """Where a small error would change a list, in ascending order."""
    at_floor = np.flatnonzero(np.abs(scores - np.float32(floor)) <= np.float32(_MAX_ERROR))
    best = best_places(scores, _EXACT_POSTS)
    if is_cut:
        best = best[scores[best] >= np.float32(floor - _MAX_ERROR)]
    return np.union1d(best, at_floor[:_EXACT_POSTS_AT_FLOOR])
