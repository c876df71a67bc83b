"""Measures whether a request costs more in a larger account: CPU ms with 10,000 to 1,000,000 posts.

The accounts share one library, in a temporary folder that is deleted afterwards. Each figure is
the CPU time of the server per request, with the cache off. The first request of each kind counts
the total, which the service remembers until the library changes; it is not part of the figure.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from rich.progress import track

from benchmarks import posts, servers
from benchmarks.client import Client
from benchmarks.figures import Row
from benchmarks.library import new_account
from benchmarks.options import Options
from benchmarks.servers import Server
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database

_SIZES: Final = (10_000, 100_000, 1_000_000)
_SMALL_SIZES: Final = (2_000, 20_000)
_BATCH: Final = 2_000
# The kernel counts CPU time in steps of 10 ms.
_REQUESTS: Final = 20
_ROUNDS: Final = 3
_ORDERS: Final = ("imported_at", "title", "author", "favorite_count", "quote_count")


class _Shape(NamedTuple):
    work: str
    query: str
    target_ms: float | None


def measure(options: Options) -> Iterator[Row]:
    sizes = _SMALL_SIZES if options.scale.name == "small" else _SIZES
    with tempfile.TemporaryDirectory(dir=options.work_folder) as name:
        folder = Path(name)
        keys = asyncio.run(_fill(folder, sizes))
        settings: dict[str, str | int] = {"answer_cache_mb": 0, "tool_preload": "off"}
        with (
            servers.bowerbird(folder, options.log, **settings) as server,
            Client(server.port) as client,
        ):
            yield from _rows(server, client, keys)


def _rows(server: Server, client: Client, keys: list[str]) -> Iterator[Row]:
    for shape in track(_shapes(), description="Asking accounts of each size"):
        yield _row(shape, [_cpu_ms(server, client, key, shape.query) for key in keys])
    yield Row("memory after these requests", f"{server.resident_mb():,.0f} MB")


def _shapes() -> list[_Shape]:
    author, label = posts.frequent_author(), posts.first_label()
    return [
        _Shape("list", "", None),
        *(_Shape(f"sort_by={order}", f"sort_by={order}", 5) for order in _ORDERS),
        _Shape("author", f"author={quote(author)}", 5),
        _Shape("tag", f"tag={quote(label)}", 5),
        _Shape("media_type of few posts", "media_type=gif", 5),
        _Shape("media_type of no post", "media_type=poll", 5),
        _Shape("common word", "q=thea", None),
        _Shape("common word with a label", f"q=thea&tag={quote(label)}", 30),
        _Shape("common prefix", "q=the*", 30),
    ]


def _row(shape: _Shape, costs: list[float]) -> Row:
    target = shape.target_ms
    return Row(
        work=f"{shape.work}, larger and larger account",
        measured=" → ".join(f"{cost:.1f}" for cost in costs) + " ms of CPU",
        target="" if target is None else f"< {target:g} ms in the largest",
        is_met=None if target is None else costs[-1] < target,
        detail=f"lowest of {_ROUNDS} rounds of {_REQUESTS} requests, total already counted",
    )


def _cpu_ms(server: Server, client: Client, key: str, query: str) -> float:
    path = f"/v1/bookmarks?limit=100&{query}"
    client.get_ok(path, key)
    costs = []
    for _ in range(_ROUNDS):
        before = server.cpu_seconds()
        for _ in range(_REQUESTS):
            client.get_ok(path, key)
        costs.append((server.cpu_seconds() - before) / _REQUESTS * 1000)
    # The lowest: jobs of the new library run in the same process.
    return min(costs)


async def _fill(folder: Path, sizes: tuple[int, ...]) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    try:
        with ProcessPoolExecutor(1) as pool:
            return [await _fill_account(database, pool, *each) for each in enumerate(sizes)]
    finally:
        await database.close()


async def _fill_account(
    database: Database, pool: ProcessPoolExecutor, number: int, size: int
) -> str:
    account, key = await new_account(database, number)
    upsert = Upsert(database, system_clock)
    waiting = pool.submit(posts.batch, number, 0, _BATCH)
    for first in track(range(0, size, _BATCH), description=f"Filling an account ({size:,} posts)"):
        batch = waiting.result()
        # Generated while this batch is stored.
        waiting = pool.submit(posts.batch, number, first + _BATCH, _BATCH)
        await upsert.take(account, [read(post).incoming for post in batch])
    return key
