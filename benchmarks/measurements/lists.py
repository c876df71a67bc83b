"""Measures lists of 100 with and without the answer cache, against the ceiling and the baseline."""

import random
import sqlite3
import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.progress import track

from benchmarks import bars, library, servers
from benchmarks.figures import Rates, Row, ratio_row
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.loads.load import Request
from benchmarks.options import Options
from benchmarks.scales import Scale
from benchmarks.servers import Server
from benchmarks.yardsticks import baseline_library, constant

PAGE: Final = "/v1/bookmarks?limit=100"
_PREPARED: Final = 4_000
_BASELINE_CURSORS: Final = """
SELECT sort_index, id
  FROM (SELECT sort_index, id, row_number() OVER (ORDER BY sort_index DESC, id DESC) AS position
          FROM bookmark
         WHERE account_id = ? AND is_read = 0 AND is_archived = 0)
 WHERE position % 100 = 0
"""


@dataclass(frozen=True, slots=True)
class Page:
    request: Request
    size: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A server under load, and the figures measured so far."""

    server: Server
    requests: list[Request]
    rates: Rates = field(default_factory=Rates)


def measure(options: Options) -> Iterator[Row]:
    ours, baseline = library.prepare(options.scale), baseline_library.prepare(options.scale)
    settings = {"log_level": options.log_level}
    with ExitStack() as stack:
        start = stack.enter_context
        uncached = start(servers.bowerbird(ours.folder, options.log, answer_cache_mb=0, **settings))
        cached = start(servers.bowerbird(ours.folder, options.log, **settings))
        pages = _pages(uncached.port, ours.keys)
        ceiling_answer = options.work_folder / "ceiling"
        _save_typical(uncached.port, pages, ceiling_answer)
        ceiling = start(servers.module("constant", ceiling_answer, options.log))
        baseline_server = start(servers.module("baseline", baseline.file, options.log))
        deep = _random_requests(pages)
        baseline_requests = _random_requests(_baseline_pages(baseline, options.scale))
        measured = {
            "ceiling": _Candidate(ceiling, deep),
            "warm": _Candidate(cached, [account[0].request for account in pages if account]),
            "deep": _Candidate(uncached, deep),
            "baseline": _Candidate(baseline_server, baseline_requests),
        }
        _fill_cache(measured["warm"])
        _load(measured, options)
        yield from _rows(measured)
        yield Row("memory after the load, cache off", f"{uncached.resident_mb():.0f} MB")


def _rows(measured: dict[str, _Candidate]) -> Iterator[Row]:
    rates = {name: server.rates for name, server in measured.items()}
    yield ratio_row(bars.LIST_WARM, rates["warm"], rates["ceiling"])
    yield ratio_row(bars.LIST_DEEP, rates["deep"], rates["ceiling"])
    yield ratio_row(bars.LIST_BASELINE, rates["deep"], rates["baseline"])


def _load(measured: dict[str, _Candidate], options: Options) -> None:
    """Loads the servers in turn, so that other load on the machine affects all of them."""
    for seed in track(range(options.rounds), description="Loading the servers in turn"):
        for server in measured.values():
            load.add_round(server.rates, server.server, server.requests, options, seed)


def _pages(port: int, keys: list[str]) -> list[list[Page]]:
    """Every full page of every account. Pages through each list to its end."""
    with Client(port) as client:
        tracked = track(keys, description="Paging through every list")
        return [list(_walk(client, key)) for key in tracked]


def _walk(client: Client, key: str) -> Iterator[Page]:
    path = PAGE
    while True:
        answer = client.get_ok(path, key)
        cursor = answer.json["meta"]["next_cursor"]
        if cursor is None:
            return
        yield Page(Request(path, key), len(answer.body))
        path = f"{PAGE}&cursor={cursor}"


def _save_typical(port: int, pages: list[list[Page]], folder: Path) -> None:
    """Saves the page whose size is nearest to the mean size of all pages."""
    every_page = [page for account in pages for page in account]
    mean = statistics.fmean(page.size for page in every_page)
    typical = min(every_page, key=lambda page: abs(page.size - mean))
    with Client(port) as client:
        answer = client.get_ok(*typical.request)
    constant.save(folder, answer.headers, answer.body)


def _baseline_pages(baseline: baseline_library.BaselineLibrary, scale: Scale) -> list[list[Page]]:
    connection = sqlite3.connect(baseline.file)
    pages = []
    for account in range(scale.accounts):
        cursors = connection.execute(_BASELINE_CURSORS, (account,)).fetchall()
        # The last cursor starts a page that may not be full.
        paths = [PAGE, *(f"{PAGE}&cursor={index}_{id}" for index, id in cursors[:-1])]
        pages.append([Page(Request(path, baseline.keys[account]), 0) for path in paths])
    connection.close()
    return pages


def _random_requests(pages: list[list[Page]]) -> list[Request]:
    """Requests for random pages: first a random account, then a random page of it."""
    rng = random.Random("drawn pages")
    accounts = [account for account in pages if account]
    return [rng.choice(rng.choice(accounts)).request for _ in range(_PREPARED)]


def _fill_cache(measured: _Candidate) -> None:
    with Client(measured.server.port) as client:
        for request in measured.requests:
            client.get_ok(*request)
