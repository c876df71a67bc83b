"""Measures 1, 2 and 4 server processes on one PostgreSQL: rates, and CPU time on both sides.

PostgreSQL and the client that sends the load run on the same machine, so a rate stops growing when
its cores are busy. The CPU time per request says what further cores would give. PostgreSQL is as
durable as it is by default, in a folder on disk.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Final

from rich.progress import track

from benchmarks import library, posts, servers
from benchmarks.figures import Rates, Row
from benchmarks.loads import load, writers
from benchmarks.loads.client import Client
from benchmarks.loads.load import LoadResult, Request
from benchmarks.options import Options
from benchmarks.servers import Server
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.opening import open_database
from bowerbird.storage.postgres import schema
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import wait_until

_PROCESSES: Final = (1, 2, 4)
_MOST_ROUNDS: Final = 3
_ACCOUNTS: Final = 20
_POSTS: Final = 1_000
_CHUNK: Final = 200
_PATIENCE_S: Final = 600.0
_DATABASE: Final = "measured"
# Empty as soon as the words of the new posts are counted.
_UNCOUNTED: Final = "SELECT count(*) FROM word_change"
_PAGE: Final = "/v1/bookmarks?limit=100"
_OPTIONS: Final = ("listen_addresses=", "shared_buffers=256MB", "max_connections=200")
# On disk, unlike the servers of the tests.
_FOLDERS: Final = ("/var/tmp", "/tmp")  # noqa: S108 - the server makes a private folder in it
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Filled:
    url: str
    keys: Sequence[str]
    post_ids: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Work:
    """A load on one server, and what a request of it costs the server and PostgreSQL."""

    name: str
    server: Server
    # Runs one round, whose number it takes.
    run: Callable[[int], LoadResult]
    service: Rates = field(default_factory=Rates)
    database: Rates = field(default_factory=Rates)

    def row(self, processes: int) -> Row:
        name = "process" if processes == 1 else "processes"
        return Row(
            f"{self.name}, {processes} {name} on one PostgreSQL",
            f"{self.service.rate:,.0f} requests/s",
            cpu=_both(self.service.cpu, self.database.cpu, "request"),
        )


def measure(options: Options) -> Iterator[Row]:
    with ThrowawayPostgres(options=_OPTIONS, parents=_FOLDERS) as postgres:
        process = int((postgres.folder / "data/postmaster.pid").read_text().split()[0])
        postgres.create_database(_DATABASE)
        url = postgres.url(_DATABASE)
        asyncio.run(schema.migrate(url))
        generated = [posts.batch(number, 0, _POSTS) for number in range(_ACCOUNTS)]
        before, ours = cpu_seconds(process), cpu_seconds(os.getpid())
        filled = asyncio.run(_fill(url, generated))
        service, database = cpu_seconds(os.getpid()) - ours, cpu_seconds(process) - before
        total = _ACCOUNTS * _POSTS
        yield Row(
            "new posts stored in PostgreSQL, their JSON parsed, without the command's start",
            f"{total / (service + database):,.0f} posts/s of CPU",
            cpu=_both(service / total, database / total, "post"),
        )
        before = cpu_seconds(process)
        service = _count_words(postgres, url, options)
        yield Row(
            "words of new posts counted in the background, with the start of a server",
            f"{total:,} posts",
            cpu=_both(service / total, (cpu_seconds(process) - before) / total, "post"),
        )
        postgres.execute("VACUUM ANALYZE", _DATABASE)
        for count in _PROCESSES:
            for work in _loaded(process, filled, count, options):
                yield work.row(count)


def _count_words(postgres: ThrowawayPostgres, url: str, options: Options) -> float:
    """Runs a server until it has done so; otherwise the first lists would be measured with it."""
    with servers.bowerbird(
        options.work_folder, options.log, database_url=url, log_level=options.log_level
    ) as server:
        wait_until(lambda: postgres.execute(_UNCOUNTED, _DATABASE) == "0", _PATIENCE_S, 1.0)
        return cpu_seconds(server.process_id)


def cpu_seconds(process: int) -> float:
    """The CPU time of a process, of its children that ended, and of those that run."""
    folder = Path(f"/proc/{process}")
    try:
        children = (folder / f"task/{process}/children").read_text().split()
        # The name of the program is in brackets and may contain spaces.
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        # A worker of PostgreSQL that ended meanwhile.
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(cpu_seconds, map(int, children)))


def _both(service: float, database: float, name: str) -> str:
    return f"{service * 1e6:,.0f} µs + {database * 1e6:,.0f} µs of PostgreSQL per {name}"


async def _fill(url: str, generated: Sequence[Sequence[bytes]]) -> _Filled:
    database = await open_database(Settings(database_url=url))
    intake = Intake(database, system_clock)
    keys: list[str] = []
    post_ids: list[list[str]] = []
    try:
        filling = track(enumerate(generated), total=_ACCOUNTS, description="Filling accounts")
        for number, written in filling:
            account, key = await library.new_account(database, number)
            keys.append(key)
            incoming = [whole_post(post) for post in written]
            for first in range(0, _POSTS, _CHUNK):
                await intake.take(account, incoming[first : first + _CHUNK])
            post_ids.append([post.record.post_id for post in incoming])
    finally:
        await database.close()
    return _Filled(url, keys, post_ids)


def _loaded(process: int, filled: _Filled, count: int, options: Options) -> Sequence[_Work]:
    with ExitStack() as stack:
        uncached, cached = (
            stack.enter_context(
                servers.bowerbird(
                    options.work_folder,
                    options.log,
                    database_url=filled.url,
                    workers=count,
                    log_level=options.log_level,
                    answer_cache_mb=size,
                )
            )
            for size in (0, 64)
        )
        first = [Request(_PAGE, key) for key in filled.keys]
        pages = [page for request in first for page in _pages(uncached, request)]
        works = [
            _Work("list of 100, cache off", uncached, partial(_lists, uncached, pages, options)),
            _Work("list of 100, warm", cached, partial(_lists, cached, first, options)),
            _Work("keyed add of a label", uncached, partial(_adds, uncached, filled, options)),
        ]
        # The first round fills caches and opens connections.
        rounds = min(_MOST_ROUNDS, options.rounds) + 1
        for number in track(range(rounds), description=f"Loading {count} of them"):
            for work in works:
                before, ours = cpu_seconds(process), cpu_seconds(work.server.process_id)
                result = work.run(number)
                if number:
                    work.service.add(*result, cpu_seconds(work.server.process_id) - ours)
                    work.database.add(*result, cpu_seconds(process) - before)
    return works


def _pages(server: Server, request: Request) -> Iterator[Request]:
    """A list, page by page. The last page may be shorter."""
    with Client(server.port) as client:
        while True:
            yield request
            cursor = client.get_ok(*request).json["meta"]["next_cursor"]
            if cursor is None:
                return
            request = Request(f"{_PAGE}&cursor={cursor}", request.key)


def _lists(
    server: Server, requests: Sequence[Request], options: Options, number: int
) -> LoadResult:
    return load.run(server.port, requests, options.seconds, number, options.work_folder)


def _adds(server: Server, filled: _Filled, options: Options, _: int) -> LoadResult:
    everyone = _Everyone(server.port, filled)
    return LoadResult(*asyncio.run(writers.send(everyone, server.port, options.seconds, rate=0)))


class _Everyone(writers.Writes):
    """The accounts take turns: writes of one account wait for each other."""

    def __init__(self, port: int, filled: _Filled) -> None:
        each = zip(filled.keys, filled.post_ids, strict=True)
        self._turns = cycle([writers.Writes(port, key, list(ids)) for key, ids in each])

    def next(self) -> bytes:
        return next(self._turns).next()
