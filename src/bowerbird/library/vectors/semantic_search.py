"""Search by meaning: which vectors serve an account, and which posts are nearest to a query.

Queries are embedded and matrices are scanned on threads, never on the event loop. The
vectors of an account are read into memory once, most of them from parts; later reads add those
written since.
"""

import asyncio
import ctypes
import math
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird.errors import Refusal
from bowerbird.library.access import plans
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.words import VectorStoreState
from bowerbird.search.meaning.embedding import NO_FLOOR
from bowerbird.search.meaning.models import Models, first_share, is_known, is_understood
from bowerbird.storage.database import Database, Reader
from bowerbird.storage.words.vectors import VectorStore

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats, Integers, Nearness, Numbers
    from bowerbird.search.meaning.vectors import Groups

from dataclasses import replace
from typing import TYPE_CHECKING

from bowerbird.storage.stores import Service

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Integers
    from bowerbird.search.meaning.vectors import Block, Matrix, MatrixCache


_ROWS_PER_READ: Final = 4_000
# 13 MB of the first model.
_PARTS_PER_READ: Final = 8
# A matrix is cleaned when it has this many times the stored vectors, plus a few.
_DELETED_FACTOR, _DELETED_SLACK = 1.5, 1_000
# Searches that began with an earlier matrix have ended by then.
_SEARCH_S: Final = 1.0
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
                returning = threading.Timer(_SEARCH_S, _return_freed_memory)
                returning.daemon = True
                returning.start()

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


def _return_freed_memory() -> None:
    """Returns freed memory to the system: copies of models and vectors, which loading them made.

    Otherwise the C library of Linux keeps it, because blocks that are in use come after it.
    """
    # Other C libraries do not have it.
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


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


# Two entries per query and model, and one per name of a label that is suggested.
_CACHED_QUERIES: Final = 4_096
# One byte per bookmark number that the account has used: 32 sets of 100,000 take 3 MB.
_CACHED_NUMBER_SETS: Final = 32
# Of all posts: 1.2 MB for 100,000. A list that finds nothing asks again without its flags, and a
# next page asks the same. A long query has its likeness too.
_CACHED_SCANS: Final = 8
# Of the first model, if a post is compared with others.
_SHARE_OF_POSTS: Final = 0.5
# Posts that tell how near an average post of the library is; fewer than the second tell too little.
_SAMPLE: Final = 300
_FEW: Final = 12
_CACHE_BYTES: Final = 256 * 1024 * 1024


