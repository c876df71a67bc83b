"""Which posts a list depends on so closely that they are compared exactly, after a rough scan."""

from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, np
from bowerbird.search.meaning.byte_products import rounded
from bowerbird.search.meaning.nearness import best_places

# The query loses its last bits in a product of bytes: up to this much of a similarity.
_MAX_ERROR: Final = 0.004
# The length of a stored vector is at most this.
_LONGEST: Final = 1.05
# This many of the best posts are compared exactly, which is more than a page has.
_EXACT_POSTS: Final = 256
# So are the posts that may be on either side of the floor, up to this many.
_EXACT_POSTS_AT_FLOOR: Final = 2_048


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


def inexact_places(scores: Floats, floor: float, *, is_cut: bool) -> Integers:
    """Where a small error would change a list, in ascending order."""
    at_floor = np.flatnonzero(np.abs(scores - np.float32(floor)) <= np.float32(_MAX_ERROR))
    best = best_places(scores, _EXACT_POSTS)
    if is_cut:
        best = best[scores[best] >= np.float32(floor - _MAX_ERROR)]
    return np.union1d(best, at_floor[:_EXACT_POSTS_AT_FLOOR])
