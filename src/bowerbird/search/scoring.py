"""The score of a post: how near it is in meaning, and how much of the query's words it has.

    score    = cosine + WORD_WEIGHT * (1 - TOLD_BY_BM25 * length) * beyond ** 2
               + FINE_WEIGHT * length * bm25 / highest bm25
               + LIKENESS_WEIGHT * length * known * likeness
    beyond   = (coverage - CHANCE) / (1 - CHANCE), at least 0
    coverage = sum(idf * weight of the best form that the post has) / sum(idf)
    length   = ((words of the query that the library has - 1) / (LONG_QUERY - 1)) ** 2,
               from SHORTEST to 1
    likeness = how near it is to the first two posts of the list without likeness, less how near
               it is to the middle of the best (`candidates.best_of`), from 0 for the lowest;
               by the words of the posts, if there is no search by meaning
    known    = 1; without a search by meaning (coverage of the first post / MOST_WORDS) ** 2, up to
               1, because a first post with few of the words is often about something else

The square rewards posts with nearly all of the words. Some of the words of a long query tell much,
some of two or three words are chance. Without a search by meaning, the cosine is left
out. If no model knows the script of the query, the cosine and the likeness count less
(`candidates.NOT_UNDERSTOOD`). A word of a long query tells more in bm25 if the first posts of a
list without this have it more often than others (`WordScores.emphasis`). Reasons and
measurements: docs/adr/0038.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bowerbird.search.meaning.arrays import Floats, Integers, NDArray, Numbers, np, union

# With it, a post with every word stays above posts that are only near in meaning.
WORD_WEIGHT: Final = 0.7
# A question shares so many of its words with posts that do not answer it.
CHANCE: Final = 0.35
FINE_WEIGHT: Final = 0.35
# Of the weight of the coverage, if a query is long.
TOLD_BY_BM25: Final = 0.85
LONG_QUERY: Final = 6
LIKENESS_WEIGHT: Final = 0.6
# How much more a word tells if the first posts have it `_OFTEN` times. Beside likeness: half.
_EMPHASIS: Final = 1.0
_EMPHASIS_BESIDE_LIKENESS: Final = 0.5
# With fewer words, the first posts have them by chance too often.
_LEAST_TO_FOLLOW: Final = 4
# Of one word: only the order of posts that have it.
SHORTEST: Final = 0.05
# More often counts as often: a text that repeats one word does not win.
_OFTEN: Final = 5
# The usual constants of bm25. A post whose words are not counted has the average length.
_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.75
# How often posts have a word matters little if many have it.
_COUNTED_POSTS: Final = 10_000
# Words have up to 24 other forms, and each takes time in each post.
_COUNTED_TOKENS: Final = 32
# A post has most of the words with this share of their idf. Words that no post has count too, so
# one known word in a line of nonsense is not enough.
MOST_WORDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way in which posts have a word. `token` is None if its occurrences are not counted."""

    weight: float
    holders: Integers
    token: str | None = None


@dataclass(frozen=True, slots=True)
class HeldWord:
    """A word of a query that some posts of the library have."""

    idf: float
    spellings: tuple[Spelling, ...]

    @property
    def posts(self) -> int:
        return sum(len(spelling.holders) for spelling in self.spellings)


