"""Which labels fit a post: labelled posts that are near to it, or by its author, vote for theirs.

    near   = t / (t + CLEAR),  t = sum(nearness of the best BEST posts with the label) / (posts + 1)
    author = posts with the label / (labelled posts of the author + AUTHOR_DOUBT)

Nearness is in standard deviations above the median post of the library. The added ones keep few
posts from deciding alone.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, np, parse_numbers

# Of the labelled posts, the nearest vote.
NEAREST: Final = 60
BEST: Final = 6
CLEAR: Final = 1.5
AUTHOR_DOUBT: Final = 3.0
# One post of an author may have its label by chance.
_FEWEST_OF_AUTHOR: Final = 2

Votes = dict[int, tuple[float, int]]
"""A score from 0 to 1 for each label, and how many posts have voted for it."""


@dataclass(frozen=True, slots=True)
class LabelledPosts:
    """The numbers of labelled posts in ascending order, and the ids of their labels."""

    numbers: Integers
    # Of the labels of each post: where they start, and the end of the last.
    bounds: list[int]
    label_ids: list[int]

    @classmethod
    def read(cls, numbers: str, label_ids: str) -> "LabelledPosts":
        """Reads the two lists of (number, label) pairs that the database returns."""
        each, labels = parse_numbers(numbers), parse_numbers(label_ids)
        order = np.argsort(each, kind="stable")
        found, starts = np.unique(each[order], return_index=True)
        return cls(found, [*starts.tolist(), len(each)], labels[order].tolist())

    def near(self, nearness: Floats) -> Votes:
        """`nearness`: of each of these posts to one; not a number for those that do not vote."""
        above = np.flatnonzero(nearness > 0)
        if len(above) > NEAREST:
            best_first = np.argpartition(nearness[above], len(above) - NEAREST)
            above = above[np.sort(best_first[len(above) - NEAREST :])]
        above = above[np.argsort(-nearness[above], kind="stable")]
        sums: defaultdict[int, list[float]] = defaultdict(list)
        for place, near in zip(above.tolist(), nearness[above].tolist(), strict=True):
            for label_id in self._labels(place):
                if len(sums[label_id]) < BEST:
                    sums[label_id].append(near)
        found = {}
        for label_id, best in sums.items():
            total = sum(best) / (len(best) + 1)
            found[label_id] = (total / (total + CLEAR), len(best))
        return found

    def by_author(self, text: str, number: int) -> Votes:
        """`text`: the numbers of the author's posts. The post does not vote for itself."""
        own = parse_numbers(text)
        own = own[own != number]
        places = np.searchsorted(self.numbers, own)
        places[places == len(self.numbers)] = 0
        places = places[self.numbers[places] == own].tolist()
        counts: defaultdict[int, int] = defaultdict(int)
        for place in places:
            for label_id in self._labels(place):
                counts[label_id] += 1
        whole = len(places) + AUTHOR_DOUBT
        return {
            label_id: (count / whole, count)
            for label_id, count in counts.items()
            if count >= _FEWEST_OF_AUTHOR
        }

    def _labels(self, place: int) -> list[int]:
        return self.label_ids[self.bounds[place] : self.bounds[place + 1]]
