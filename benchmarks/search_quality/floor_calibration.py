"""The similarities from which the floors are chosen, measured on our own library.

A floor must keep at least 98 % of the relevant posts that are among the first ten, and queries
about absent topics must match less than 2 % of the library. The first model alone is measured on
the posts in English, because only such libraries do without the second.
"""

import asyncio
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.search_quality import searchable_library
from bowerbird.library.vectors.builds import embedding_text
from bowerbird.search.meaning.arrays import JOINED_FLOOR, Nearness, joined
from bowerbird.search.meaning.embedding import Embedder
from bowerbird.search.meaning.models import first_share
from bowerbird.sources.own_json import read
from tests.search_quality import collection
from tests.search_quality.collection import BY_MEANING, LabelledLibrary
from tests.support import make

_PERCENTILES: Final = (0, 1, 2, 5, 10, 50)
_THRESHOLDS: Final = (0.15, 0.17, 0.18, 0.19, 0.2, 0.21, 0.22, 0.23, 0.25, 0.3)
_FIRST: Final = 10
_ENGLISH: Final = "en"

Similarity = dict[str, dict[str, float]]


async def print_figures() -> None:
    labelled = collection.read()
    english = _in_english(labelled)
    models = searchable_library.local_models()
    try:
        first, second = models.current, models.second
        if first is None or second is None:
            raise RuntimeError("A model is not built. Build it with: bowerbird model")
        _print(f"{first.name}, {first.floor}", english, await _similarity(first, english))
        by_first = await _similarity(first, labelled)
        by_second = await _similarity(second, labelled)
        _print(f"{second.name}, {second.floor}", labelled, by_second)
        _print(f"Both models, {JOINED_FLOOR}", labelled, _joined(by_first, by_second))
    finally:
        await models.close()


def _in_english(labelled: LabelledLibrary) -> LabelledLibrary:
    def is_english(key: str) -> bool:
        return key.startswith(_ENGLISH)

    return LabelledLibrary(
        {key: post for key, post in labelled.posts.items() if is_english(key)},
        tuple(
            query
            for query in labelled.queries
            if query.language == _ENGLISH and all(map(is_english, query.relevant))
        ),
        tuple(query for query in labelled.absent if query.language == _ENGLISH),
    )


async def _similarity(model: Embedder, labelled: LabelledLibrary) -> Similarity:
    """The similarity of every query and post."""
    texts = [
        embedding_text(read(make.raw(post)).incoming.record) for post in labelled.posts.values()
    ]
    posts = await model.embed_posts(texts)
    similarity: Similarity = {}
    queries = [query.text for query in labelled.queries]
    for text in [*queries, *(query.text for query in labelled.absent)]:
        vector = await model.embed_query(text)
        scores = [float((rows @ vector).max()) for rows in posts]
        similarity[text] = dict(zip(labelled.posts, scores, strict=True))
    return similarity


def _joined(first: Similarity, second: Similarity) -> Similarity:
    similarity: Similarity = {}
    for text, scores in first.items():
        numbers = np.arange(len(scores))
        both = joined(
            Nearness(numbers, np.array(list(scores.values()), np.float32), 0),
            Nearness(numbers, np.array(list(second[text].values()), np.float32), 0),
            share=first_share(text),
        )
        similarity[text] = dict(zip(scores, both.scores.tolist(), strict=True))
    return similarity


def _print(title: str, labelled: LabelledLibrary, similarity: Similarity) -> None:
    console = Console()
    console.print(f"{title}: {len(labelled.posts)} posts")
    console.print(
        _pairs(labelled, similarity), _kept(labelled, similarity), _absent(labelled, similarity)
    )


def _kept(labelled: LabelledLibrary, similarity: Similarity) -> Table:
    """The share of the relevant posts among the first ten that a floor keeps."""
    table = Table("Kept of the found pairs", "Pairs", *(f"{one:g}" for one in _THRESHOLDS))
    for name, is_chosen in (("all kinds", False), ("by meaning", True)):
        found = np.array(
            [
                similarity[query.text][key]
                for query in labelled.queries
                if not is_chosen or query.kind in BY_MEANING
                for key in query.relevant
                if _is_found(similarity[query.text], key)
            ]
        )
        shares = (f"{(found >= least).mean():.1%}" for least in _THRESHOLDS)
        table.add_row(name, str(len(found)), *shares)
    return table


def _is_found(scores: dict[str, float], key: str) -> bool:
    return sum(score > scores[key] for score in scores.values()) < _FIRST


def _pairs(labelled: LabelledLibrary, similarity: Similarity) -> Table:
    """Pairs of a query and a relevant post."""
    table = Table("Relevant pairs", "Pairs", *(f"{percent} %" for percent in _PERCENTILES))
    groups = [*BY_MEANING, "sentence", "one wrong word"]
    for kind in sorted(groups):
        scores = [
            similarity[query.text][key]
            for query in labelled.queries
            if query.kind == kind
            for key in query.relevant
        ]
        if not scores:
            continue
        cells = (f"{np.percentile(scores, percent):.3f}" for percent in _PERCENTILES)
        table.add_row(kind, str(len(scores)), *cells)
    return table


def _absent(labelled: LabelledLibrary, similarity: Similarity) -> Table:
    """The mean share of the library that is at least this similar to a query."""
    table = Table("Share of the library above", *(f"{one:g}" for one in _THRESHOLDS))
    groups: dict[str, list[list[float]]] = {}
    for query in labelled.absent:
        language = "English" if query.language == "en" else "other languages"
        scores = list(similarity[query.text].values())
        groups.setdefault(f"{query.kind}, {language}", []).append(scores)
    for name, scores_by_query in groups.items():
        scores_of_group = np.array(scores_by_query)
        shares = (f"{(scores_of_group >= least).mean():.2%}" for least in _THRESHOLDS)
        table.add_row(name, *shares)
    return table


if __name__ == "__main__":
    asyncio.run(print_figures())
