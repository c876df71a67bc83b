"""Computes the missing vectors of an account. An interrupted build continues where it stopped."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird.clock import Clock, month_of
from bowerbird.library.access import plans
from bowerbird.library.access.turns import lock_library
from bowerbird.library.vectors.sweeps import text_hash, text_of_rendering
from bowerbird.model.accounts import Account
from bowerbird.model.words import PART_POSTS, NewVector, UnembeddedPost, VectorStoreState
from bowerbird.search.meaning.embedding import POST_THREADS, Embedder
from bowerbird.search.meaning.models import Models, needs_second_model
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.words.vectors import BuildProgress, VectorPart, VectorStore

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats

Progress = Callable[[int, int], Awaitable[None]]

# Half a second of work, which is the most that an interruption loses.
_BATCH: Final = 32 * POST_THREADS
# Looking for the language of a post takes 0.1 ms.
_EXAMINED: Final = 256
# A post that changes while it is embedded is embedded again in the next pass.
_MAX_PASSES: Final = 3
_LAST: Final = 2**63 - 1


class VectorBuilds:
    def __init__(self, database: Database, models: Models, clock: Clock) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._store = VectorStore(database)
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)
        # Totals since the process started, for the metrics.
        self.embedded = 0
        self.seconds = 0.0

    async def build(self, account_id: int, progress: Progress) -> int:
        """Embeds the posts without a vector; returns their number.

        The second model embeds all posts of an account as soon as one of them needs it: a query in
        any language then finds posts in every other.
        """
        embedder, second = self._models.current, self._models.second
        if embedder is None:
            raise plans.model_missing()
        embedded = await self._build(account_id, embedder, progress)
        await self._store_parts(account_id, embedder)
        if second is None or second.problem is not None:
            return embedded
        if await self._needs(account_id, embedder, second):
            embedded = max(embedded, await self._build(account_id, second, progress))
            await self._store_parts(account_id, second)
        return embedded

    async def _build(self, account_id: int, embedder: Embedder, progress: Progress) -> int:
        embedded = 0
        for _ in range(_MAX_PASSES):
            account = await self._accounts.by_id(account_id, month_of(self._clock()))
            if account is None or account.is_free:
                break
            store = await self._get_or_create(account, embedder)
            if store.is_built and store.embedded >= account.total:
                break
            embedded += await self._pass(account, store, embedder, progress)
            await self._store.mark_built(account_id, embedder.identity)
        return embedded

    async def _needs(self, account_id: int, embedder: Embedder, second: Embedder) -> bool:
        """Whether the account has vectors of the second model, or a post that needs them."""
        account = await self._accounts.by_id(account_id, month_of(self._clock()))
        stores = {store.model: store for store in await self._store.stores(account_id)}
        if account is None or account.is_free or second.identity in stores:
            return second.identity in stores
        store = stores.get(embedder.identity)
        if store is None:
            return False
        first = store.examined_below
        while posts := await self._store.posts(account, first, _EXAMINED):
            if await asyncio.to_thread(_has_foreign, posts):
                return True
            first = posts[-1].number + 1
        if first > store.examined_below:
            await self._store.mark_examined(account_id, store, first)
        return False

    async def _store_parts(self, account_id: int, embedder: Embedder) -> None:
        """Stores vectors together, which the first search after a start reads faster."""
        stores = await self._store.stores(account_id)
        store = next((each for each in stores if each.model == embedder.identity), None)
        if store is None or not store.dimensions:
            return
        after = (0, 0)
        for written, number, posts in await self._store.part_ends(account_id, store.model):
            last = (written, number)
            count = await self._store.count_between(account_id, store.model, after, last)
            # Posts were deleted or embedded again since.
            if count != posts:
                await self._store_part(account_id, store, after, last, count)
            after = last
        end = (_LAST, _LAST)
        while await self._store.count_between(account_id, store.model, after, end) >= PART_POSTS:
            after = await self._store_part(account_id, store, after, None, PART_POSTS)

    async def _store_part(
        self,
        account_id: int,
        store: VectorStoreState,
        after: tuple[int, int],
        last: tuple[int, int] | None,
        count: int,
    ) -> tuple[int, int]:
        """Stores the next rows together, up to `last`; returns the last row."""
        rows = []
        if count:
            rows = list(await self._store.rows_since(account_id, store.model, after, count))
        if last is not None:
            rows = [row for row in rows if (row[3], row[0]) <= last]
        end = last or (rows[-1][3], rows[-1][0])
        content = await asyncio.to_thread(_part, rows, store.dimensions)
        part = VectorPart(end[0], end[1], len(rows), content)

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            await self._store.put_part(transaction, account_id, store.model, part)

        await self._database.write(work)
        return end

    async def _get_or_create(self, account: Account, embedder: Embedder) -> VectorStoreState:
        for _ in range(2):
            for store in await self._store.stores(account.account_id):
                if store.model == embedder.identity:
                    return store
            await self._store.create(
                account.account_id, embedder.identity, embedder.name, self._clock()
            )
        raise plans.account_gone()

    async def _pass(
        self, account: Account, store: VectorStoreState, embedder: Embedder, progress: Progress
    ) -> int:
        """Goes through the bookmarks once, from the first number that may lack a vector."""
        embedded, first, is_complete = 0, store.complete_below, True
        complete_below = first
        while posts := await self._store.missing(account, store.model, first, _BATCH):
            vectors, dimensions = await self._embed(embedder, posts)
            store = _with_dimensions(store, dimensions)
            first = posts[-1].number + 1
            complete_below = first if is_complete else complete_below
            build = BuildProgress(complete_below, store.invalidations)
            all_written = await self._write(account, store, vectors, build)
            if all_written is None:
                # The store was removed during this pass; the next pass creates a new one.
                break
            is_complete = all_written and is_complete
            embedded += len(posts)
            await progress(min(store.embedded + embedded, account.total), account.total)
        return embedded

    async def _embed(
        self, embedder: Embedder, posts: Sequence[UnembeddedPost]
    ) -> tuple[list[NewVector], int]:
        started = time.perf_counter()
        texts = await asyncio.to_thread(
            lambda: [text_of_rendering(post.rendering) for post in posts]
        )
        matrices = await embedder.embed_posts(texts)
        self.embedded += len(posts)
        self.seconds += time.perf_counter() - started
        vectors = await asyncio.to_thread(_pack, posts, texts, matrices)
        return vectors, max((matrix.shape[1] for matrix in matrices if len(matrix)), default=0)

    async def _write(
        self,
        account: Account,
        store: VectorStoreState,
        vectors: list[NewVector],
        build: BuildProgress,
    ) -> bool | None:
        async def work(transaction: Transaction) -> bool | None:
            await lock_library(self._libraries, transaction, account.account_id)
            return await self._store.put(transaction, account.account_id, store, vectors, build)

        return await self._database.write(work)


def _has_foreign(posts: Sequence[UnembeddedPost]) -> bool:
    texts = (text_of_rendering(post.rendering, has_names=False) for post in posts)
    return any(map(needs_second_model, texts))


def _part(rows: Sequence[Sequence[Any]], dimensions: int) -> bytes:
    from bowerbird.search.meaning.vectors import part_of  # noqa: PLC0415 - imports numpy

    return part_of([row[:3] for row in rows], dimensions)


def _pack(
    posts: Sequence[UnembeddedPost], texts: Sequence[str], matrices: "Sequence[Floats]"
) -> list[NewVector]:
    from bowerbird.search.meaning.vectors import pack  # noqa: PLC0415 - imports numpy

    return [
        NewVector(post.number, post.content_hash, text_hash(text), *pack(matrix))
        for post, text, matrix in zip(posts, texts, matrices, strict=True)
    ]


def _with_dimensions(store: VectorStoreState, dimensions: int) -> VectorStoreState:
    """The first vector decides. Vectors of another length cannot be compared with it."""
    if dimensions in (0, store.dimensions):
        return store
    if store.dimensions:
        raise plans.other_dimensions(dimensions, store.dimensions)
    return msgspec.structs.replace(store, dimensions=dimensions)
