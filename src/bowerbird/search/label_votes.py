"""Which labels fit a post: those whose posts are like it in meaning, and those of its author's.

    meaning = 1 / (1 + exp(-fit))
    fit     = NEAR * cosine - EXPECTED * expected + NAME * cosine of the name
              + log(posts / all labelled posts) + BASE
    author  = posts with the label / (labelled posts of the author + AUTHOR_DOUBT)

A label stands for the sum of its posts, and vectors count from the middle of the library. What is
expected is the cosine that posts of the label have with this sum: so a label whose posts are all
alike asks for more than one whose posts are terse or of many kinds. Of two models, the average
counts. benchmarks/notes/0063-suggested-labels.md has figures.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, np, parse_numbers
from bowerbird.search.meaning.vectors import Groups

NEAR: Final = 20.0
EXPECTED: Final = 15.0
NAME: Final = 10.0
BASE: Final = 1.5
AUTHOR_DOUBT: Final = 3.0
# Of each label, the newest posts stand for it: more cost time and change little.
NEWEST: Final = 30
# Of each post, the names of so many labels are compared: the others are too far from it.
_NAMES: Final = 4
# A lower fit adds next to nothing to what the author's posts tell.
_LEAST_FIT: Final = -2.0
# How alike posts of a label are that has few of them, and how many pairs that counts for.
_ALIKE: Final = 0.1
_DOUBT: Final = 3.0
# No sum of vectors is shorter than they make it expect.
_SHORTEST: Final = 0.1
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
    # The ids in ascending order, how many posts each has, and the newest posts of each.
    known: list[int]
    counts: list[int]
    groups: Groups

    @classmethod
    def read(cls, numbers: str, label_ids: str) -> "LabelledPosts":
        """Reads the two lists of (number, label) pairs that the database returns."""
        each, labels = parse_numbers(numbers), parse_numbers(label_ids)
        order = np.argsort(each, kind="stable")
        found, starts = np.unique(each[order], return_index=True)
        known, counts = np.unique(labels, return_counts=True)
        newest = np.lexsort((-each, labels))
        rank = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts)
        newest = newest[rank < NEWEST]
        weights = np.ones(len(newest), np.float32)
        places = np.searchsorted(known, labels[newest])
        groups = Groups.sort(each[newest], places, weights, len(known))
        bounds = [*starts.tolist(), len(each)]
        return cls(found, bounds, labels[order].tolist(), known.tolist(), counts.tolist(), groups)

    def by_meaning(self, nearness: Floats) -> Votes:
        """`nearness`: of each label to one post."""
        shares = np.array(self.counts, np.float32) / np.float32(len(self.numbers))
        fits = nearness + np.log(shares) + np.float32(BASE)
        places = np.flatnonzero(fits > _LEAST_FIT)
        scores = (1 / (1 + np.exp(-fits[places]))).tolist()
        return {
            self.known[place]: (score, self.counts[place])
            for place, score in zip(places.tolist(), scores, strict=True)
        }

    def by_author(self, text: str, number: int) -> Votes:
        """`text`: the numbers of the author's posts. The post does not vote for itself."""
        own = parse_numbers(text)
        own = own[own != number]
        places = np.searchsorted(self.numbers, own)
        places[places == len(self.numbers)] = 0
        places = places[self.numbers[places] == own].tolist()
        counts: defaultdict[int, int] = defaultdict(int)
        for place in places:
            for label_id in self.label_ids[self.bounds[place] : self.bounds[place + 1]]:
                counts[label_id] += 1
        whole = len(places) + AUTHOR_DOUBT
        return {
            label_id: (count / whole, count)
            for label_id, count in counts.items()
            if count >= _FEWEST_OF_AUTHOR
        }


def with_posts(labels: Groups, asked: Sequence[int], sample: Integers) -> Groups:
    """The groups of labels, and after them each asked post and each of the sample as one."""
    posts = np.concatenate((np.array(asked, np.int64), sample))
    return Groups.sort(
        np.concatenate((labels.numbers, posts)),
        np.concatenate((labels.of, labels.count + np.arange(len(posts)))),
        np.concatenate((labels.weights, np.ones(len(posts), np.float32))),
        labels.count + len(posts),
    )


class Nearness:
    """How near labels are to some posts: a row for each asked post, not a number without vector."""

    def __init__(self, sums: Sequence[tuple[Floats, Floats]], labels: int, asked: int) -> None:
        """`sums`: of `with_posts`, by each model."""
        self._models = [_Centred(each, posts, labels, asked) for each, posts in sums]
        self.of_labels = _average([each.nearness for each in self._models])

    @property
    def nearest(self) -> list[int]:
        """The places of the labels whose names are worth a comparison."""
        places = np.argsort(-self.of_labels, axis=1)[:, :_NAMES]
        found: list[int] = np.unique(places).tolist()
        return found

    def add_names(self, places: Sequence[int], names: Sequence[Floats]) -> None:
        """`names`: the vectors of the names of these labels, by each model."""
        cosines = zip(self._models, names, strict=True)
        self.of_labels[:, places] += NAME * _average([one.cosines(each) for one, each in cosines])


class _Centred:
    """The asked posts, and how near labels are to them, by one model."""

    def __init__(self, sums: Floats, posts: Floats, labels: int, asked: int) -> None:
        others, is_known = _units(sums[labels:]), posts[labels:] != 0
        self._middle = others[asked:][is_known[asked:]].mean(axis=0)
        self._asked = _units(others[:asked] - self._middle)
        self._asked[~is_known[:asked]] = np.nan
        counts = np.maximum(posts[:labels], 1)
        of_labels = sums[:labels] - posts[:labels, None] * self._middle
        # The average squared distance of the posts of each label from the middle.
        distances = 1 + self._middle @ self._middle - 2 * (sums[:labels] @ self._middle) / counts
        squares = np.einsum("ij,ij->i", of_labels, of_labels) / np.maximum(distances, 1e-6)
        expected = _expected(squares, counts)
        expected[posts[:labels] == 0] = 1
        self.nearness: Floats = NEAR * (self._asked @ _units(of_labels).T) - EXPECTED * expected

    def cosines(self, names: Floats) -> Floats:
        found: Floats = self._asked @ _units(names - self._middle).T
        return found


def _expected(squares: Floats, counts: Floats) -> Floats:
    """The cosine of a post of a label with the sum of so many others; `squares`: of its length."""
    # How alike two posts of the label are on average.
    alike = (squares / counts - 1 + _DOUBT * _ALIKE) / (counts - 1 + _DOUBT)
    found: Floats = alike * np.sqrt(counts / np.maximum(1 + (counts - 1) * alike, _SHORTEST))
    return found


def _units(rows: Floats) -> Floats:
    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return found


def _average(by_model: Sequence[Floats]) -> Floats:
    together, *second = by_model
    for each in second:
        # A post that waits for the second model counts by the first.
        together = np.where(np.isnan(each), together, (together + each) / 2)
    return together
