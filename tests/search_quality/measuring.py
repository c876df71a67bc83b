"""Runs the labelled queries by words, by meaning and by both, and says what was found."""

import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tests.search_quality.collection import BY_MEANING, AbsentQuery, LabelledLibrary, Query

FIRST: Final = 10
SEARCHES: Final[Mapping[str, tuple[str, ...]]] = {
    "words": ("q",),
    "meaning": ("vector_search_term",),
    "both": ("q", "vector_search_term"),
}


class Answer(NamedTuple):
    """The ids of the first posts, and the number of all matches."""

    post_ids: Sequence[str]
    total: int
    # Whether no post has every word.
    is_relaxed: bool = False
    # Otherwise the answer says that nothing matches closely.
    is_close: bool = True


Search = Callable[[dict[str, str]], Awaitable[Answer]]
"""Takes the parameters of the list endpoint, and returns at least the first ten posts."""


class Result(NamedTuple):
    query: Query
    # The keys of the first ten posts, by search; without the searches that were not run.
    found: Mapping[str, Sequence[str]]
    # Of the first ten by words, those that have every word.
    exact: frozenset[str]

    def is_hit(self, search: str) -> bool:
        """Whether every relevant post is among the first ten."""
        return self.query.relevant <= set(self.found[search])

    def ndcg(self, search: str) -> float:
        """nDCG@10: 1 when all relevant posts come first."""
        relevant = self.query.relevant
        gains = [
            1 / math.log2(rank + 2)
            for rank, key in enumerate(self.found[search])
            if key in relevant
        ]
        return sum(gains) / sum(1 / math.log2(rank + 2) for rank in range(len(relevant)))


class AbsentResult(NamedTuple):
    query: AbsentQuery
    # The share of the library that matched, by search. Nothing if the answer says that it is far.
    matched: Mapping[str, float]


class Measured(NamedTuple):
    results: tuple[Result, ...]
    absent: tuple[AbsentResult, ...]

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(result.query.kind for result in self.results))

    def of(self, *kinds: str) -> list[Result]:
        return [result for result in self.results if result.query.kind in kinds]

    def absent_of(self, kind: str) -> list[AbsentResult]:
        return [result for result in self.absent if result.query.kind == kind]


def searches_of(kind: str) -> tuple[str, str]:
    """The searches that must answer this kind of query."""
    return ("meaning" if kind in BY_MEANING else "words"), "both"


def share(results: Collection[Result], search: str) -> float:
    return mean(result.is_hit(search) for result in results)


def ndcg(results: Collection[Result], search: str) -> float:
    return mean(result.ndcg(search) for result in results)


def mean(values: Iterable[float]) -> float:
    counted = list(values)
    return sum(counted) / len(counted)


async def measure(
    library: LabelledLibrary, search: Search, *, is_complete: bool = True
) -> Measured:
    """`is_complete`: runs every search for every query, also those that need not answer it."""
    keys = library.keys
    results = []
    for query in library.queries:
        names = tuple(SEARCHES) if is_complete else searches_of(query.kind)
        answers = await _answers(query.text, search, names)
        first = {
            name: [keys[post_id] for post_id in answer.post_ids[:FIRST]]
            for name, answer in answers.items()
        }
        is_exact = "words" in answers and not answers["words"].is_relaxed
        results.append(Result(query, first, frozenset(first["words"] if is_exact else ())))
    absent = []
    for absent_query in library.absent:
        answers = await _answers(absent_query.text, search, tuple(SEARCHES))
        matched = {
            name: answer.total / len(keys) * answer.is_close for name, answer in answers.items()
        }
        absent.append(AbsentResult(absent_query, matched))
    return Measured(tuple(results), tuple(absent))


async def _answers(text: str, search: Search, names: Sequence[str]) -> dict[str, Answer]:
    return {
        name: await search({**dict.fromkeys(SEARCHES[name], text), "sort_by": "relevance"})
        for name in names
    }
