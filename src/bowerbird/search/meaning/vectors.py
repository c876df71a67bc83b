"""Stores vectors of posts in a compact form, and finds the nearest ones by an exact scan.

The form is one byte per value and one scale per row, in the database and in memory. In memory, the
rows are the columns of a matrix. The scan multiplies bytes; the rows that come out best are
multiplied again as 32-bit floats.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import Any, Final, TypeVar

from bowerbird.search.meaning.arrays import (
    LARGEST_TABLE,
    Floats,
    Integers,
    NDArray,
    np,
    parse_numbers,
)
from bowerbird.search.meaning.byte_products import (
    Bytes,
    product,
    rounded,
    sums_of,
    transposed,
)
from bowerbird.search.meaning.comparing import inexact_places
from bowerbird.search.meaning.embedding import NO_FLOOR
from bowerbird.search.meaning.nearness import Nearness

T = TypeVar("T")

_MAX_INT8: Final = 127
# Added to the values of rows that are compared exactly.
_SHIFT: Final = 128
# Blocks are merged up to this size. Merging copies both, so larger blocks stay separate.
_BLOCK_ROWS: Final = 16_384
# Below this share of a block, selecting the rows is faster than scanning all of them.
_SPARSE_SHARE: Final = 0.2
# Replaces the number of a post whose rows are no longer valid. No real post has this number.
_REMOVED: Final = -1
# Above this share of removed rows, the block is copied without them.
_MAX_REMOVED_SHARE: Final = 0.25
# Above this many posts, memory limits the speed of a scan, and two threads read it nearly twice as
# fast. We use our own threads, because those of BLAS wait for each other by spinning.
_THREADED_POSTS: Final = 32_768
_THREADS: Final = min(os.cpu_count() or 1, 4)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="scanning")


def pack(vectors: Floats) -> tuple[bytes, bytes]:
    """Converts rows to (scales, values): one scale per row, one byte per value."""
    if not len(vectors):
        return b"", b""
    scales = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-12)) / _MAX_INT8
    values = np.rint(vectors / scales[:, None]).astype(np.int8)
    return scales.astype("<f4").tobytes(), values.tobytes()


def unpack(scales: bytes, values: bytes, dimensions: int) -> Floats:
    rows = np.frombuffer(values, np.int8).reshape(-1, dimensions).astype(np.float32)
    rows *= np.frombuffer(scales, "<f4")[:, None]
    return rows


@dataclass(frozen=True, slots=True)
class Block:
    """The numbers of some posts, and one or more rows per post, in the same order."""

    numbers: Integers
    pieces: Integers
    columns: Bytes
    scales: Floats
    # Of the values in each column.
    sums: Integers

    @classmethod
    def of(cls, stored: Sequence[Sequence[Any]], dimensions: int) -> "Block":
        """Builds a block from stored (number, scales, values); leaves out posts without rows."""
        valid = [
            (number, scales, values)
            for number, scales, values in stored
            if scales and len(values) * 4 == len(scales) * dimensions
        ]
        values = np.frombuffer(b"".join(values for _, _, values in valid), np.int8)
        columns = transposed(values.reshape(-1, dimensions))
        return cls(
            np.array([number for number, _, _ in valid], np.int64),
            np.array([len(scales) // 4 for _, scales, _ in valid], np.int64),
            columns,
            np.frombuffer(b"".join(scales for _, scales, _ in valid), "<f4"),
            sums_of(columns),
        )

    @property
    def rows(self) -> "NDArray[np.uint8]":
        """A copy of all rows, with 128 added."""
        return _shifted(self.columns)

    @property
    def size(self) -> int:
        parts = (self.columns, self.scales, self.sums, self.numbers, self.pieces)
        return sum(part.nbytes for part in parts)

    def without(self, numbers: Integers) -> "Block":
        """Drops posts that were embedded again: a later block contains their new rows."""
        return self._keep(~np.isin(self.numbers, numbers))

    def only(self, numbers: "Numbers") -> "Block":
        return self._keep(numbers.contains(self.numbers))

    def compact(self) -> "Block":
        """Copies the block without removed rows."""
        is_valid = self.numbers != _REMOVED
        if is_valid.all():
            return self
        is_row = np.repeat(is_valid, self.pieces)
        return Block(
            self.numbers[is_valid],
            self.pieces[is_valid],
            np.compress(is_row, self.columns, axis=1),
            self.scales[is_row],
            self.sums[is_row],
        )

    def merge(self, other: "Block") -> "Block":
        older, newer = self.compact(), other.compact()
        return Block(
            np.concatenate((older.numbers, newer.numbers)),
            np.concatenate((older.pieces, newer.pieces)),
            np.concatenate((older.columns, newer.columns), axis=1),
            np.concatenate((older.scales, newer.scales)),
            np.concatenate((older.sums, newer.sums)),
        )

    def _keep(self, is_kept: "NDArray[np.bool_]") -> "Block":
        """Only marks the other rows as removed at first: really removing them copies the block."""
        if is_kept.all():
            return self
        numbers = np.where(is_kept, self.numbers, _REMOVED)
        marked = replace(self, numbers=numbers)
        removed = np.count_nonzero(marked.numbers == _REMOVED)
        return marked.compact() if removed > _MAX_REMOVED_SHARE * len(self.numbers) else marked

    def places(self, candidates: "Numbers") -> Integers:
        """Where the candidates are in this block."""
        return np.flatnonzero(candidates.contains(self.numbers))

    def count(self, candidates: "Numbers") -> int:
        """How many of the candidates are in this block."""
        return int(np.count_nonzero(candidates.contains(self.numbers)))

    def is_sparse(self, count: int) -> bool:
        """Whether comparing this many posts one by one is faster than scanning all."""
        return count < _SPARSE_SHARE * len(self.numbers)

    def similarity(self, query: Floats, places: Integers) -> Floats:
        """About how similar the best piece of each post is; few posts are compared exactly."""
        if self.is_sparse(len(places)):
            return self.exact_similarity(query, places)
        similarity = self.approximate_similarity(query)
        return similarity if len(places) == len(similarity) else similarity[places]

    def approximate_similarity(self, query: Floats) -> Floats:
        """About how similar each post is, including removed ones."""
        products = [self._product(row) for row in np.atleast_2d(query)]
        return _best(reduce(np.maximum, products), self.pieces)

    def _product(self, query: Floats) -> Floats:
        values, scale = rounded(query)
        whole = product(self.columns, self.sums, values)
        similarity: Floats = whole * (self.scales * scale)
        return similarity

    def exact_similarity(self, query: Floats, places: Integers) -> Floats:
        """For places in ascending order."""
        chosen = self._rows_at(places)
        shift = _SHIFT * query.sum(axis=-1)
        rows = _shifted(self.columns[:, chosen])
        similarity = (rows.astype(np.float32) @ query.T - shift).T
        return _best((similarity * self.scales[chosen]).T, self.pieces[places])

    def rows_of(self, number: int) -> Floats | None:
        places = np.flatnonzero(self.numbers == number)
        if not len(places):
            return None
        chosen = self._rows_at(places)
        rows: Floats = _shifted(self.columns[:, chosen]).astype(np.float32)
        rows -= _SHIFT
        rows *= self.scales[chosen][:, None]
        return rows

    def _rows_at(self, places: Integers) -> Any:
        """An index that chooses the rows of some posts."""
        if len(self.scales) == len(self.numbers):
            return places
        is_post = np.zeros(len(self.numbers), np.bool_)
        is_post[places] = True
        return np.repeat(is_post, self.pieces)


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Some posts of a block, in the order of their places, and how similar each is to a query."""

    block: Block
    places: Integers
    scores: Floats


