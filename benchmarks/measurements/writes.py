"""Measures label writes with idempotency keys: batches, single writes, and lists beside them."""

import asyncio
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from rich.progress import track

from benchmarks import bars, library, posts, servers
from benchmarks.figures import Rates, Row, Times, bar_row, number, per_one, percentile, ratio_row
from benchmarks.loads import daily_bounds, load
from benchmarks.loads.client import Client
from benchmarks.loads.load import Request
from benchmarks.options import Options
from benchmarks.servers import Server
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.opening import open_database

_POSTS: Final = 20_000
_NEIGHBOURS: Final = 1_000
_LABELLED: Final = 2_000
_CHUNK: Final = 1_000
_BATCHES: Final = 60
_OPERATIONS, _POSTS_EACH = 50, 20


class _Filled(NamedTuple):
    """A library with one account for writes and one for reads."""

    folder: Path
    writer_key: str
    reader_key: str
    post_ids: list[str]


def measure(options: Options) -> Iterator[Row]:
    filled = _fill(options.work_folder / "written")
    with (
        servers.bowerbird(
            filled.folder, options.log, log_level=options.log_level, answer_cache_mb=0
        ) as server,
        daily_bounds.forgotten(filled.folder),
    ):
        # The index of the posts that were just written is merged after the start.
        server.wait_until_idle()
        near, far = _batches(server, filled, _NEIGHBOURS), _batches(server, filled, _POSTS)
        yield _batch_row(near)
        yield far.row(f"{bars.BATCH.name}, out of all {_POSTS:,}")
        yield _adds(server, filled, options)
        yield from _reads(server, filled, options)
    shutil.rmtree(filled.folder)


def _batches(server: Server, filled: _Filled, neighbours: int) -> Times:
    """Each batch draws its posts from this many posts that were saved one after the other."""
    rng, times = random.Random("batches"), Times()
    with Client(server.port) as client:
        for number in track(range(_BATCHES), description="Sending batches"):
            first = rng.randrange(_POSTS - neighbours + 1)
            ids = filled.post_ids[first : first + neighbours]
            body = msgspec.json.encode({"operations": _operations(rng, ids)})
            key = f"batch-{neighbours}-{number}"
            before = server.cpu_seconds()
            answer = client.post("/v1/labels/batch", filled.writer_key, body, key)
            if answer.status != 200:
                raise RuntimeError(f"A batch returned {answer.status}: {answer.body[:300]!r}")
            times.add(answer.seconds, server.cpu_seconds() - before)
    return times


def _batch_row(times: Times) -> Row:
    cpu_ms = percentile(times.cpu_seconds, 50)
    return bar_row(
        bars.BATCH,
        [times.percentile(50)],
        work=f"{bars.BATCH.name}, out of 1,000 neighbours",
        cpu=per_one(cpu_ms / 1000, "batch"),
        by_cpu=cpu_ms,
        detail=f"{len(times.seconds)} requests, median; p99 {number(times.percentile(99))} ms",
    )


def _operations(rng: random.Random, post_ids: list[str]) -> list[dict[str, object]]:
    """The first operations add, so that every label exists before it is removed."""
    names = [f"batch label {number}" for number in range(25)]
    return [
        {
            "op": "add" if number < 25 else rng.choice(["add", "remove"]),
            "tweet_ids": rng.sample(post_ids, _POSTS_EACH),
            "label_name": names[number % 25],
        }
        for number in range(_OPERATIONS)
    ]


def _adds(server: Server, filled: _Filled, options: Options) -> Row:
    rates = Rates()
    for _ in track(range(options.rounds), description="Adding labels"):
        before = server.cpu_seconds()
        with _writing(server, filled, options.seconds, 0) as process:
            done, seconds = _read_output(process)
        rates.add(done, seconds, server.cpu_seconds() - before)
    cpu = per_one(rates.cpu, "write")
    return bar_row(bars.KEYED_ADDS, rates.per_second, cpu=cpu, by_cpu=1 / rates.cpu)


def _reads(server: Server, filled: _Filled, options: Options) -> Iterator[Row]:
    requests = _pages(server, filled.reader_key)
    alone, limited, unlimited = Rates(), Rates(), Rates()
    writes: list[float] = []
    target = bars.KEYED_ADDS.limit
    for seed in track(range(options.rounds), description="Reading while writing"):
        load.add_round(alone, server, requests, options, seed)
        for rate, rates in ((target, limited), (0, unlimited)):
            # Writes longer than the reads, so that no read runs alone.
            with _writing(server, filled, options.seconds + 1, rate) as process:
                load.add_round(rates, server, requests, options, seed)
                done, seconds = _read_output(process)
            writes.append(done / seconds)
    bar = bars.LISTS_WHILE_WRITING
    slowest = f"{min(writes[::2]):,.0f} writes/s with the limit, {min(writes[1::2]):,.0f} without"
    work = f"{bar.name}, at {target:,.0f} writes/s"
    yield ratio_row(bar, limited, alone, work=work, shared="the writes")
    row = ratio_row(bar, unlimited, alone, shared="the writes")
    work = f"{bar.name}, writes without a limit"
    yield Row(work, row.measured, cpu=row.cpu, detail=f"{row.detail}; {slowest}")


@contextmanager
def _writing(
    server: Server, filled: _Filled, seconds: float, rate: float
) -> Iterator["subprocess.Popen[str]"]:
    words = [sys.executable, "-m", "benchmarks.loads.writers", str(server.port), filled.writer_key]
    words += [",".join(filled.post_ids[:_LABELLED]), str(seconds), str(rate)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _read_output(process: "subprocess.Popen[str]") -> tuple[int, float]:
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("The writers failed; see the output above.")
    done, seconds = out.split()
    return int(done), float(seconds)


def _pages(server: Server, key: str) -> list[Request]:
    """Requests for every full page of an account."""
    requests: list[Request] = []
    path = "/v1/bookmarks?limit=100"
    with Client(server.port) as client:
        while True:
            cursor = client.get_ok(path, key).json["meta"]["next_cursor"]
            if cursor is None:
                return requests
            requests.append(Request(path, key))
            path = f"/v1/bookmarks?limit=100&cursor={cursor}"


def _fill(folder: Path) -> _Filled:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return asyncio.run(_fill_async(folder))


async def _fill_async(folder: Path) -> _Filled:
    database = await open_database(Settings(data_dir=folder))
    try:
        keys, ids = [], []
        for number in range(2):
            account, key = await library.new_account(database, number)
            keys.append(key)
            for first in range(0, _POSTS, _CHUNK):
                incoming = [whole_post(post) for post in posts.batch(number, first, _CHUNK)]
                await Intake(database, system_clock).take(account, incoming)
                ids += [post.record.post_id for post in incoming] if number == 0 else []
    finally:
        await database.close()
    return _Filled(folder, keys[0], keys[1], ids)
