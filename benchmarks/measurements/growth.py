"""Measures whether a request costs more in a larger account: CPU ms with 10,000 and 100,000 posts.

The accounts share one library. Each figure is the CPU time of the server per request. The first
request is computed; when it is repeated, the answer cache has it. A bar is about the largest
account.
"""

import statistics
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

from rich.progress import track

from benchmarks import bars, growing_library, posts, servers
from benchmarks.bars import Bar
from benchmarks.figures import Row, Times
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.options import Options
from benchmarks.servers import Server
from benchmarks.vocabulary import FUNCTION_WORDS
from bowerbird.model.posts.filters import RELEVANCE, SORT_FIELDS
from bowerbird.requests.filters import DATES

_REQUESTS: Final = 20
_ROUNDS: Final = 3
# A slow kind of request is measured less often.
_ROUND_S: Final = 0.5
_COMMON_WORDS: Final = "common word"


class _Shape(NamedTuple):
    """A kind of request. Each query is asked once, and the first of them again and again."""

    work: str
    queries: Sequence[str]


class _Costs(NamedTuple):
    """In ms of CPU."""

    first: float
    again: float


def measure(options: Options) -> Iterator[Row]:
    ours = growing_library.prepare(options.scale)
    with (
        servers.bowerbird(ours.folder, options.log, tool_preload="off") as server,
        Client(server.port) as client,
    ):
        server.wait_until_idle()
        for shape in track(_shapes(), description="Asking accounts of each size"):
            costs = [_costs(server, client, key, shape.queries) for key in ours.keys]
            yield from _rows(shape, costs)
        yield Row("memory after these requests", f"{server.resident_mb():,.0f} MB")


def _shapes() -> list[_Shape]:
    author, label = quote(posts.frequent_author()), quote(posts.first_label())
    words = [f"q={word}" for word in FUNCTION_WORDS]
    with_label = [f"{word}&tag={label}" for word in words]
    prefixes = [f"q={word[:3]}*" for word in FUNCTION_WORDS]
    return [
        _Shape("list", [""]),
        *(_Shape(f"sort_by={field}", [f"sort_by={field}"]) for field in SORT_FIELDS),
        *(_Shape(f"{name} a middle date", [f"{name}=2021-01-01"]) for name in DATES),
        _Shape("author", [f"author={author}"]),
        _Shape("tag", [f"tag={label}"]),
        _Shape("media_type of few posts", ["media_type=gif"]),
        _Shape("media_type of many posts", ["media_type=image"]),
        _Shape("media_type of no post", ["media_type=poll"]),
        _Shape(_COMMON_WORDS, words),
        _Shape(f"{_COMMON_WORDS} by relevance", [f"{word}&sort_by={RELEVANCE}" for word in words]),
        _Shape(f"{_COMMON_WORDS} with a label", with_label),
        _Shape(f"{_COMMON_WORDS}, as a prefix", prefixes),
    ]


def _rows(shape: _Shape, costs: Sequence[_Costs]) -> Iterator[Row]:
    first, again = [cost.first for cost in costs], [cost.again for cost in costs]
    # The measurement of searches has the bars of words.
    bar = None if shape.work.startswith(_COMMON_WORDS) else bars.FIRST_PAGE
    detail = f"median of {len(shape.queries)}, each asked for the first time"
    yield growing_row(f"{shape.work}, first", first, bar, detail)
    detail = f"lowest of {_ROUNDS} rounds of up to {_REQUESTS} requests, from the answer cache"
    yield growing_row(shape.work, again, bars.REPEATED_PAGE, detail)


def growing_row(work: str, costs: Sequence[float], bar: Bar | None, detail: str) -> Row:
    """The costs in ms of CPU, the smallest account first."""
    return Row(
        work=f"{work}, larger and larger account",
        measured=f"{arrows(costs)} of CPU",
        target=f"{bar.target} in the largest" if bar else "",
        is_met=bar.is_met(costs[-1]) if bar else None,
        detail=detail,
        bar=bar.name if bar else "",
        source=bar.source if bar else "",
    )


def arrows(costs: Sequence[float]) -> str:
    return " → ".join(f"{cost:.2f}" if cost < 10 else f"{cost:.0f}" for cost in costs) + " ms"


def _costs(server: Server, client: Client, key: str, queries: Sequence[str]) -> _Costs:
    paths = [f"/v1/bookmarks?limit=100&{query}" for query in queries]
    first = Times()
    for path in paths:
        load.add_request(first, server, client, path, key)
    costs = []
    for _ in range(_ROUNDS):
        again = Times()
        while len(again.seconds) < _REQUESTS and sum(again.seconds) < _ROUND_S:
            load.add_request(again, server, client, paths[0], key)
        costs.append(statistics.fmean(again.cpu_seconds) * 1000)
    # The lowest: jobs of the library run in the same process.
    return _Costs(statistics.median(first.cpu_seconds) * 1000, min(costs))
