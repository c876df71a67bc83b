"""Measures search by meaning: the model, the scan, memory, and lists while posts are embedded.

The duration of a scan does not depend on the values of the vectors. So the searched accounts have
random vectors; everything else is real.
"""

import asyncio
import os
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec
from rich.progress import track

from benchmarks import bars, library, posts, servers
from benchmarks.figures import Rates, Row, Times, bar_row, per_one, percentile, ratio_row
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.loads.load import Request
from benchmarks.options import Options
from benchmarks.vocabulary import rare_words
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import VectorState
from bowerbird.library.imports.intake import Intake
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.words import NewVector, UnembeddedPost
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.search.meaning.arrays import np
from bowerbird.search.meaning.embedding import Embedder
from bowerbird.search.meaning.models import Models
from bowerbird.search.meaning.vectors import pack
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read, whole_post
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.opening import open_database
from bowerbird.storage.words.vectors import BuildProgress, VectorStore

_SEARCHES: Final = 300
_QUERIES: Final = 200
_WARM_UPS: Final = 20
_EMBEDDED: Final = 320
_TEXT: Final = 250
_BATCH: Final = 2_000
_TOGETHER: Final = 200
_UNEMBEDDED_POSTS: Final = 20_000


class _Filled(NamedTuple):
    """A library with two accounts whose posts all have vectors; the second has a tenth of them."""

    folder: Path
    keys: list[str]


def measure(options: Options) -> Iterator[Row]:
    settings = Settings(model_dir=os.environ.get("BOWERBIRD_MODEL_DIR", ""))
    models = Models(settings, is_low_priority=False)
    if models.current is None or models.second is None:
        raise RuntimeError("A model is not built. Build it with: bowerbird model")
    yield from asyncio.run(_model_speed(models.current, models.second))
    folder = options.scale.folder / "meaning"
    size = options.scale.largest
    identities = f"{size} {models.current.identity.hex()} {models.second.identity.hex()}".encode()
    inputs = [*library.stored_form(), identities]
    keys = library.fill_once(folder, inputs, lambda f: asyncio.run(_fill(f, size, models)))
    filled = _Filled(folder, keys)
    yield from asyncio.run(_searches(filled, models))
    yield from _over_http(options, filled, size)
    yield from _lists_while_embedding(options)


async def _model_speed(*models: Embedder) -> list[Row]:
    texts = [f"{text} {text} {text}"[:_TEXT] for text in _texts(_EMBEDDED)]
    rows, per_post = [], 0.0
    for model in models:
        await model.embed_posts(texts[:8])
        started_cpu = time.process_time()
        await model.embed_posts(texts)
        seconds = (time.process_time() - started_cpu) / len(texts)
        per_post += seconds
        rows += [_rate_row(model.name, seconds), await _query_row(model)]
    return [*rows, _rate_row("both models", per_post)]


def _rate_row(name: str, seconds: float) -> Row:
    cpu = per_one(seconds, "post")
    return bar_row(bars.EMBEDDING, [1 / seconds], work=f"{bars.EMBEDDING.name}, {name}", cpu=cpu)


async def _query_row(model: Embedder) -> Row:
    times = Times()
    for number in range(_QUERIES):
        started, cpu_started = time.perf_counter(), time.process_time()
        await model.embed_query(f"what do people say about subject {number}")
        times.add(time.perf_counter() - started, time.process_time() - cpu_started)
    cpu_ms = percentile(times.cpu_seconds, 50)
    work, cpu = f"embedding a query, {model.name}", per_one(cpu_ms / 1000, "query")
    return bar_row(
        bars.EMBEDDING_A_QUERY, [times.percentile(50)], work=work, cpu=cpu, by_cpu=cpu_ms
    )


async def _searches(filled: _Filled, models: Models) -> list[Row]:
    database = await open_database(Settings(data_dir=filled.folder))
    try:
        meaning = SemanticSearch(database, models)
        bookmarks = Bookmarks(database, meaning)
        accounts = AccountStore(database)
        members = await accounts.all()
        rows = []
        for member in members:
            account = await accounts.by_id(member.account_id, 0)
            assert account
            rows += await _search_account(bookmarks, meaning, account)
    finally:
        await database.close()
    return rows


async def _search_account(
    bookmarks: Bookmarks, meaning: SemanticSearch, account: Account
) -> list[Row]:
    store = await meaning.require(account)
    assert store
    assert store.second
    size = f"account of {account.total:,}"
    first = Times()
    await _time(first, bookmarks, account, ListQuery(vector_search_term="the first query"))
    candidates = {
        "one model": (msgspec.structs.replace(store, second=None), Times()),
        "both models": (store, Times()),
    }
    for number in track(range(_SEARCHES), description=f"Searching by meaning, {size}"):
        for name, (vectors, times) in candidates.items():
            text = f"query {number} of {name}"
            # Embeds the query now, so that the measured time does not include the models.
            await meaning.question(store, text)
            await meaning.question(store.second, text)
            query = ListQuery(vector_search_term=text, limit=100)
            await _time(times, bookmarks, account, query, VectorState(vectors))
    return [
        first.row(f"{bars.FIRST_BY_MEANING.name}, {size}", bars.FIRST_BY_MEANING),
        *(
            times.row(f"{bars.MEANING.name}, {name}, {size}", bars.MEANING)
            for name, (_, times) in candidates.items()
        ),
    ]


