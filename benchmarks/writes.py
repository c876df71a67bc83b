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

from benchmarks import daily_bounds, library, load, posts, servers
from benchmarks.client import Client
from benchmarks.figures import Row, Times, at_least_row, below_row, ratio_row
from benchmarks.load import Request
from benchmarks.options import Options
from benchmarks.servers import Server
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.opening import open_database

_BATCH_TARGET_MS, _ADDS_TARGET, _READS_TARGET = 20, 1_500, 0.7
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
        title = "batch of 50 operations on 20 posts each"
        near, far = _batches(server, filled, _NEIGHBOURS), _batches(server, filled, _POSTS)
        yield _batch_row(f"{title}, out of 1,000 neighbours", *near, _BATCH_TARGET_MS)
        yield _batch_row(f"{title}, out of all {_POSTS:,}", *far, None)
        yield _adds(server, filled, options)
        yield from _reads(server, filled, options)
    shutil.rmtree(filled.folder)


def _batches(server: Server, filled: _Filled, neighbours: int) -> tuple[Times, float]:
    """Each batch draws its posts from this many posts that were saved one after the other.

    Returns the times, and the CPU seconds of the server for all of them.
    """
    rng, times, before = random.Random("batches"), Times(), server.cpu_seconds()
    with Client(server.port) as client:
        for number in track(range(_BATCHES), description="Sending batches"):
            first = rng.randrange(_POSTS - neighbours + 1)
            ids = filled.post_ids[first : first + neighbours]
            body = msgspec.json.encode({"operations": _operations(rng, ids)})
            key = f"batch-{neighbours}-{number}"
            answer = client.post("/v1/labels/batch", filled.writer_key, body, key)
            if answer.status != 200:
                raise RuntimeError(f"A batch returned {answer.status}: {answer.body[:300]!r}")
            times.add(answer.seconds)
    return times, server.cpu_seconds() - before


def _batch_row(work: str, times: Times, cpu_s: float, target_ms: float | None) -> Row:
    count = len(times.seconds)
    detail = (
        f"{count} requests, median; p99 {times.percentile(99):.2f} ms; "
        f"{cpu_s / count * 1000:.1f} ms of CPU per request"
    )
    return below_row(work, [times.percentile(50)], "ms", target_ms, detail)


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
    rates, before = [], server.cpu_seconds()
    sent = 0
    for _ in track(range(options.rounds), description="Adding labels"):
        with _writing(server, filled, options.seconds, 0) as process:
            done, seconds = _read_output(process)
        rates.append(done / seconds)
        sent += done
    cpu_us = (server.cpu_seconds() - before) / sent * 1e6
    detail = f"{sent:,} writes, {cpu_us:.0f} µs of CPU per write"
    return at_least_row("keyed label adds, 16 connections", rates, "writes/s", _ADDS_TARGET, detail)


def _reads(server: Server, filled: _Filled, options: Options) -> Iterator[Row]:
    requests = _pages(server, filled.reader_key)
    alone: list[float] = []
    limited: list[float] = []
    unlimited: list[float] = []
    writes: list[float] = []
    for seed in track(range(options.rounds), description="Reading while writing"):
        alone.append(_read(server, requests, options, seed))
        for rate, rates in ((_ADDS_TARGET, limited), (0, unlimited)):
            # Writes longer than the reads, so that no read runs alone.
            with _writing(server, filled, options.seconds + 1, rate) as process:
                rates.append(_read(server, requests, options, seed))
                done, seconds = _read_output(process)
            writes.append(done / seconds)
    title = "list of 100, cache off, while labels are written"
    yield ratio_row(f"{title} at {_ADDS_TARGET:,}/s / alone", limited, alone, _READS_TARGET)
    ratios = sorted(busy / quiet for busy, quiet in zip(unlimited, alone, strict=True))
    measured = f"{ratios[len(ratios) // 2]:.2g} times"
    slowest = f"{min(writes[::2]):,.0f} writes/s with the limit, {min(writes[1::2]):,.0f} without"
    yield Row(f"{title} without a limit / alone", measured, detail=slowest)


def _read(server: Server, requests: list[Request], options: Options, seed: int) -> float:
    return load.run(server.port, requests, options.seconds, seed, options.work_folder).per_second


@contextmanager
def _writing(
    server: Server, filled: _Filled, seconds: float, rate: float
) -> Iterator["subprocess.Popen[str]"]:
    words = [sys.executable, "-m", "benchmarks.writers", str(server.port), filled.writer_key]
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
                incoming = [read(post).incoming for post in posts.batch(number, first, _CHUNK)]
                await Upsert(database, system_clock).take(account, incoming)
                ids += [post.post_id for post in incoming] if number == 0 else []
    finally:
        await database.close()
    return _Filled(folder, keys[0], keys[1], ids)