def nearness_of(
    parts: Sequence[BlockScores], query: Floats, floor: float, *, is_cut: bool
) -> Nearness:
    """Joins the posts of several blocks, and compares those exactly that a list depends on."""
    if not parts:
        return Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32), floor)
    scores = np.concatenate([part.scores for part in parts])
    inexact = inexact_places(scores, floor, is_cut=is_cut)
    start = 0
    for part in parts:
        end = start + len(part.places)
        first, last = np.searchsorted(inexact, (start, end))
        chosen = inexact[first:last]
        if len(chosen):
            scores[chosen] = part.block.exact_similarity(query, part.places[chosen - start])
        start = end
    numbers = np.concatenate([part.block.numbers[part.places] for part in parts])
    return Nearness(numbers, scores, floor)


# Weak references: a remembered scan must not keep a matrix in memory that is no longer used.
@dataclass(frozen=True, slots=True, weakref_slot=True)
class Matrix:
    """All vectors of one account and model, at one generation of the vector store."""

    generation: int
    blocks: tuple[Block, ...] = ()
    # How many times stored vectors had become stale by that generation.
    invalidations: int = 0
    # How many stored vectors were stale, and served until they are replaced, when it was cleaned.
    stale: int = 0

    @property
    def size(self) -> int:
        return sum(block.size for block in self.blocks)

    @property
    def posts(self) -> int:
        """The number of posts with rows, including removed ones."""
        return sum(len(block.numbers) for block in self.blocks)

    @property
    def dimensions(self) -> int:
        """0 while the matrix is empty."""
        return self.blocks[0].columns.shape[0] if self.blocks else 0

    def with_block(self, block: Block, generation: int) -> "Matrix":
        """Returns a new matrix. This one does not change, because a search may be scanning it."""
        if not len(block.numbers):
            return replace(self, generation=generation)
        blocks = _without_empty(older.without(block.numbers) for older in self.blocks)
        while blocks and _may_merge(blocks[-1], block):
            block = blocks.pop().merge(block)
        return replace(self, generation=generation, blocks=(*blocks, block))

    def only(self, numbers: "Numbers") -> "Matrix":
        """Drops all other posts: they were deleted."""
        return replace(self, blocks=tuple(_without_empty(b.only(numbers) for b in self.blocks)))

    def without(self, numbers: Integers) -> "Matrix":
        """Drops posts that were embedded again and have no rows any more."""
        return replace(self, blocks=tuple(_without_empty(b.without(numbers) for b in self.blocks)))

    def nearness(
        self,
        query: Floats,
        candidates: "Numbers",
        floor: float = NO_FLOOR,
        *,
        is_cut: bool = False,
    ) -> Nearness:
        """The similarity of every candidate that has a vector.

        If the query has several rows, the one nearest to a post counts. `is_cut`: the caller drops
        everything below the floor, so it need not be exact.
        """

        def scanned(block: Block) -> BlockScores:
            places = block.places(candidates)
            return BlockScores(block, places, block.similarity(query, places))

        return nearness_of(self.map_blocks(scanned), query, floor, is_cut=is_cut)

    def map_blocks(self, scan: Callable[[Block], T]) -> list[T]:
        """The results for all blocks, in their order."""
        is_large = self.posts > _THREADED_POSTS and _THREADS > 1
        return list((_threads().map if is_large else map)(scan, self.blocks))

    def rows_of(self, number: int) -> Floats | None:
        found = (block.rows_of(number) for block in self.blocks)
        return next((rows for rows in found if rows is not None), None)


