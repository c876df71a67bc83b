"""Which labels fit a post: those whose posts are like it in meaning, and those of its author's.

    meaning = t / (t + CLEAR),  t = nearness * posts / (posts + FEW)
    author  = posts with the label / (labelled posts of the author + AUTHOR_DOUBT)

A label stands for the sum of its posts. Nearness is the cosine of a post with it, in standard
deviations above the median of a sample without this label: so a broad label does not fit
everything, and no model's scale matters. Of two models, the average cosine counts. The added
constants keep few posts from deciding alone. benchmarks/notes/0063-suggested-labels.md has figures.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, np, parse_numbers
from bowerbird.search.meaning.vectors import Groups

CLEAR: Final = 2.33
FEW: Final = 3.0
AUTHOR_DOUBT: Final = 3.0
# Of each label, the newest posts stand for it: more cost time and change little.
NEWEST: Final = 30
# Less adds next to nothing to what the author's posts tell.
_LEAST: Final = CLEAR / 3
# One post of an author may have its label by chance.
_FEWEST_OF_AUTHOR: Final = 2
# A standard deviation, in median absolute deviations of a normal distribution.
_DEVIATION: Final = 1.4826

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

    def by_meaning(self, fits: Floats) -> Votes:
        """`fits`: of each label, for one post."""
        places = np.flatnonzero(fits > _LEAST).tolist()
        return {
            self.known[place]: (score / (score + CLEAR), self.counts[place])
            for place, score in zip(places, fits[places].tolist(), strict=True)
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


def fits(
    sums: Sequence[tuple[Floats, Floats]], labels: Groups, asked: int, sample: Integers
) -> Floats:
    """How well each label fits each asked post. `sums`: of `with_posts`, by each model.

    Not a number for a post without a vector.
    """
    together, *second = (_cosines(each, totals, labels.count, asked) for each, totals in sums)
    for cosines in second:
        # A post that waits for the second model has the cosine of the first.
        together = np.where(np.isnan(cosines), together, (together + cosines) / 2)
    others = together[asked:]
    places = np.minimum(np.searchsorted(sample, labels.numbers), len(sample) - 1)
    is_sampled = sample[places] == labels.numbers
    others[places[is_sampled], labels.of[is_sampled]] = np.nan
    median = _medians(others)
    deviation = _medians(np.abs(others - median)) * np.float32(_DEVIATION)
    posts = np.maximum(sums[0][1][: labels.count], 0)
    scores: Floats = (together[:asked] - median) / np.maximum(deviation, np.float32(1e-6))
    scores *= posts / (posts + np.float32(FEW))
    return scores


def _medians(columns: Floats) -> Floats:
    """Of each column, without what is not a number: numpy's own takes ten times as long."""
    last = np.sort(columns.T, axis=1)
    middles = np.count_nonzero(~np.isnan(last), axis=1) // 2
    found: Floats = last[np.arange(len(last)), middles]
    return found


def _cosines(sums: Floats, totals: Floats, labels: int, asked: int) -> Floats:
    """Of the asked posts and the sample, as rows, with each label, from the sample's middle."""
    units = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-12))
    is_known = totals != 0
    sample = np.flatnonzero(is_known[labels + asked :]) + labels + asked
    middle = units[sample].mean(axis=0)
    units[:labels] = sums[:labels] - totals[:labels, None] * middle
    units[labels:] -= middle
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), np.float32(1e-12))
    units[labels:][~is_known[labels:]] = np.nan
    units[:labels][~is_known[:labels]] = 0
    found: Floats = units[labels:] @ units[:labels].T
    return found
