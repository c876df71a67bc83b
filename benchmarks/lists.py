"""Lists of 100: from the answer cache and without it, against the ceiling and the twin."""

import random
import sqlite3
import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.progress import track

from benchmarks import constant, library, load, servers, twin_library
from benchmarks.client import Client
from benchmarks.figures import Row, ratio_row
from benchmarks.load import Ask
from benchmarks.options import Options
from benchmarks.scales import Scale
from benchmarks.servers import Server

PAGE: Final = "/v1/bookmarks?limit=100"
_PREPARED: Final = 4_000
_WARM_BAR, _CEILING_BAR, _TWIN_BAR = 0.80, 0.20, 15
_TWIN_PLACES: Final = """
SELECT sort_index, id
  FROM (SELECT sort_index, id, row_number() OVER (ORDER BY sort_index DESC, id DESC) AS place
          FROM bookmark
         WHERE account_id = ? AND is_read = 0 AND is_archived = 0)
 WHERE place % 100 = 0
"""


@dataclass(frozen=True, slots=True)
class Page:
    ask: Ask
    size: int


@dataclass(slots=True)
class _Lane:
    """One of the servers under load, and what came of it."""

    server: Server
    asks: list[Ask]
    rates: list[float] = field(default_factory=list)
    requests: int = 0
    cpu_s: float = 0

    @property
    def cpu_us(self) -> float:
        """Hardly depends on what else the machine does, unlike a rate."""
        return self.cpu_s / self.requests * 1e6

    def load(self, options: Options, seed: int) -> None:
        before = self.server.cpu_seconds()
        port, folder = self.server.port, options.work_folder
        loaded = load.run(port, self.asks, options.seconds, seed, folder)
        self.cpu_s += self.server.cpu_seconds() - before
        self.requests += loaded.requests
        self.rates.append(loaded.per_second)


def measure(options: Options) -> Iterator[Row]:
    ours, twin = library.ready(options.scale), twin_library.ready(options.scale)
    settings = {"log_level": options.log_level}
    with ExitStack() as stack:
        start = stack.enter_context
        uncached = start(servers.bowerbird(ours.folder, options.log, answer_cache_mb=0, **settings))
        cached = start(servers.bowerbird(ours.folder, options.log, **settings))
        pages = _pages(uncached.port, ours.keys)
        ceiling_answer = options.work_folder / "ceiling"
        _save_typical(uncached.port, pages, ceiling_answer)
        ceiling = start(servers.module("constant", ceiling_answer, options.log))
        slow = start(servers.module("twin", twin.file, options.log))
        deep = _drawn(pages)
        lanes = {
            "ceiling": _Lane(ceiling, deep),
            "warm": _Lane(cached, [account[0].ask for account in pages if account]),
            "deep": _Lane(uncached, deep),
            "twin": _Lane(slow, _drawn(_twin_pages(twin, options.scale))),
        }
        _ask_once(lanes["warm"])
        _load(lanes, options)
        yield from _rows(lanes)
        yield Row("memory after the load, cache off", f"{uncached.resident_mb():.0f} MB")


def _rows(lanes: dict[str, _Lane]) -> Iterator[Row]:
    rates = {name: lane.rates for name, lane in lanes.items()}
    yield ratio_row("list of 100, warm / ceiling", rates["warm"], rates["ceiling"], _WARM_BAR)
    title = "list of 100, random account and depth, cache off"
    yield ratio_row(f"{title} / ceiling", rates["deep"], rates["ceiling"], _CEILING_BAR)
    yield ratio_row(f"{title} / twin", rates["deep"], rates["twin"], _TWIN_BAR)
    costs = [f"{name} {lane.cpu_us:,.0f}" for name, lane in lanes.items()]
    yield Row("CPU a request, µs", ", ".join(costs), detail="of the server's process")


def _load(lanes: dict[str, _Lane], options: Options) -> None:
    """Rounds of short loads in turn, so that what disturbs the machine disturbs all alike."""
    for seed in track(range(options.rounds), description="Loading in turn"):
        for lane in lanes.values():
            lane.load(options, seed)


def _pages(port: int, keys: list[str]) -> list[list[Page]]:
    """Every full page of every account, found by walking each list to its end."""
    with Client(port) as client:
        walked = track(keys, description="Walking every list")
        return [list(_walk(client, key)) for key in walked]


def _walk(client: Client, key: str) -> Iterator[Page]:
    path = PAGE
    while True:
        answer = client.listed(path, key)
        cursor = answer.json["meta"]["next_cursor"]
        if cursor is None:
            return
        yield Page(Ask(path, key), len(answer.body))
        path = f"{PAGE}&cursor={cursor}"


def _save_typical(port: int, pages: list[list[Page]], folder: Path) -> None:
    """The page whose size is nearest to the mean stands for all of them."""
    every = [page for account in pages for page in account]
    mean = statistics.fmean(page.size for page in every)
    typical = min(every, key=lambda page: abs(page.size - mean))
    with Client(port) as client:
        answer = client.listed(*typical.ask)
    constant.save(folder, answer.headers, answer.body)


def _twin_pages(twin: twin_library.TwinLibrary, scale: Scale) -> list[list[Page]]:
    connection = sqlite3.connect(twin.file)
    pages = []
    for account in range(scale.accounts):
        places = connection.execute(_TWIN_PLACES, (account,)).fetchall()
        # The last place begins a page that may not be full.
        paths = [PAGE, *(f"{PAGE}&cursor={index}_{id}" for index, id in places[:-1])]
        pages.append([Page(Ask(path, twin.keys[account]), 0) for path in paths])
    connection.close()
    return pages


def _drawn(pages: list[list[Page]]) -> list[Ask]:
    """An account at random, then a page of it at random."""
    rng = random.Random("drawn pages")
    accounts = [account for account in pages if account]
    return [rng.choice(rng.choice(accounts)).ask for _ in range(_PREPARED)]


def _ask_once(lane: _Lane) -> None:
    with Client(lane.server.port) as client:
        for ask in lane.asks:
            client.listed(*ask)