async def _time(
    times: Times,
    bookmarks: Bookmarks,
    account: Account,
    query: ListQuery,
    vectors: VectorState | None = None,
) -> None:
    started, cpu_started = time.perf_counter(), time.process_time()
    await bookmarks.list(account, query, vectors=vectors)
    times.add(time.perf_counter() - started, time.process_time() - cpu_started)


def _over_http(options: Options, filled: _Filled, size: int) -> Iterator[Row]:
    times = Times()
    words = rare_words(random.Random("words and meaning"), _TOGETHER)
    with (
        servers.bowerbird(filled.folder, options.log, **_model(), answer_cache_mb=0) as server,
        Client(server.port) as client,
    ):
        for number in range(_WARM_UPS):
            client.get_ok(_together("warm", f"subject {number}"), filled.keys[0])
        resident = server.resident_mb()
        server.wait_until_idle()
        for number, word in enumerate(track(words, description="Words and meaning")):
            path = _together(word, f"question {number} about {word}")
            load.add_request(times, server, client, path, filled.keys[0])
    detail = f"{size:,} vectors of each; resident set of the process"
    yield bar_row(bars.MODELS_MEMORY, [resident], detail=detail)
    yield times.row(
        bars.WORDS_AND_MEANING.name, bars.WORDS_AND_MEANING, f"account of {size:,}, over HTTP"
    )


def _together(word: str, question: str) -> str:
    return f"/v1/bookmarks?limit=100&q={quote(word)}&vector_search_term={quote(question)}"


def _lists_while_embedding(options: Options) -> Iterator[Row]:
    """Compares the rate of lists with and without embedding posts of another account."""
    filled = options.scale.folder / "embedding"
    keys = library.fill_once(
        filled, library.stored_form(), lambda f: asyncio.run(_fill_unembedded(f))
    )
    # A copy, because after a few runs no post would be left to embed.
    folder = options.work_folder / "embedding"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(filled, folder)
    requests = [Request("/v1/bookmarks?limit=100", keys[1])]
    rates = {False: Rates(), True: Rates()}
    for seed in range(options.rounds):
        for embeds in (False, True):
            model = _model() if embeds else {}
            settings = {"answer_cache_mb": 0, "log_level": options.log_level, **model}
            with servers.bowerbird(folder, options.log, **settings) as server:
                # Enough time for the worker to find the job and start it.
                time.sleep(6)
                load.add_round(rates[embeds], server, requests, options, seed)
    yield ratio_row(bars.LISTS_WHILE_EMBEDDING, rates[True], rates[False], shared="the embedding")
    shutil.rmtree(folder)


def _model() -> dict[str, str | int]:
    return {"model_dir": os.environ.get("BOWERBIRD_MODEL_DIR", "")}


async def _fill(folder: Path, size: int, models: Models) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    try:
        keys = []
        for number, count in enumerate((size, size // 10)):
            account, key = await library.new_account(database, number)
            await _import(database, account, number, count)
            await store_random_vectors(database, account, count, models)
            keys.append(key)
    finally:
        await database.close()
    return keys


async def _fill_unembedded(folder: Path) -> list[str]:
    """Fills one account with many posts to embed, and one whose lists are measured."""
    database = await open_database(Settings(data_dir=folder))
    try:
        keys = []
        for number, count in enumerate((_UNEMBEDDED_POSTS, 1_000)):
            account, key = await library.new_account(database, number)
            await _import(database, account, number, count)
            keys.append(key)
    finally:
        await database.close()
    return keys


async def _import(database: Database, account: Account, number: int, count: int) -> None:
    intake = Intake(database, system_clock)
    for first in track(range(0, count, _BATCH), description=f"Importing {count:,} posts"):
        batch = posts.batch(number, first, min(_BATCH, count - first))
        await intake.take(account, [whole_post(post) for post in batch])


async def store_random_vectors(
    database: Database, account: Account, count: int, models: Models
) -> None:
    store = VectorStore(database)
    for model, dimensions in ((models.current, 384), (models.second, 512)):
        assert model
        await store.create(account.account_id, model.identity, model.name, system_clock())
        for first in track(range(1, count + 1, _BATCH), description="Making vectors"):
            found = await store.missing(account, model.identity, first, _BATCH)
            vectors = _random_vectors(found, dimensions, seed=first)
            await _put(database, account, model.identity, dimensions, vectors)
        await store.mark_built(account.account_id, model.identity)
    # Nothing is left to embed; it stores the vectors together.
    await VectorBuilds(database, models, system_clock).build(account.account_id, _ignore)


async def _ignore(_done: int, _total: int) -> None:
    """No progress."""


async def _put(
    database: Database, account: Account, model: bytes, dimensions: int, vectors: list[NewVector]
) -> None:
    store, libraries = VectorStore(database), LibraryStore(database)
    stores = await store.stores(account.account_id)
    (state,) = (each for each in stores if each.model == model)
    state = msgspec.structs.replace(state, dimensions=dimensions)

    async def work(transaction: Transaction) -> None:
        await libraries.lock(transaction, account.account_id)
        end = BuildProgress(vectors[-1].number + 1, state.invalidations)
        await store.put(transaction, account.account_id, state, vectors, end)

    await database.write(work)


def _random_vectors(
    missing: Sequence[UnembeddedPost], dimensions: int, seed: int
) -> list[NewVector]:
    rows = np.random.default_rng(seed).standard_normal((len(missing), dimensions))
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    return [
        NewVector(post.number, post.content_hash, bytes(16), *pack(rows[n : n + 1]))
        for n, post in enumerate(missing)
    ]


def _texts(count: int) -> list[str]:
    return [read(post).incoming.record.tweet_details.text for post in posts.batch(0, 0, count)]
