"""Which labels fit a post: labelled posts that are near to it, or by its author, vote for theirs.

    near   = sum(weight of the near posts with the label) / (sum(weight) + NEAR_DOUBT)
    weight = (similarity - floor - MARGIN) ** 2, of the nearest posts above floor + MARGIN
    author = posts with the label / (labelled posts of the author + AUTHOR_DOUBT)

The doubt keeps few votes, or weak ones, from deciding alone.
"""

from dataclasses import dataclass
from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, np, parse_numbers

NEAREST: Final = 12
MARGIN: Final = 0.0
NEAR_DOUBT: Final = 0.02
AUTHOR_DOUBT: Final = 3.0

Votes = dict[int, tuple[float, int]]
"""A score for each label, and how many posts have voted for it."""


@dataclass(frozen=True, slots=True)
class LabelledPosts:
    """The numbers of labelled posts in ascending order, and the ids of their labels."""

    numbers: Integers
    # Of the labels of each post: where they start, and how many there are.
    starts: Integers
    counts: Integers
    label_ids: Integers

    @classmethod
    def read(cls, numbers: str, label_ids: str) -> "LabelledPosts":
        """Reads the two lists of (number, label) pairs that the database returns."""
        each, labels = parse_numbers(numbers), parse_numbers(label_ids)
        order = np.argsort(each, kind="stable")
        found, starts, counts = np.unique(each[order], return_index=True, return_counts=True)
        return cls(found, starts, counts, labels[order])

    def near(self, similarities: Floats, floor: float, number: int) -> Votes:
        """`similarities`: of one post to each of these. It does not vote for itself."""
        weights = np.nan_to_num(similarities, nan=-1.0) - np.float32(floor + MARGIN)
        weights[self.numbers == number] = -1
        above = np.flatnonzero(weights > 0)
        if len(above) > NEAREST:
            most = np.argpartition(weights[above], len(above) - NEAREST)[len(above) - NEAREST :]
            above = above[most]
        squares = weights[above] ** 2
        return self._votes(above, squares, float(squares.sum()) + NEAR_DOUBT)

    def by_author(self, text: str, number: int) -> Votes:
        """`text`: the numbers of the author's posts. The post does not vote for itself."""
        own = parse_numbers(text)
        places = np.flatnonzero(np.isin(self.numbers, own[own != number]))
        return self._votes(places, np.ones(len(places), np.float32), len(places) + AUTHOR_DOUBT)

    def _votes(self, places: Integers, weights: Floats, whole: float) -> Votes:
        rows = np.repeat(self.starts[places], self.counts[places])
        ends = np.cumsum(self.counts[places])
        rows += np.arange(len(rows)) - np.repeat(ends - self.counts[places], self.counts[places])
        labels, inverse, counts = np.unique(
            self.label_ids[rows], return_inverse=True, return_counts=True
        )
        sums = np.bincount(inverse, np.repeat(weights, self.counts[places]), len(labels))
        scores = (sums / whole).tolist()
        voted = zip(scores, counts.tolist(), strict=True)
        return dict(zip(labels.tolist(), voted, strict=True))
