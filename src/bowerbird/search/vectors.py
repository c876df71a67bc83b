"""Stores vectors of posts in a compact form, and finds the nearest ones by an exact scan.

The stored form is one byte per value and one scale per row. The scan uses 32-bit floats: numpy
multiplies them several times faster than it converts bytes.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from bowerbird.search.arrays import Floats, Integers, NDArray, np

_MAX_INT8: Final = 127
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
_MAX_TABLE_SIZE: Final = 20_000_000


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
    rows: Floats

    @classmethod
    def of(cls, stored: Sequence[Sequence[Any]], dimensions: int) -> "Block":
        """Builds a block from stored (number, scales, values); leaves out posts without rows."""
        valid = [
            (number, scales, values)
            for number, scales, values in stored
            if scales and len(values) * 4 == len(scales) * dimensions
        ]
        return cls(
            np.array([number for number, _, _ in valid], np.int64),
            np.array([len(scales) // 4 for _, scales, _ in valid], np.int64),
            unpack(
                b"".join(scales for _, scales, _ in valid),
                b"".join(values for _, _, values in valid),
                dimensions,
            ),
        )

    @property
    def size(self) -> int:
        return self.rows.nbytes + self.numbers.nbytes + self.pieces.nbytes

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
        rows = self.rows[np.repeat(is_valid, self.pieces)]
        return Block(self.numbers[is_valid], self.pieces[is_valid], rows)

    def merge(self, other: "Block") -> "Block":
        older, newer = self.compact(), other.compact()
        return Block(
            np.concatenate((older.numbers, newer.numbers)),
            np.concatenate((older.pieces, newer.pieces)),
            np.concatenate((older.rows, newer.rows)),
        )

    def _keep(self, is_kept: "NDArray[np.bool_]") -> "Block":
        """Only marks the other rows as removed at first: really removing them copies the block."""
        if is_kept.all():
            return self
        marked = Block(np.where(is_kept, self.numbers, _REMOVED), self.pieces, self.rows)
        removed = np.count_nonzero(marked.numbers == _REMOVED)
        return marked.compact() if removed > _MAX_REMOVED_SHARE * len(self.numbers) else marked

    def scores(self, query: Floats, candidates: "Numbers") -> tuple[Integers, Floats]:
        """The candidates in this block, and the similarity of the best piece of each."""
        is_candidate = candidates.contains(self.numbers)
        count = int(np.count_nonzero(is_candidate))
        if not count:
            return self.numbers[:0], self.rows[:0, 0]
        if count < _SPARSE_SHARE * len(self.numbers):
            pieces = self.pieces[is_candidate]
            similarity = self.rows[np.repeat(is_candidate, self.pieces)] @ query.T
            return self.numbers[is_candidate], _best(similarity, pieces)
        similarity = _best(self.rows @ query.T, self.pieces)
        return self.numbers[is_candidate], similarity[is_candidate]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All vectors of one account and model, at one generation of the vector store."""

    generation: int
    blocks: tuple[Block, ...] = ()
    # How many times stored vectors had become stale by that generation.
    invalidations: int = 0

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
        return self.blocks[0].rows.shape[1] if self.blocks else 0

    def with_block(self, block: Block, generation: int) -> "Matrix":
        """Returns a new matrix. This one does not change, because a search may be scanning it."""
        if not len(block.numbers):
            return Matrix(generation, self.blocks, self.invalidations)
        blocks = _without_empty(older.without(block.numbers) for older in self.blocks)
        while blocks and _may_merge(blocks[-1], block):
            block = blocks.pop().merge(block)
        return Matrix(generation, (*blocks, block), self.invalidations)

    def only(self, numbers: "Numbers", invalidations: int) -> "Matrix":
        """Drops the vectors of all other posts: they became stale, and have no new vector yet."""
        blocks = _without_empty(block.only(numbers) for block in self.blocks)
        return Matrix(self.generation, tuple(blocks), invalidations)

    def scores(self, query: Floats, candidates: "Numbers") -> tuple[Integers, Floats]:
        """The candidates that have a vector, and the similarity of each."""
        if not self.blocks:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        scan = _threads().map if self.posts > _THREADED_POSTS and _THREADS > 1 else map
        scored = list(scan(lambda block: block.scores(query, candidates), self.blocks))
        return (
            np.concatenate([numbers for numbers, _ in scored]),
            np.concatenate([similarity for _, similarity in scored]),
        )

    def nearest(self, query: Floats, candidates: "Numbers", limit: int) -> list[int]:
        """The numbers of the nearest candidates, best first. Exact, because it scans all of them.

        If the query has several rows, the one nearest to a post counts.
        """
        numbers, similarity = self.scores(query, candidates)
        if len(similarity) > limit:
            best = np.argpartition(similarity, len(similarity) - limit)[len(similarity) - limit :]
            numbers, similarity = numbers[best], similarity[best]
        # Equal similarity: the newest first, so that the order is the same on every machine.
        ordered: list[int] = numbers[np.lexsort((-numbers, -similarity))].tolist()
        return ordered

    def rows_of(self, number: int) -> Floats | None:
        for block in self.blocks:
            is_match = block.numbers == number
            if is_match.any():
                rows: Floats = block.rows[np.repeat(is_match, block.pieces)]
                return rows
        return None


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
        # The numbers of an account are dense, so a table with one byte per number is small.
        if highest < _MAX_TABLE_SIZE:
            self._table = np.zeros(highest + 2, np.bool_)
            self._table[numbers] = True
        else:
            self._sorted = np.sort(numbers)

    def __len__(self) -> int:
        return self._count

    @classmethod
    def read(cls, text: str | None) -> "Numbers":
        """Parses comma-separated numbers, which a database returns faster than rows."""
        return cls(np.fromstring(text, np.int64, sep=",") if text else np.zeros(0, np.int64))

    def contains(self, numbers: Integers) -> "NDArray[np.bool_]":
        if self._table is None:
            assert self._sorted is not None
            return np.isin(numbers, self._sorted)
        # Numbers outside the table look up its last entry, which is always False.
        table = self._table
        is_member: NDArray[np.bool_] = table[np.where(numbers < len(table), numbers, -1)]
        return is_member


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
    rows = len(older.rows) + len(newer.rows)
    return rows <= _BLOCK_ROWS and len(older.rows) <= 2 * len(newer.rows)
