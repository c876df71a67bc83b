"""The vectors of accounts in memory. They are read once; later reads add those written since.

Most are read from parts, which have many vectors in the form that they have in memory.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bowerbird.model.accounts import Account
from bowerbird.model.words import VectorStoreState
from bowerbird.storage.words.vectors import VectorStore

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Integers
    from bowerbird.search.meaning.vectors import Block, Matrix, MatrixCache

_ROWS_PER_READ: Final = 4_000
# 13 MB of the first model.
_PARTS_PER_READ: Final = 8
# A matrix is cleaned when it has this many times the stored vectors, plus a few.
_DELETED_FACTOR, _DELETED_SLACK = 1.5, 1_000
_LAST: Final = 2**63 - 1


class Matrices:
    def __init__(self, store: VectorStore, cache_bytes: int) -> None:
        self._store = store
        self._cache_bytes = cache_bytes
        self._cache: MatrixCache | None = None
        self._reading: dict[Any, asyncio.Lock] = {}
        self._settling: dict[Any, asyncio.Future[Matrix]] = {}

    async def of(self, account: Account, store: VectorStoreState) -> "Matrix":
        from bowerbird.search.meaning.vectors import MatrixCache  # noqa: PLC0415 - imports numpy

        if self._cache is None:
            self._cache = MatrixCache(self._cache_bytes)
        key = (account.account_id, account.epoch, store.model)
        found = self._cache.get(key)
        if found is not None and _is_fresh(found, store):
            self._settle(key, found)
            return found
        # One request reads; concurrent ones wait for its result.
        async with self._reading.setdefault(key, asyncio.Lock()):
            found = self._cache.get(key)
            if found is None or not _is_fresh(found, store):
                found = await self._refreshed(account, store, found)
                self._cache.put(key, found)
        self._reading.pop(key, None)
        return found

    def _settle(self, key: Any, matrix: "Matrix") -> None:
        """Prepares a matrix for further scans: not the first one, which should not wait for it."""
        if matrix.is_settled or key in self._settling:
            return

        def keep(settling: "asyncio.Future[Matrix]") -> None:
            del self._settling[key]
            if self._cache is not None and not settling.cancelled():
                settled = settling.result()
                if self._cache.get(key) is matrix:
                    self._cache.put(key, settled)

        self._settling[key] = asyncio.ensure_future(asyncio.to_thread(matrix.settled))
        self._settling[key].add_done_callback(keep)

    async def _refreshed(
        self, account: Account, store: VectorStoreState, found: "Matrix | None"
    ) -> "Matrix":
        from bowerbird.search.meaning.vectors import Block, Matrix  # noqa: PLC0415 - imports numpy

        if found is None or found.dimensions not in (0, store.dimensions):
            found = Matrix(0, invalidations=store.invalidations)
        matrix = found
        after = (matrix.generation, _LAST)
        if not matrix.blocks:
            matrix, after = await self._stored_together(account, store, matrix)
        while rows := await self._rows(account, store, after):
            after = (rows[-1][3], rows[-1][0])
            stored = [row[:3] for row in rows]
            block = await asyncio.to_thread(Block.of, stored, store.dimensions)
            emptied = [number for number, scales, *_ in rows if not scales]
            generation = max(matrix.generation, after[0])
            matrix = await asyncio.to_thread(_with_rows, matrix, block, emptied, generation)
            if len(rows) < _ROWS_PER_READ:
                break
        if matrix.invalidations < store.invalidations or _has_many_deleted(matrix, store):
            matrix = await self._without_deleted(account, store, matrix)
        generation = max(matrix.generation, store.generation)
        if found.blocks:
            matrix = await asyncio.to_thread(matrix.merged)
        return replace(matrix, generation=generation)

    async def _stored_together(
        self, account: Account, store: VectorStoreState, matrix: "Matrix"
    ) -> "tuple[Matrix, tuple[int, int]]":
        """The matrix with all stored parts, and the last row of these."""
        after = (matrix.generation, _LAST)
        while True:
            parts = await self._store.parts(account.account_id, store.model, after, _PARTS_PER_READ)
            if parts:
                after = parts[-1][0], parts[-1][1]
                matrix = await asyncio.to_thread(_with_parts, matrix, parts, store.dimensions)
            if len(parts) < _PARTS_PER_READ:
                return matrix, after

    async def _without_deleted(
        self, account: Account, store: VectorStoreState, matrix: "Matrix"
    ) -> "Matrix":
        """Drops the posts without a stored vector; a stale vector is still stored."""
        from bowerbird.search.meaning.arrays import Numbers  # noqa: PLC0415 - imports numpy

        text = await self._store.number_text(account.account_id, store.model)
        numbers = await asyncio.to_thread(Numbers.read, text)
        cleaned = await asyncio.to_thread(matrix.only, numbers)
        stale = max(len(numbers) - store.embedded, 0)
        return replace(cleaned, invalidations=store.invalidations, stale=stale)

    async def _rows(
        self, account: Account, store: VectorStoreState, after: tuple[int, int]
    ) -> Sequence[Sequence[Any]]:
        return await self._store.rows_since(account.account_id, store.model, after, _ROWS_PER_READ)


def _is_fresh(matrix: "Matrix", store: VectorStoreState) -> bool:
    """Whether the matrix has every vector of the store, and few of deleted posts.

    The rows can be newer than `store`, so either counter of the matrix can be ahead.
    """
    return (
        matrix.generation >= store.generation
        and matrix.invalidations >= store.invalidations
        and not _has_many_deleted(matrix, store)
    )


def _has_many_deleted(matrix: "Matrix", store: VectorStoreState) -> bool:
    """Deleted posts stay in a matrix, so it grows beyond the store until it is cleaned."""
    stored = store.embedded + matrix.stale
    return matrix.posts > _DELETED_FACTOR * stored + _DELETED_SLACK


def _with_parts(matrix: "Matrix", parts: Sequence[Sequence[Any]], dimensions: int) -> "Matrix":
    from bowerbird.search.meaning.vectors import Block  # noqa: PLC0415 - imports numpy

    for written, _, content in parts:
        block, emptied = Block.of_part(content, dimensions)
        matrix = _with_rows(matrix, block, emptied, written)
    return matrix


def _with_rows(
    matrix: "Matrix", block: "Block", emptied: "Sequence[int] | Integers", generation: int
) -> "Matrix":
    from bowerbird.search.meaning.arrays import np  # noqa: PLC0415 - imports numpy

    if len(emptied):
        matrix = matrix.without(np.asarray(emptied, np.int64))
    return matrix.with_block(block, generation)
