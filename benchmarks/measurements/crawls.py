"""Measures pages at a random depth of larger and larger accounts, and the memory after a crawl."""

import random
import statistics
from collections.abc import Iterator
from typing import Final

from rich.progress import track

from benchmarks import bars, growing_library, servers
from benchmarks.figures import Row, Times, bar_row
from benchmarks.library import Library
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.measurements.growth import growing_row
from benchmarks.options import Options
from benchmarks.servers import Server
from bowerbird.storage.sqlite.database import FILE_NAME

_PAGE: Final = "/v1/bookmarks?limit=100&is_unread_only=false&hide_archived=false"
_PAGES: Final = 400
# Much less than the file of the largest library.
_MAPPED_MB: Final = 256


def measure(options: Options) -> Iterator[Row]:
    ours = growing_library.prepare(options.scale)
    size = f"{options.scale.growing[-1]:,} posts"
    with servers.bowerbird(ours.folder, options.log, answer_cache_mb=0) as server:
        pages = [_crawl(server, key) for key in ours.keys]
        work = f"memory after a crawl of {size}, default settings"
        resident, mapped = server.resident_mb(), server.mapped_mb(FILE_NAME)
        yield Row(work, f"{resident:,.0f} MB", detail=f"{mapped:,.0f} MB of it mapped file")
        server.wait_until_idle()
        yield _at_random_depth(server, ours, pages)
    settings = {"answer_cache_mb": 0, "sqlite_mapped_mb": _MAPPED_MB}
    with servers.bowerbird(ours.folder, options.log, **settings) as server:
        _crawl(server, ours.keys[-1])
        mapped, resident = server.mapped_mb(FILE_NAME), server.resident_mb()
    detail = f"{mapped:,.0f} MB of {_MAPPED_MB} MB, {resident:,.0f} MB in all; {size}"
    yield bar_row(bars.CRAWL_MEMORY, [mapped / _MAPPED_MB], detail=detail)


def _crawl(server: Server, key: str) -> list[str]:
    """Pages through a list to its end; returns the paths of all pages."""
    paths: list[str] = []
    path: str | None = _PAGE
    with Client(server.port) as client:
        while path:
            paths.append(path)
            cursor = client.get_ok(path, key).json["meta"]["next_cursor"]
            path = f"{_PAGE}&cursor={cursor}" if cursor else None
    return paths


def _at_random_depth(server: Server, ours: Library, pages: list[list[str]]) -> Row:
    rng = random.Random("random depth")
    times = [Times() for _ in ours.keys]
    with Client(server.port) as client:
        for _ in track(range(_PAGES), description="Reading at a random depth"):
            for key, paths, of_account in zip(ours.keys, pages, times, strict=True):
                load.add_request(of_account, server, client, rng.choice(paths[:-1]), key)
    costs = [statistics.median(one.cpu_seconds) * 1000 for one in times]
    clock = ", ".join(f"{one.percentile(50):.2f}" for one in times)
    detail = f"median of {_PAGES} pages of each, in turns; p50 {clock} ms by the clock"
    return growing_row("list of 100 at a random depth", costs, None, detail)
