"""A library of 20,000 varied posts with vectors, filled once per test process and database.

Tests copy it: the file of SQLite, or the database of PostgreSQL as a template.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from bowerbird.clock import system_clock
from bowerbird.library.access.turns import lock_library
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.bookmarks.writing.upsert import Upsert, Write, writes_of
from bowerbird.library.vectors.sweeps import text_hash, text_of_rendering
from bowerbird.model.accounts import Account
from bowerbird.model.vectors import NewVector, UnembeddedPost, VectorStoreState
from bowerbird.search.meaning.models import Models
from bowerbird.search.meaning.vectors import pack
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.opening import open_database
from bowerbird.storage.words.vectors import BuildProgress, VectorStore
from tests.support import embedding_service, make, varied_posts
from tests.support.databases import TEMPLATE
from tests.support.postgres import ThrowawayPostgres

POSTS: Final = 20_000
EMAIL: Final = "me@example.com"
_PER_WRITE: Final = 1_000
_NAME: Final = "large"


def fill_sqlite(folder: Path) -> None:
    """Fills the library of a new data folder."""
    _run(Settings(data_dir=folder))


def fill_postgres(server: ThrowawayPostgres) -> str:
    """Fills a new database; returns its name, for `fresh_database`."""
    server.create_database(_NAME, template=TEMPLATE)
    _run(Settings(database_url=server.url(_NAME)))
    # As the server does by itself after some time.
    server.execute("ANALYZE", _NAME)
    return _NAME


def _run(settings: Settings) -> None:
    # On a thread, because pytest may request a fixture while an event loop runs on this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(_fill(settings))).result()


async def _fill(settings: Settings) -> None:
    database = await open_database(settings)
    try:
        account_id = await Accounts(database, system_clock).create(EMAIL, "pro")
        upsert = Upsert(database, system_clock)
        for writes in _prepared():
            await upsert.write(account_id, writes)
        account = await AccountStore(database).by_id(account_id, month=0)
        assert account
        assert account.total == POSTS
        await _embed(database, account)
    finally:
        await database.close()


@cache
def _prepared() -> list[list[Write]]:
    """The posts, parsed and split into words once for both databases."""
    return list(_batches())


def _batches() -> Iterator[list[Write]]:
    for first in range(0, POSTS, _PER_WRITE):
        numbers = range(first, first + _PER_WRITE)
        posts = [read(make.raw(varied_posts.post(number))).incoming for number in numbers]
        yield writes_of(posts)


async def _embed(database: Database, account: Account) -> None:
    """Stores the vectors that the embedding service of tests would return."""
    embedder = Models(Settings(embedding_url="http://localhost/")).current
    assert embedder
    account_id, store = account.account_id, VectorStore(database)
    await store.create(account_id, embedder.identity, embedder.name, system_clock())
    first = 0
    while posts := await store.missing(account, embedder.identity, first, _PER_WRITE):
        first = posts[-1].number + 1
        [state] = await store.stores(account_id)
        work = _writing(database, account_id, state, posts)
        await database.write(work)
    await store.mark_built(account_id, embedder.identity)


def _writing(
    database: Database,
    account_id: int,
    state: VectorStoreState,
    posts: Sequence[UnembeddedPost],
) -> Callable[[Transaction], Awaitable[None]]:
    wide = msgspec.structs.replace(state, dimensions=embedding_service.WIDTH)
    progress = BuildProgress(posts[-1].number + 1, state.invalidations)
    vectors = list(_vectors(posts))

    async def work(transaction: Transaction) -> None:
        await lock_library(LibraryStore(database), transaction, account_id)
        await VectorStore(database).put(transaction, account_id, wide, vectors, progress)

    return work


def _vectors(posts: Sequence[UnembeddedPost]) -> Iterator[NewVector]:
    texts = [text_of_rendering(post.rendering) for post in posts]
    rows = np.array([embedding_service.vector_of(text) for text in texts], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    scales, values = pack(rows)
    width = embedding_service.WIDTH
    for place, (post, text) in enumerate(zip(posts, texts, strict=True)):
        scale = scales[place * 4 : place * 4 + 4]
        row = values[place * width : (place + 1) * width]
        yield NewVector(post.number, post.content_hash, text_hash(text), scale, row)
