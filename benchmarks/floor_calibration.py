"""The similarities from which the floor of a model is chosen, measured on our own library.

The floor must keep at least 98 % of the relevant pairs, and queries about absent topics must match
less than 2 % of the library.
"""

import asyncio
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import searchable_library
from bowerbird.library.vectors.embedding_text import embedding_text
from bowerbird.search.embedding import Embedder
from bowerbird.sources.own_json import read
from tests.search_quality import collection
from tests.search_quality.collection import BY_MEANING, LabelledLibrary
from tests.support import make

_PERCENTILES: Final = (0, 1, 2, 5, 10, 50)
_THRESHOLDS: Final = tuple(round(0.15 + 0.025 * step, 3) for step in range(11))


async def print_figures() -> None:
    labelled = collection.read()
    models = searchable_library.local_models()
    try:
        if models.current is not None:
            await _print(models.current, labelled)
    finally:
        await models.close()


async def _print(model: Embedder, labelled: LabelledLibrary) -> None:
    texts = [
        embedding_text(read(make.raw(post)).incoming.record) for post in labelled.posts.values()
    ]
    posts = await model.embed_posts(texts)
    similarity: dict[str, dict[str, float]] = {}
    queries = [query.text for query in labelled.queries]
    for text in [*queries, *(query.text for query in labelled.absent)]:
        vector = await model.embed_query(text)
        scores = [float((rows @ vector).max()) for rows in posts]
        similarity[text] = dict(zip(labelled.posts, scores, strict=True))
    console = Console()
    console.print(f"Model {model.name}, {len(posts)} posts")
    console.print(_pairs(labelled, similarity), _absent(labelled, similarity))


def _pairs(labelled: LabelledLibrary, similarity: dict[str, dict[str, float]]) -> Table:
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
        cells = (f"{np.percentile(scores, percent):.3f}" for percent in _PERCENTILES)
        table.add_row(kind, str(len(scores)), *cells)
    return table


def _absent(labelled: LabelledLibrary, similarity: dict[str, dict[str, float]]) -> Table:
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
