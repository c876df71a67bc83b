"""The posts that a list by meaning can have, whatever its filter: found by one scan of a matrix.

A list that finds nothing asks again without its flags, to count the posts that they hide. It can
use the result of its first scan, which is small: most posts are far below the floor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from weakref import ReferenceType, ref

from bowerbird.search.meaning.arrays import Floats, Integers, np
from bowerbird.search.meaning.comparing import lowest_similarity
from bowerbird.search.meaning.embedding import JOINED_FLOOR, NO_FLOOR
from bowerbird.search.meaning.nearness import Nearness, joined
from bowerbird.search.meaning.vectors import Block, BlockScores, Matrix, Numbers, nearness_of

# 16 bytes per post.
_MOST_REMEMBERED: Final = 4_096
# Comparing so few posts exactly takes less time than asking for the same posts twice.
_MOST_COMPARED: Final = 64
# The order in which a product is added up changes less than this of a similarity.
_ADDING_ERROR: Final = 1e-5


@dataclass(frozen=True, slots=True)
class NearPosts:
    """The posts of a matrix that may be above the floor of one model."""

    matrix: ReferenceType[Matrix]
    query: Floats
    floor: float
    # Of each block: the places of posts, and about how similar they are.
    parts: Sequence[tuple[Integers, Floats]]

    @classmethod
    def of(cls, matrix: Matrix, query: Floats, floor: float) -> "NearPosts":
        lowest = lowest_similarity(query, floor)

        def scanned(block: Block) -> tuple[Integers, Floats]:
            similarity = block.approximate_similarity(query)
            places = np.flatnonzero(similarity >= lowest)
            return places, similarity[places]

        return cls(ref(matrix), query, floor, matrix.map_blocks(scanned))

    @property
    def may_be_remembered(self) -> bool:
        return sum(len(places) for places, _ in self.parts) <= _MOST_REMEMBERED

    def within(self, matrix: Matrix, candidates: Numbers) -> Nearness:
        """The candidates among them. The caller drops everything below the floor."""
        pairs = zip(matrix.blocks, self.parts, strict=True)
        found = [self._within(block, *part, candidates) for block, part in pairs if len(part[0])]
        parts = [part for part in found if part is not None]
        return nearness_of(parts, self.query, self.floor, is_cut=True)

    def _within(
        self, block: Block, places: Integers, scores: Floats, candidates: Numbers
    ) -> BlockScores | None:
        is_candidate = candidates.contains(block.numbers[places])
        if not is_candidate.any():
            return None
        if block.is_sparse(block.count(candidates)):
            # Its candidates are compared exactly, all of them.
            places = block.places(candidates)
            return BlockScores(block, places, block.exact_similarity(self.query, places))
        return BlockScores(block, places[is_candidate], scores[is_candidate])


@dataclass(frozen=True, slots=True)
class Scan:
    """About how similar all posts of a matrix are to a query, by block."""

    matrix: Matrix
    query: Floats
    floor: float
    similarity: Sequence[Floats]

    @classmethod
    def of(cls, matrix: Matrix, query: Floats, floor: float) -> "Scan":
        similarity = matrix.map_blocks(lambda block: block.approximate_similarity(query))
        return cls(matrix, query, floor, similarity)

    def all(self) -> Nearness:
        """All posts with about their similarity, and without a floor."""
        if not self.similarity:
            return Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32), NO_FLOOR)
        numbers = np.concatenate([block.numbers for block in self.matrix.blocks])
        scores = np.concatenate(self.similarity)
        is_valid = numbers >= 0
        if not is_valid.all():
            numbers, scores = numbers[is_valid], scores[is_valid]
        return Nearness(numbers, scores, NO_FLOOR)

    def within(self, candidates: Numbers) -> Nearness:
        """What a search of the matrix within these candidates returns."""
        pairs = zip(self.matrix.blocks, self.similarity, strict=True)
        parts = [self._within(block, scores, candidates) for block, scores in pairs]
        return nearness_of(parts, self.query, self.floor, is_cut=False)

    def _within(self, block: Block, scores: Floats, candidates: Numbers) -> BlockScores:
        places = block.places(candidates)
        if block.is_sparse(len(places)):
            return BlockScores(block, places, block.exact_similarity(self.query, places))
        return BlockScores(block, places, scores[places])


@dataclass(frozen=True, slots=True)
class NearByBoth:
    """The numbers of the posts that may be above the floor of both models together."""

    matrices: tuple[ReferenceType[Matrix], ReferenceType[Matrix]]
    numbers: Integers

    @classmethod
    def of(cls, first: Scan, second: Scan, *, share: float) -> "NearByBoth":
        scans = (first, second)
        roughly = (first.all(), second.all())
        both = joined(*roughly, share=share)
        lowest = min(lowest_similarity(scan.query, JOINED_FLOOR) for scan in scans)
        numbers = both.numbers[both.scores >= lowest]
        if 0 < len(numbers) <= _MOST_COMPARED:
            highest = [
                _highest(scan, all_posts, Numbers(numbers))
                for scan, all_posts in zip(scans, roughly, strict=True)
            ]
            both = joined(*highest, share=share)
            numbers = both.numbers[both.scores >= JOINED_FLOOR - _ADDING_ERROR]
        return cls((ref(first.matrix), ref(second.matrix)), numbers)

    @property
    def may_be_remembered(self) -> bool:
        return len(self.numbers) <= _MOST_REMEMBERED

    def is_of(self, first: Matrix, second: Matrix) -> bool:
        return self.matrices[0]() is first and self.matrices[1]() is second

    def has_any(self, candidates: Numbers) -> bool:
        return bool(candidates.contains(self.numbers).any())


NOTHING_NEAR_BOTH: Final = Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32), JOINED_FLOOR)


def nearness_by_both(
    first: Scan, second: Scan, candidates: Numbers, *, share: float
) -> tuple[NearByBoth, Nearness]:
    """The candidates by both models. The caller drops everything below the floor."""
    near = NearByBoth.of(first, second, share=share)
    if not near.has_any(candidates):
        return near, NOTHING_NEAR_BOTH
    parts = (first.within(candidates), second.within(candidates))
    return near, joined(*parts, share=share)


def _highest(scan: Scan, roughly: Nearness, posts: Numbers) -> Nearness:
    """The highest similarity that a scan can return for each of a few posts."""
    exactly = scan.matrix.nearness(scan.query, posts)
    scores = np.maximum(exactly.scores, roughly.scores[posts.contains(roughly.numbers)])
    return Nearness(exactly.numbers, scores, NO_FLOOR)