class MatrixCache:
    """The most recently used matrices, up to a size in bytes; always keeps the latest one."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._matrices: OrderedDict[Any, Matrix] = OrderedDict()

    def get(self, key: Any) -> Matrix | None:
        if key in self._matrices:
            self._matrices.move_to_end(key)
        return self._matrices.get(key)

    def put(self, key: Any, matrix: Matrix) -> None:
        self._matrices[key] = matrix
        self._matrices.move_to_end(key)
        total = sum(matrix.size for matrix in self._matrices.values())
        while total > self._max_bytes and len(self._matrices) > 1:
            total -= self._matrices.popitem(last=False)[1].size


class Numbers:
    """A set of post numbers with a fast membership test for whole arrays."""

    def __init__(self, numbers: Integers) -> None:
        self._count = len(numbers)
        self._sorted: Integers | None = None
        self._table: NDArray[np.bool_] | None = None
        highest = int(numbers.max()) if len(numbers) else 0
        if highest < LARGEST_TABLE:
            self._table = np.zeros(highest + 2, np.bool_)
            self._table[numbers] = True
        else:
            self._sorted = np.sort(numbers)

    def __len__(self) -> int:
        return self._count

    @classmethod
    def read(cls, text: str | None) -> "Numbers":
        return cls(parse_numbers(text or ""))

    def contains(self, numbers: Integers) -> "NDArray[np.bool_]":
        if self._table is None:
            assert self._sorted is not None
            return np.isin(numbers, self._sorted)
        # Numbers outside the table look up its last entry, which is always False.
        last = len(self._table) - 1
        if numbers.max(initial=0) > last:
            numbers = np.minimum(numbers, last)
        return self._table.take(numbers)


def _shifted(columns: Bytes) -> "NDArray[np.uint8]":
    """Columns as rows, with 128 added: the first bit of a signed byte is its sign."""
    rows: NDArray[np.uint8] = transposed(columns).view(np.uint8)
    rows ^= np.uint8(_SHIFT)
    return rows


def _best(similarity: Floats, pieces: Integers) -> Floats:
    """The highest similarity per post, over all its rows and all rows of the query."""
    if similarity.ndim > 1:
        similarity = similarity.max(axis=1)
    if len(similarity) == len(pieces):
        return similarity
    starts = np.cumsum(pieces) - pieces
    best: Floats = np.maximum.reduceat(similarity, starts)
    return best


def _without_empty(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if len(block.numbers)]


def _may_merge(older: Block, newer: Block) -> bool:
    rows = len(older.scales) + len(newer.scales)
    return rows <= _BLOCK_ROWS and len(older.scales) <= 2 * len(newer.scales)
