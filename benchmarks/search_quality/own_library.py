"""The quality of search on our own labelled library: a table per kind of query, and every miss."""

from collections.abc import Iterator
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.search_quality import searchable_library
from tests.search_quality import collection, measuring
from tests.search_quality.collection import BY_MEANING
from tests.search_quality.measuring import FIRST, SEARCHES, Answer, Measured, Result

_LEAST_SHARE: Final = 0.9
_TOLERANCE: Final = 0.01
_MOST_MATCHED: Final = 0.02
_ABSENT: Final = ("absent topic", "nonsense")


async def measure() -> bool:
    """Prints the figures; returns whether they meet all targets."""
    labelled = collection.read()
    posts = [msgspec.json.encode(post) for post in labelled.posts.values()]
    async with searchable_library.filled(posts) as library:

        async def search(terms: dict[str, str]) -> Answer:
            return Answer(*await library.search(terms, FIRST))

        measured = await measuring.measure(labelled, search)
    console = Console()
    console.print(_misses(measured), _kinds(measured), _absent(measured))
    console.print(
        f"{len(labelled.posts)} posts, {len(labelled.queries)} queries in "
        f"{len({query.language for query in labelled.queries})} languages, "
        f"{len(labelled.absent)} queries about nothing in the library"
    )
    return _is_met(measured)


def _kinds(measured: Measured) -> Table:
    table = Table("Kind", "Queries", *(f"First ten, {name}" for name in SEARCHES), "nDCG@10, both")
    groups = [*((kind, measured.of(kind)) for kind in measured.kinds), ("all", measured.results)]
    for kind, results in groups:
        required = measuring.searches_of(kind) if kind in measured.kinds else ()
        cells = [
            _cell(measuring.share(results, name), is_required=name in required) for name in SEARCHES
        ]
        table.add_row(kind, str(len(results)), *cells, f"{measuring.ndcg(results, 'both'):.3f}")
    for name in SEARCHES:
        table.add_row(
            f"nDCG@10, {name}", "", *_ndcgs(measured, name), style="dim" if name != "both" else ""
        )
    return table


def _ndcgs(measured: Measured, name: str) -> Iterator[str]:
    """Of queries by words, of queries by meaning, and of all."""
    for wants_meaning in (False, True):
        kinds = [kind for kind in measured.kinds if (kind in BY_MEANING) is wants_meaning]
        group = "meaning" if wants_meaning else "words"
        yield f"{group} {measuring.ndcg(measured.of(*kinds), name):.3f}"
    yield f"all {measuring.ndcg(measured.results, name):.3f}"


def _cell(share: float, *, is_required: bool) -> str:
    text = f"{share:.1%}"
    if not is_required:
        return f"[dim]{text}[/dim]"
    return text if share >= _LEAST_SHARE else f"[bold red]{text} MISSED[/bold red]"


def _misses(measured: Measured) -> Table:
    table = Table("Kind", "Language", "Query", "Missed by", "Not in the first ten", "Instead")
    for result in measured.results:
        required = measuring.searches_of(result.query.kind)
        missed = [name for name in required if not result.is_hit(name)]
        if missed:
            table.add_row(*_miss(result, missed))
    return table


def _miss(result: Result, missed: list[str]) -> tuple[str, ...]:
    query, found = result.query, result.found[missed[-1]]
    lost = ", ".join(sorted(query.relevant - set(found)))
    instead = ", ".join(found[:2]) or "nothing"
    return query.kind, query.language, query.text, ", ".join(missed), lost, instead


def _absent(measured: Measured) -> Table:
    table = Table("Share of the library that matches", "Queries", *SEARCHES, "Worst, meaning")
    for kind in _ABSENT:
        results = measured.absent_of(kind)
        shares = [measuring.mean(one.matched[name] for one in results) for name in SEARCHES]
        worst = max(results, key=lambda one: one.matched["meaning"])
        table.add_row(
            kind,
            str(len(results)),
            *(f"{share:.2%}" for share in shares),
            f"{worst.query.text} {worst.matched['meaning']:.1%}",
        )
    return table


def _is_met(measured: Measured) -> bool:
    quality = {name: measuring.ndcg(measured.results, name) for name in SEARCHES}
    return (
        all(
            measuring.share(measured.of(kind), name) >= _LEAST_SHARE
            for kind in measured.kinds
            for name in measuring.searches_of(kind)
        )
        and quality["both"] >= max(quality.values()) - _TOLERANCE
        and all(
            measuring.mean(one.matched[name] for one in measured.absent_of(kind)) < _MOST_MATCHED
            for kind in _ABSENT
            for name in ("meaning", "both")
        )
    )