def are_apart(words: Sequence[HeldWord]) -> bool:
    """Whether no post has all of them. False if there are none."""
    if not words:
        return False
    rarest, *others = sorted(words, key=lambda word: word.posts)
    common = union([spelling.holders for spelling in rarest.spellings])
    for word in others:
        has = [Numbers(spelling.holders).contains(common) for spelling in word.spellings]
        common = common[np.logical_or.reduce(has)]
    return not len(common)


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of `tokens` in some posts: one row per post."""

    tokens: Sequence[str]
    numbers: Integers
    counts: "NDArray[np.uint8]"
    lengths: Integers


def latest(numbers: Integers, most: int) -> Integers:
    """The highest numbers, in any order: those of the posts that were imported last."""
    if len(numbers) <= most:
        return numbers
    return np.partition(numbers, len(numbers) - most)[len(numbers) - most :]


def idf(posts: int, total: int) -> float:
    """How much a word tells: the fewer posts have it, the more."""
    return float(np.log1p((max(total - posts, 0) + 0.5) / (posts + 0.5)))


def word_columns(posts: Sequence[Sequence[str]]) -> Floats:
    """The words of each post as a column of length 1; zeros without words.

    Words that fewer of these posts have tell more.
    """
    every = [word for words in posts for word in words]
    places = {word: place for place, word in enumerate(dict.fromkeys(every))}
    owners = np.repeat(np.arange(len(posts)), [len(words) for words in posts])
    cells = owners * len(places) + np.fromiter(map(places.__getitem__, every), np.int64, len(every))
    counts = np.bincount(cells, minlength=len(posts) * len(places))
    often = np.minimum(counts, _OFTEN).astype(np.float32).reshape(len(posts), -1)
    holders = np.count_nonzero(often, axis=0)
    often *= np.log1p((len(posts) - holders + 0.5) / (holders + 0.5)) / (often + _SATURATION)
    often /= np.maximum(np.linalg.norm(often, axis=1, keepdims=True), np.float32(1e-12))
    return often.T


class WordScores:
    """Scores posts by the words of one query."""

    def __init__(self, words: Sequence[HeldWord], unknown: int, unknown_idf: float) -> None:
        """`unknown` is the number of words that no post has, and `unknown_idf` the idf of one."""
        self.words = words
        self._all_idf = (sum(word.idf for word in words) + unknown * unknown_idf) or 1.0
        self._idf = np.array([word.idf for word in words], np.float32)

    @property
    def tokens(self) -> list[str]:
        """The tokens whose occurrences are worth counting: the best forms of rare words."""
        found: list[Spelling] = []
        posts = 0
        for word in sorted(self.words, key=lambda word: word.posts):
            posts += word.posts
            if found and posts > _COUNTED_POSTS:
                break
            found += word.spellings
        found.sort(key=lambda spelling: (-spelling.weight, len(spelling.holders)))
        tokens = dict.fromkeys(s.token for s in found if s.token is not None)
        return list(tokens)[:_COUNTED_TOKENS]

    def candidates(self, allowed: Numbers, most: int) -> Integers:
        """Posts with the rarest words; of the last word that fits, only the posts imported last."""
        chosen = np.zeros(0, np.int64)
        for word in sorted(self.words, key=lambda word: word.posts):
            found = union([spelling.holders for spelling in word.spellings])
            of_word = found[allowed.contains(found) & ~Numbers(chosen).contains(found)]
            chosen = np.concatenate((chosen, latest(of_word, most - len(chosen))))
            if len(chosen) >= most:
                break
        return chosen

    def held(self, numbers: Integers) -> Floats:
        """The weight of the best form that each post has of each word: one row per word."""
        held = np.zeros((len(self.words), len(numbers)), np.float32)
        for row, word in zip(held, self.words, strict=True):
            for spelling in word.spellings:
                has = Numbers(spelling.holders).contains(numbers)
                np.maximum(row, has * np.float32(spelling.weight), out=row)
        return held

    def coverage(self, held: Floats) -> Floats:
        """How much of all words of the query, by idf."""
        coverage: Floats = self._idf @ held / np.float32(self._all_idf)
        return coverage

    def score(self, coverage: Floats, bm25: Floats) -> Floats:
        """The part of the score that words have, without the similarity."""
        length = max(self._length, SHORTEST)
        beyond = np.maximum(coverage - np.float32(CHANCE), 0) / np.float32(1 - CHANCE)
        highest = max(float(bm25.max(initial=0)), 1e-9)
        weight = WORD_WEIGHT * (1 - TOLD_BY_BM25 * length)
        scores: Floats = weight * beyond**2 + FINE_WEIGHT * length * bm25 / highest
        return scores

    @property
    def _length(self) -> float:
        length: float = min((len(self.words) - 1) / (LONG_QUERY - 1), 1) ** 2
        return length

    def likeness_weight(self, coverage: float = MOST_WORDS) -> float:
        """What the likeness to the first posts counts: nothing if the query is short.

        `coverage`: of the first post, if only words tell that it answers the query.
        """
        return LIKENESS_WEIGHT * self.followed * min(coverage / MOST_WORDS, 1) ** 2

    @property
    def followed(self) -> float:
        """How much the first posts say about the others."""
        return self._length if len(self.words) >= _LEAST_TO_FOLLOW else 0.0

    def emphasis(self, often: Floats, shares: Floats, *, is_by_words: bool) -> Floats:
        """How much each word tells if some posts, by their shares, have it more often than all."""
        more = np.maximum(often @ shares - often.mean(axis=1), 0) / np.float32(_OFTEN)
        weight = _EMPHASIS if is_by_words else _EMPHASIS_BESIDE_LIKENESS
        emphasis: Floats = 1 + np.float32(weight * self.followed) * more
        return emphasis

    def occurrences(
        self, held: Floats, numbers: Integers, counted: Counted
    ) -> tuple[Floats, Floats]:
        """How often each post has each word, and how long it is. Uncounted forms occur once."""
        rows = np.searchsorted(numbers, counted.numbers)
        lengths = np.ones(len(numbers), np.float32)
        lengths[rows] = counted.lengths / max(float(counted.lengths.sum()), 1) * len(rows)
        columns = {token: column for column, token in enumerate(counted.tokens)}
        often = held.copy()
        for row, word in zip(often, self.words, strict=True):
            for spelling in word.spellings:
                if spelling.token in columns:
                    counts = counted.counts[:, columns[spelling.token]] * spelling.weight
                    row[rows] = np.maximum(row[rows], counts)
        return np.minimum(often, np.float32(_OFTEN)), lengths

    def bm25(self, often: Floats, lengths: Floats, emphasis: Floats | None = None) -> Floats:
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths)
        told = self._idf if emphasis is None else self._idf * emphasis
        bm25: Floats = told @ (often / (often + norm)).astype(np.float32) * (_SATURATION + 1)
        return bm25