class SemanticSearch(Service):
    def __init__(
        self, database: Database, models: Models | None = None, cache_bytes: int = _CACHE_BYTES
    ) -> None:
        """Without models, no vectors are used; everything else works the same."""
        super().__init__(database)
        self._models = models
        self._matrices = Matrices(self._stores.vectors, cache_bytes)
        self._scans = LruCache(_CACHED_SCANS)
        self._queries = LruCache(_CACHED_QUERIES)
        self._number_sets = LruCache(_CACHED_NUMBER_SETS)

    @property
    def problem(self) -> str | None:
        """Why this process cannot embed anything at the moment; None if it can."""
        return None if self._models is None else self._models.problem

    @property
    def can_build(self) -> bool:
        return self.model_name is not None and self.problem is None

    @property
    def model_name(self) -> str | None:
        current = None if self._models is None else self._models.current
        return None if current is None else current.name

    async def serving(self, account: Account) -> VectorStoreState | None:
        """The vectors used for answers: of an older model until the present one is built."""
        if self._models is None:
            return None
        return self._serving(await self._stores.vectors.stores(account.account_id))

    async def building(self, account: Account) -> VectorStoreState | None:
        """The vectors of the present model, however far their build is."""
        return self._building(await self._stores.vectors.stores(account.account_id))

    async def require(
        self, account: Account, reader: Reader | None = None
    ) -> VectorStoreState | None:
        """The vectors used for answers; None for an empty library, which needs none."""
        if self._models is None:
            raise plans.no_vectors()
        stores = await self._stores.vectors.stores(account.account_id, reader)
        serving = self._serving(stores)
        if serving is None and account.total:
            error = await self._stores.vectors.build_error(account.account_id, reader)
            raise self._not_built(account, stores, error)
        return serving

    async def required(
        self, account: Account, store: VectorStoreState | None
    ) -> VectorStoreState | None:
        """`store` as `serving` read it. Refuses if it is None and the library is not empty."""
        if self._models is None:
            raise plans.no_vectors()
        return store if store is not None or not account.total else await self.require(account)

    async def build_problem(self, account: Account) -> str | None:
        """Why an account's build does not continue, as far as any process knows."""
        if self.problem is not None:
            return self.problem
        return self._problem(await self._stores.vectors.build_error(account.account_id))

    def _serving(self, stores: Sequence[VectorStoreState]) -> VectorStoreState | None:
        if self._models is None:
            return None
        current, second = self._models.identities
        built = [store for store in stores if store.is_built and store.model != second]
        at_hand = [store for store in built if self._models.of(store.model, store.name)]
        at_hand.sort(key=lambda store: store.model != current)
        # Vectors whose model is missing are returned too: the caller then reports the model.
        found = next(iter(at_hand or ([] if current else built)), None)
        return found and self._with_usable_second(self._with_second(found, stores))

    def _building(self, stores: Sequence[VectorStoreState]) -> VectorStoreState | None:
        if self._models is None or self._models.current is None:
            return None
        current = self._models.current.identity
        found = next((store for store in stores if store.model == current), None)
        return found and self._with_second(found, stores)

    def _with_second(
        self, store: VectorStoreState, stores: Sequence[VectorStoreState]
    ) -> VectorStoreState:
        assert self._models is not None
        _, second = self._models.identities
        found = next((each for each in stores if second and each.model == second), None)
        return msgspec.structs.replace(store, second=found)

    def _with_usable_second(self, store: VectorStoreState) -> VectorStoreState:
        """The first model answers alone while the second does not work."""
        model = None if self._models is None else self._models.second
        if store.second is None or model is None or model.problem is None:
            return store
        second = msgspec.structs.replace(store.second, is_built=False)
        return msgspec.structs.replace(store, second=second)

    def _problem(self, build_error: str | None) -> str | None:
        if self.problem is not None or build_error is None:
            return self.problem
        return plans.reason(build_error)

    def _not_built(
        self, account: Account, stores: Sequence[VectorStoreState], build_error: str | None
    ) -> Refusal:
        building = self._building(stores)
        embedded = 0 if building is None else building.embedded
        return plans.not_built(embedded, account.total, self._problem(build_error))

    async def nearness(self, account: Account, store: VectorStoreState, text: str) -> "Nearness":
        """How near each post with a vector is to a query, by both models if it has both."""
        key = (account.account_id, account.epoch, store.version, text)
        known: Nearness | None = self._scans.get(key)
        if known is not None:
            return known
        near, other = await asyncio.gather(
            self._by_model(account, store, text), self._by_second_model(account, store, text)
        )
        if other is not None:
            near = await _joined(near, other, first_share(text))
        if other is not None or store.built_second is None:
            self._scans.put(key, near)
        return near

    async def knows(self, store: VectorStoreState, text: str) -> bool:
        """Whether a model knows words of a query. Not if they are nonsense, or only signs."""
        if not any(map(str.isalnum, text)):
            return False
        second = self._letters_of_second(store.built_second, text)
        found = await asyncio.gather(self._letters_per_piece(store, text), second)
        return is_known(text, [each for each in found if each is not None])

    def understands(self, store: VectorStoreState, text: str) -> bool:
        """Whether a model knows the script of a query. A service may know all."""
        has_second = store.built_second is not None
        return self._floor(store) == NO_FLOOR or is_understood(text, has_second=has_second)

    async def _letters_of_second(self, store: VectorStoreState | None, text: str) -> float | None:
        with suppress(Refusal):
            return None if store is None else await self._letters_per_piece(store, text)
        return None

    async def _letters_per_piece(self, store: VectorStoreState, text: str) -> float:
        key = (store.model, "pieces", text)
        found: float | None = self._queries.get(key)
        if found is None:
            model = None if self._models is None else self._models.of(store.model, store.name)
            found = math.inf if model is None else await model.letters_per_piece(text)
            self._queries.put(key, found)
        return found

    async def nearness_of_post(
        self, account: Account, store: VectorStoreState, number: int
    ) -> "Nearness | None":
        """How near each post is to one; None if that one has no vector yet."""
        rows = await self.rows_of(account, store, number)
        if rows is None:
            return None
        near = await self._scan(account, store, rows)
        second = store.built_second
        rows = None if second is None else await self.rows_of(account, second, number)
        if second is not None and rows is not None:
            near = await _joined(near, await self._scan(account, second, rows), _SHARE_OF_POSTS)
        return near

    async def likeness(
        self, account: Account, store: VectorStoreState, numbers: "Integers", shares: "Floats"
    ) -> "Floats":
        """How near each post is to some of them, by their shares, less how near to their middle."""
        from bowerbird.search.meaning.vectors import likeness  # noqa: PLC0415 - imports numpy

        place = (account.account_id, account.epoch, store.version)
        key = (*place, numbers.tobytes(), shares.tobytes())
        found: Floats | None = self._scans.get(key)
        if found is None:
            stores = [each for each in (store, store.built_second) if each is not None]
            matrices = [await self._matrices.of(account, each) for each in stores]
            found = await asyncio.to_thread(likeness, matrices, numbers, shares)
            self._scans.put(key, found)
        return found

    async def label_nearness(
        self,
        account: Account,
        store: VectorStoreState,
        asked: Sequence[int],
        labels: "Groups",
        names: Sequence[str],
    ) -> "Floats | None":
        """How near each label is to some posts; `label_votes` has the scale.

        One row per asked post; `labels`: their posts. None if the library is too small.
        """
        sample = (await self._matrices.of(account, store)).sample(_SAMPLE)
        if len(sample) < _FEW:
            return None
        from bowerbird.search.label_votes import Nearness, with_posts  # noqa: PLC0415 - numpy
        from bowerbird.search.meaning.arrays import np  # noqa: PLC0415 - imports numpy

        stores = [each for each in (store, store.built_second) if each is not None]
        matrices = [await self._matrices.of(account, each) for each in stores]

        def compare() -> Nearness:
            groups = with_posts(labels, asked, sample)
            found = [
                matrix.sums(groups, each.dimensions)
                for matrix, each in zip(matrices, stores, strict=True)
            ]
            return Nearness(found, labels.count, len(asked))

        near = await asyncio.to_thread(compare)
        places = near.nearest
        with suppress(Refusal):
            vectors = [
                np.stack([await self.question(each, names[place]) for place in places])
                for each in stores
            ]
            near.add_names(places, vectors)
        return near.of_labels

    async def _by_model(self, account: Account, store: VectorStoreState, text: str) -> "Nearness":
        # The first search after a start loads a model and reads vectors.
        question, matrix = await asyncio.gather(
            self.question(store, text), self._matrices.of(account, store)
        )
        return await asyncio.to_thread(matrix.nearness, question, self._floor(store))

    async def _by_second_model(
        self, account: Account, store: VectorStoreState, text: str
    ) -> "Nearness | None":
        """None if the account does not need the model, or if it does not work."""
        if store.built_second is None:
            return None
        try:
            return await self._by_model(account, store.built_second, text)
        except Refusal:
            return None

    async def _scan(
        self, account: Account, store: VectorStoreState, question: "Floats"
    ) -> "Nearness":
        matrix = await self._matrices.of(account, store)
        return await asyncio.to_thread(matrix.nearness, question, self._floor(store))

    def _floor(self, store: VectorStoreState) -> float:
        model = None if self._models is None else self._models.of(store.model, store.name)
        return NO_FLOOR if model is None else model.floor

    async def question(self, store: VectorStoreState, text: str) -> "Floats":
        """The vector of a query text, from the model of the stored vectors."""
        key = (store.model, text)
        found: Floats | None = self._queries.get(key)
        if found is None:
            model = None if self._models is None else self._models.of(store.model, store.name)
            if model is None:
                raise plans.model_missing()
            found = await model.embed_query(text)
            if len(found) != store.dimensions:
                raise plans.other_dimensions(len(found), store.dimensions)
            self._queries.put(key, found)
        return found

    async def rows_of(
        self, account: Account, store: VectorStoreState, number: int
    ) -> "Floats | None":
        """The vectors of one post; None if it has none yet."""
        matrix = await self._matrices.of(account, store)
        return await asyncio.to_thread(matrix.rows_of, number)

    async def cache_numbers(self, key: Any, text: str | None) -> "Numbers":
        """Parses the database's list of numbers and caches it under the key."""
        from bowerbird.search.meaning.arrays import Numbers  # noqa: PLC0415 - imports numpy

        numbers = await asyncio.to_thread(Numbers.read, text)
        self._number_sets.put(key, numbers)
        return numbers

    def cached_numbers(self, key: Any) -> "Numbers | None":
        numbers: Numbers | None = self._number_sets.get(key)
        return numbers


async def _joined(first: "Nearness", second: "Nearness", share: float) -> "Nearness":
    from bowerbird.search.meaning import arrays  # noqa: PLC0415 - imports numpy

    return await asyncio.to_thread(arrays.joined, first, second, share=share)
