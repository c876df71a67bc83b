"""Gives every post of an account a vector, and takes up again where it was interrupted."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from bowerbird.clock import Clock, month_of
from bowerbird.library.access import plans
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.vectors.embedding_text import text_hash, text_of_rendering
from bowerbird.model.accounts import Account
from bowerbird.model.vectors import NewVector, UnembeddedPost, VectorStoreState
from bowerbird.search.embedding import Embedder
from bowerbird.search.models import Models
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.vectors import Progress as Extent
from bowerbird.storage.vectors import VectorStore

if TYPE_CHECKING:
    from bowerbird.search.arrays import Floats

Progress = Callable[[int, int], Awaitable[None]]

# Half a second of work: what is interrupted loses no more.
_BATCH: Final = 32
# What changes while it is embedded is embedded again, but not without end.
_PASSES: Final = 3


class VectorBuilds:
    def __init__(self, database: Database, models: Models, clock: Clock) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._store = VectorStore(database)
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)
        # Since the start of this process, for its metrics.
        self.embedded = 0
        self.seconds = 0.0

    async def build(self, account_id: int, progress: Progress) -> int:
        """Embeds what lacks a vector; returns how many posts that were."""
        embedder = self._models.current
        if embedder is None:
            raise plans.model_missing()
        made = 0
        for _ in range(_PASSES):
            account = await self._accounts.by_id(account_id, month_of(self._clock()))
            if account is None or account.is_free:
                break
            store = await self._opened(account, embedder)
            if store.is_built and store.embedded >= account.total:
                break
            made += await self._pass(account, store, embedder, progress)
            await self._store.note_built(account_id, embedder.identity)
        return made

    async def _opened(self, account: Account, embedder: Embedder) -> VectorStoreState:
        for _ in range(2):
            for store in await self._store.stores(account.account_id):
                if store.model == embedder.identity:
                    return store
            await self._store.make(
                account.account_id, embedder.identity, embedder.name, self._clock()
            )
        raise plans.account_gone()

    async def _pass(
        self, account: Account, store: VectorStoreState, embedder: Embedder, progress: Progress
    ) -> int:
        """Once through the numbers, from where all below are done."""
        made, first, is_whole = 0, store.complete_below, True
        below = first
        while posts := await self._store.missing(account, store.model, first, _BATCH):
            vectors, dimensions = await self._embedded(embedder, posts)
            store = _with_dimensions(store, dimensions)
            first = posts[-1].number + 1
            below = first if is_whole else below
            extent = Extent(below, store.invalidations)
            fits = await self._write(account, store, vectors, extent)
            if fits is None:
                # The store was removed meanwhile; another pass makes a new one.
                break
            is_whole = fits and is_whole
            made += len(posts)
            await progress(min(store.embedded + made, account.total), account.total)
        return made

    async def _embedded(
        self, embedder: Embedder, posts: Sequence[UnembeddedPost]
    ) -> tuple[list[NewVector], int]:
        started = time.perf_counter()
        texts = await asyncio.to_thread(
            lambda: [text_of_rendering(post.rendering) for post in posts]
        )
        matrices = await embedder.embed_posts(texts)
        self.embedded += len(posts)
        self.seconds += time.perf_counter() - started
        made = await asyncio.to_thread(_packed, posts, texts, matrices)
        return made, max((matrix.shape[1] for matrix in matrices if len(matrix)), default=0)

    async def _write(
        self, account: Account, store: VectorStoreState, made: list[NewVector], extent: Extent
    ) -> bool | None:
        async def work(transaction: Transaction) -> bool | None:
            await lock_library(self._libraries, transaction, account.account_id)
            return await self._store.put(transaction, account.account_id, store, made, extent)

        return await self._database.write(work)


def _packed(
    posts: Sequence[UnembeddedPost], texts: Sequence[str], matrices: "Sequence[Floats]"
) -> list[NewVector]:
    from bowerbird.search.vectors import pack  # noqa: PLC0415 - numpy, at first need

    return [
        NewVector(post.number, post.content_hash, text_hash(text), *pack(matrix))
        for post, text, matrix in zip(posts, texts, matrices, strict=True)
    ]


def _with_dimensions(store: VectorStoreState, dimensions: int) -> VectorStoreState:
    """The first vector decides; one of another length cannot be compared with it."""
    if dimensions in (0, store.dimensions):
        return store
    if store.dimensions:
        raise plans.other_dimensions(dimensions, store.dimensions)
    return msgspec.structs.replace(store, dimensions=dimensions)
