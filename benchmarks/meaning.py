"""Search by meaning: the model's own speed, the scan without it, memory, and lists meanwhile.

The scan's time does not depend on what the vectors say, so those of the searched accounts are
random; everything else is real.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec
from rich.progress import track

from benchmarks import library, load, posts, servers
from benchmarks.client import Client
from benchmarks.figures import Row, Times, least_row, most_row
from benchmarks.load import Ask
from benchmarks.options import Options
from bowerbird.clock import system_clock
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.upsert import Upsert
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.vectors import NewVector, UnembeddedPost
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.search.arrays import np
from bowerbird.search.embedding import Embedder
from bowerbird.search.models import Models
from bowerbird.search.vectors import pack
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.opening import open_database
from bowerbird.storage.vectors import Progress, VectorStore

_SEARCHES: Final = 300
_QUESTIONS: Final = 200
_EMBEDDED: Final = 320
_TEXT: Final = 250
_BATCH: Final = 2_000
_LARGE_BAR_MS, _TENTH_BAR_MS = 25, 3
_QUESTION_BAR_MS, _RATE_BAR, _MEMORY_BAR_MB = 5, 40, 500
_LISTS_BAR: Final = 0.9
_WAITING: Final = 20_000
_DIMENSIONS: Final = 384


class _Filled(NamedTuple):
    """An account with a vector a post, and one with a tenth of its posts."""

    folder: Path
    keys: list[str]


def measure(options: Options) -> Iterator[Row]:
    settings = Settings(model_dir=os.environ.get("BOWERBIRD_MODEL_DIR", ""))
    models = Models(settings, is_patient=False)
    if models.current is None:
        raise RuntimeError("The model is not built. Build it with: make model")
    yield from asyncio.run(_model_speed(models.current))
    folder = options.scale.folder / "meaning"
    size = options.scale.largest
    parts = [f"{size} {models.current.identity.hex()} 1".encode()]
    keys = library.made_once(folder, parts, lambda f: asyncio.run(_filled(f, size, models)))
    filled = _Filled(folder, keys)
    yield from asyncio.run(_searches(filled, models))
    yield _memory(options, filled, size)
    yield from _lists_meanwhile(options)


async def _model_speed(model: Embedder) -> list[Row]:
    texts = [f"{text} {text} {text}"[:_TEXT] for text in _texts(_EMBEDDED)]
    await model.posts(texts[:8])
    began = time.process_time()
    await model.posts(texts)
    rate = len(texts) / (time.process_time() - began)
    times = Times()
    for number in range(_QUESTIONS):
        started = time.perf_counter()
        await model.question(f"what do people say about subject {number}")
        times.add(time.perf_counter() - started)
    p50 = times.percentile(50)
    return [
        least_row("embedding, posts of 250 characters", [rate], "posts/s a core", _RATE_BAR),
        most_row("embedding a question, p50", [p50], "ms", _QUESTION_BAR_MS),
    ]


async def _searches(filled: _Filled, models: Models) -> list[Row]:
    database = await open_database(Settings(data_dir=filled.folder))
    try:
        meaning = SemanticSearch(database, models)
        bookmarks = Bookmarks(database, meaning)
        accounts = AccountStore(database)
        members = await accounts.all()
        rows = []
        for member, bar in zip(members, (_LARGE_BAR_MS, _TENTH_BAR_MS), strict=True):
            account = await accounts.by_id(member.account_id, 0)
            assert account
            rows += await _searched(bookmarks, meaning, account, bar)
    finally:
        await database.close()
    return rows


async def _searched(
    bookmarks: Bookmarks, meaning: SemanticSearch, account: Account, bar_ms: float
) -> list[Row]:
    store = await meaning.require(account)
    assert store
    started = time.perf_counter()
    await bookmarks.list(account, ListQuery(vector_search_term="the first of all questions"))
    first = time.perf_counter() - started
    times = Times()
    for number in track(range(_SEARCHES), description="Searching by meaning"):
        text = f"question {number}"
        # Embedded before: this measures everything but the model.
        await meaning.question(store, text)
        started = time.perf_counter()
        await bookmarks.list(account, ListQuery(vector_search_term=text, limit=100))
        times.add(time.perf_counter() - started)
    size = f"account of {account.total:,}"
    return [
        times.row(f"by meaning without the model's time, {size}", bar_ms),
        most_row(f"by meaning, the first after a start, {size}", [first * 1000], "ms", None),
    ]


def _memory(options: Options, filled: _Filled, size: int) -> Row:
    with servers.bowerbird(filled.folder, options.log, **_model()) as server:
        with Client(server.port) as client:
            for number in range(20):
                path = f"/v1/bookmarks?limit=100&vector_search_term={quote(f'subject {number}')}"
                client.listed(path, filled.keys[0])
        resident = server.resident_mb()
    work = f"memory with model and a matrix of {size:,}"
    return most_row(work, [resident], "MB", _MEMORY_BAR_MB, "resident set of the process")


def _lists_meanwhile(options: Options) -> Iterator[Row]:
    """The rate of lists while another account is being embedded, and without that."""
    folder = options.scale.folder / "embedding"
    keys = library.made_once(folder, [b"1"], lambda f: asyncio.run(_waiting(f)))
    asks = [Ask("/v1/bookmarks?limit=100", keys[1])]
    rates: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(options.rounds):
        for embeds in (False, True):
            model = _model() if embeds else {}
            settings = {"answer_cache_mb": 0, "log_level": options.log_level, **model}
            with servers.bowerbird(folder, options.log, **settings) as server:
                # By then the worker has looked for work and begun.
                time.sleep(6)
                loaded = load.run(server.port, asks, options.seconds, seed, options.work_folder)
            rates[embeds].append(loaded.per_second)
    ratios = [on / off for on, off in zip(rates[True], rates[False], strict=True)]
    middle = statistics.median(ratios)
    yield Row(
        "list of 100 while posts are embedded / without",
        f"{middle:.3g} times ({min(ratios):.3g} to {max(ratios):.3g})",
        f"≥ {_LISTS_BAR:g} times",
        middle >= _LISTS_BAR,
        f"{statistics.median(rates[True]):,.0f} against {statistics.median(rates[False]):,.0f}"
        " requests/s",
    )


def _model() -> dict[str, str | int]:
    return {"model_dir": os.environ.get("BOWERBIRD_MODEL_DIR", "")}


async def _filled(folder: Path, size: int, models: Models) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    try:
        keys = []
        for number, count in enumerate((size, size // 10)):
            account, key = await library.new_account(database, number)
            await _import(database, account, number, count)
            await _embed_at_random(database, account, count, models)
            keys.append(key)
    finally:
        await database.close()
    return keys


async def _waiting(folder: Path) -> list[str]:
    """One account with much to embed, and one whose lists are asked for."""
    database = await open_database(Settings(data_dir=folder))
    try:
        keys = []
        for number, count in enumerate((_WAITING, 1_000)):
            account, key = await library.new_account(database, number)
            await _import(database, account, number, count)
            keys.append(key)
    finally:
        await database.close()
    return keys


async def _import(database: Database, account: Account, number: int, count: int) -> None:
    intake = Upsert(database, system_clock)
    for first in track(range(0, count, _BATCH), description=f"Importing {count:,} posts"):
        batch = posts.batch(number, first, min(_BATCH, count - first))
        await intake.take(account, [read(post).incoming for post in batch])


async def _embed_at_random(
    database: Database, account: Account, count: int, models: Models
) -> None:
    store, model = VectorStore(database), models.current
    assert model
    await store.make(account.account_id, model.identity, model.name, system_clock())
    for first in track(range(1, count + 1, _BATCH), description="Making vectors"):
        found = await store.missing(account, model.identity, first, _BATCH)
        await _put(database, account, _random_vectors(found, seed=first))
    await store.note_built(account.account_id, model.identity)


async def _put(database: Database, account: Account, made: list[NewVector]) -> None:
    store, libraries = VectorStore(database), LibraryStore(database)
    (state,) = await store.stores(account.account_id)
    state = msgspec.structs.replace(state, dimensions=_DIMENSIONS)

    async def work(transaction: Transaction) -> None:
        await lock_library(libraries, transaction, account.account_id)
        end = Progress(made[-1].number + 1, state.invalidations)
        await store.put(transaction, account.account_id, state, made, end)

    await database.write(work)


def _random_vectors(found: Sequence[UnembeddedPost], seed: int) -> list[NewVector]:
    rows = np.random.default_rng(seed).standard_normal((len(found), _DIMENSIONS))
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    return [
        NewVector(post.number, post.content_hash, bytes(16), *pack(rows[n : n + 1]))
        for n, post in enumerate(found)
    ]


def _texts(count: int) -> list[str]:
    made = posts.batch(0, 0, count)
    return [read(post).incoming.arrival.tweet_details.text for post in made]
