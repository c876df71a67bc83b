"""Search by meaning: which vectors answer for an account, and which posts are nearest.

A matrix of an account is read once and then only what was written since. Questions are embedded
and matrices scanned on threads, never on the event loop.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from bowerbird.library.access import plans
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.vectors import VectorStoreState
from bowerbird.search.models import Models
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.vectors import VectorStore

if TYPE_CHECKING:
    from bowerbird.search.arrays import Floats
    from bowerbird.search.vectors import Matrix, MatrixCache, Numbers

_ROWS_AT_ONCE: Final = 4_000
_REMEMBERED_QUESTIONS: Final = 256
# Each is a byte a number that its account has used; 32 of 100,000 are 3 MB.
_REMEMBERED_NUMBERS: Final = 32
_OUTGROWN, _FEW_POSTS = 1.5, 1_000
_LAST: Final = 2**63 - 1
_CACHE_BYTES: Final = 256 * 1024 * 1024


class SemanticSearch:
    def __init__(
        self, database: Database, models: Models | None = None, cache_bytes: int = _CACHE_BYTES
    ) -> None:
        """Without models, as in the sandbox, no vector answers; all else is as with them."""
        self._store = VectorStore(database)
        self._models = models
        self._cache_bytes = cache_bytes
        self._matrices: MatrixCache | None = None
        self._reading: dict[Any, asyncio.Lock] = {}
        self._questions = LruCache(_REMEMBERED_QUESTIONS)
        self._wanted = LruCache(_REMEMBERED_NUMBERS)

    @property
    def problem(self) -> str | None:
        """Why nothing can be embedded at present, as far as this process knows."""
        return None if self._models is None else self._models.problem

    @property
    def model_name(self) -> str | None:
        current = None if self._models is None else self._models.current
        return None if current is None else current.name

    async def serving(
        self, account: Account, transaction: Transaction | None = None
    ) -> VectorStoreState | None:
        """The vectors that answer: of the present model, or of an older one until it is built."""
        if self._models is None:
            return None
        stores = await self._store.stores(account.account_id, transaction)
        current = self._models.current
        built = [store for store in stores if store.is_built]
        for store in built:
            if current is not None and store.model == current.identity:
                return store
        at_hand = [store for store in built if self._models.of(store.model, store.name)]
        # Vectors whose model is missing are there all the same: who asks learns what is missing.
        return next(iter(at_hand or (built if current is None else [])), None)

    async def building(
        self, account: Account, transaction: Transaction | None = None
    ) -> VectorStoreState | None:
        """The vectors of the present model, however far they are."""
        current = None if self._models is None else self._models.current
        if current is None:
            return None
        stores = await self._store.stores(account.account_id, transaction)
        return next((store for store in stores if store.model == current.identity), None)

    async def required(
        self, account: Account, store: VectorStoreState | None
    ) -> VectorStoreState | None:
        """`store` as `serving` found it. Refuses if there is none and the library is not empty."""
        if self._models is None:
            raise plans.no_vectors()
        return store if store is not None or not account.total else await self.require(account)

    async def require(
        self, account: Account, transaction: Transaction | None = None
    ) -> VectorStoreState | None:
        """The vectors that answer; None for an empty library, which needs none."""
        if self._models is None:
            raise plans.no_vectors()
        store = await self.serving(account, transaction)
        if store is None and account.total:
            building = await self.building(account, transaction)
            embedded = 0 if building is None else building.embedded
            problem = await self.build_problem(account, transaction)
            raise plans.not_built(embedded, account.total, problem)
        return store

    async def build_problem(
        self, account: Account, transaction: Transaction | None = None
    ) -> str | None:
        """Why an account's build stands still, as far as any process knows."""
        if self.problem is not None:
            return self.problem
        error = await self._store.build_error(account.account_id, transaction)
        return None if error is None else plans.reason(error)

    async def nearest(
        self,
        account: Account,
        store: VectorStoreState,
        question: "Floats",
        wanted: "Numbers",
        most: int,
    ) -> list[int]:
        """Of the posts that are wanted, those nearest to the question, best first."""
        matrix = await self._matrix(account, store)
        return await asyncio.to_thread(matrix.nearest, question, wanted, most)

    async def question(self, store: VectorStoreState, text: str) -> "Floats":
        """The vector of a text, by the model that made the stored ones."""
        key = (store.model, text)
        found: Floats | None = self._questions.get(key)
        if found is None:
            model = None if self._models is None else self._models.of(store.model, store.name)
            if model is None:
                raise plans.model_missing()
            found = await model.question(text)
            if len(found) != store.dimensions:
                raise plans.other_dimensions(len(found), store.dimensions)
            self._questions.put(key, found)
        return found

    async def rows_of(
        self, account: Account, store: VectorStoreState, number: int
    ) -> "Floats | None":
        """The vectors of one post; None while it has none."""
        matrix = await self._matrix(account, store)
        return await asyncio.to_thread(matrix.rows_of, number)

    async def wanted(self, key: Any, text: str | None) -> "Numbers":
        """A set of numbers, made of a database's text and kept under a key."""
        from bowerbird.search.vectors import Numbers  # noqa: PLC0415 - numpy, at first need

        numbers = await asyncio.to_thread(Numbers.read, text)
        self._wanted.put(key, numbers)
        return numbers

    def remembered(self, key: Any) -> "Numbers | None":
        numbers: Numbers | None = self._wanted.get(key)
        return numbers

    async def _matrix(self, account: Account, store: VectorStoreState) -> "Matrix":
        from bowerbird.search.vectors import MatrixCache  # noqa: PLC0415 - numpy, at first need

        if self._matrices is None:
            self._matrices = MatrixCache(self._cache_bytes)
        key = (account.account_id, account.epoch, store.model)
        found = self._matrices.get(key)
        if found is not None and _is_fresh(found, store):
            return found
        # One reads, the others wait for what it finds.
        async with self._reading.setdefault(key, asyncio.Lock()):
            found = self._matrices.get(key)
            if found is None or not _is_fresh(found, store):
                found = await self._refreshed(account, store, found)
                self._matrices.put(key, found)
        self._reading.pop(key, None)
        return found

    async def _refreshed(
        self, account: Account, store: VectorStoreState, found: "Matrix | None"
    ) -> "Matrix":
        from bowerbird.search.vectors import Block, Matrix  # noqa: PLC0415 - numpy, at first need

        if found is None or found.dimensions not in (0, store.dimensions):
            found = Matrix(0, invalidations=store.invalidations)
        matrix = found
        after = (matrix.generation, _LAST)
        while rows := await self._rows(account, store, after):
            after = (rows[-1][3], rows[-1][0])
            stored = [row[:3] for row in rows]
            block = await asyncio.to_thread(Block.of, stored, store.dimensions)
            generation = max(matrix.generation, after[0])
            matrix = await asyncio.to_thread(matrix.with_block, block, generation)
            if len(rows) < _ROWS_AT_ONCE:
                break
        if matrix.invalidations < store.invalidations or _has_outgrown(matrix, store):
            matrix = await self._without_stale(account, store, matrix)
        generation = max(matrix.generation, store.generation)
        return Matrix(generation, matrix.blocks, matrix.invalidations)

    async def _without_stale(
        self, account: Account, store: VectorStoreState, matrix: "Matrix"
    ) -> "Matrix":
        """A post whose text changed is not found by its old one."""
        from bowerbird.search.vectors import Numbers  # noqa: PLC0415 - numpy, at first need

        text = await self._store.number_text(account.account_id, store.model)
        numbers = await asyncio.to_thread(Numbers.read, text)
        return await asyncio.to_thread(matrix.only, numbers, store.invalidations)

    async def _rows(
        self, account: Account, store: VectorStoreState, after: tuple[int, int]
    ) -> Sequence[Sequence[Any]]:
        return await self._store.rows_since(account.account_id, store.model, after, _ROWS_AT_ONCE)


def _is_fresh(matrix: "Matrix", store: VectorStoreState) -> bool:
    """Whether it holds all that the store did, and nothing that had become stale.

    Rows may be newer than the state for which they were read, so either counter may be ahead.
    """
    return (
        matrix.generation >= store.generation
        and matrix.invalidations >= store.invalidations
        and not _has_outgrown(matrix, store)
    )


def _has_outgrown(matrix: "Matrix", store: VectorStoreState) -> bool:
    """Whether much was deleted, which a matrix is not told of one by one."""
    return matrix.posts > _OUTGROWN * store.embedded + _FEW_POSTS
