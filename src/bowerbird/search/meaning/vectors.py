"""Stores vectors of posts in a compact form, and finds the nearest ones by an exact scan.

The form is one byte per value and one scale per row, in the database and in memory. In memory, the
rows are the columns of a matrix.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar

from bowerbird.model.words import PART_POSTS
from bowerbird.search.meaning.arrays import (
    Floats,
    Integers,
    NDArray,
    Nearness,
    Numbers,
    likeness_of,
    np,
)
from bowerbird.search.meaning.byte_products import Columns, Query, transposed
from bowerbird.search.meaning.embedding import NO_FLOOR

T = TypeVar("T")

_MAX_INT8: Final = 127
# Replaces the number of a post whose rows are no longer valid. No real post has this number.
_REMOVED: Final = -1
# Of a block: with fewer, a scan spends more time between blocks. More are not copied together.
_BLOCK_POSTS: Final = 8 * PART_POSTS
# Above this share of removed rows, the block is copied without them.
_MAX_REMOVED_SHARE: Final = 0.25
# Above this many posts, memory limits the speed of a scan, and two threads read it nearly twice as
# fast. We use our own threads, because those of BLAS wait for each other by spinning.
_THREADED_POSTS: Final = 32_768
_THREADS: Final = min(os.cpu_count() or 1, 4)
# Values per vector that are added in one pass: more do not fit in the processor's cache.
_TOGETHER: Final = 16


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


def part_of(stored: Sequence[Sequence[Any]], dimensions: int) -> bytes:
    """Stored (number, scales, values) of many posts as one value, which `Block.of_part` reads."""
    block = Block.of(stored, dimensions)
    emptied = np.array([number for number, scales, _ in stored if not scales], np.int64)
    counts = np.array([len(block.numbers), len(block.scales), len(emptied)], np.int64)
    parts = (counts, block.numbers, block.pieces, emptied, block.scales)
    return b"".join(part.tobytes() for part in (*parts, block.columns.sums, block.columns.values))


@dataclass(frozen=True, slots=True)
class Groups:
    """Posts whose vectors are added: a number in ascending order, its group and its weight each."""

    numbers: Integers
    of: Integers
    weights: Floats
    count: int

    @classmethod
    def sort(cls, numbers: Integers, of: Integers, weights: Floats, count: int) -> "Groups":
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], of[order], weights[order], count)


@dataclass(frozen=True, slots=True)
class Block:
    """The numbers of some posts, and one or more rows per post, in the same order."""

    numbers: Integers
    pieces: Integers
    columns: Columns
    scales: Floats

    @classmethod
    def of(cls, stored: Sequence[Sequence[Any]], dimensions: int) -> "Block":
        """Builds a block from stored (number, scales, values); leaves out posts without rows."""
        valid = [
            (number, scales, values)
            for number, scales, values in stored
            if scales and len(values) * 4 == len(scales) * dimensions
        ]
        values = np.frombuffer(b"".join(values for _, _, values in valid), np.int8)
        return cls(
            np.array([number for number, _, _ in valid], np.int64),
            np.array([len(scales) // 4 for _, scales, _ in valid], np.int64),
            Columns(transposed(values.reshape(-1, dimensions))),
            np.frombuffer(b"".join(scales for _, scales, _ in valid), "<f4"),
        )

    @classmethod
    def of_part(cls, content: bytes, dimensions: int) -> "tuple[Block, Integers]":
        """A block as `part_of` has stored it, and the numbers of posts without rows.

        Its arrays are views of `content`, not copies.
        """
        posts, rows, emptied = np.frombuffer(content, "<i8", 3).tolist()
        kinds = [("<i8", 3), ("<i8", posts), ("<i8", posts), ("<i8", emptied)]
        kinds += [("<f4", rows), ("<i4", rows), ("i1", rows * dimensions)]
        arrays, start = [], 0
        for kind, count in kinds:
            arrays.append(np.frombuffer(content, kind, count, start))
            start += arrays[-1].nbytes
        _, numbers, pieces, without_rows, scales, sums, values = arrays
        columns = Columns(values.reshape(dimensions, rows), sums)
        return cls(numbers, pieces, columns, scales), without_rows

    @property
    def rows(self) -> Floats:
        """A copy of all rows, without their scales."""
        return transposed(self.columns.values).astype(np.float32)

    @property
    def size(self) -> int:
        parts = (self.scales, self.numbers, self.pieces)
        return self.columns.size + sum(part.nbytes for part in parts)

    def without(self, numbers: Integers) -> "Block":
        """Drops posts that were embedded again: a later block contains their new rows."""
        if numbers.min() > self.numbers.max() or numbers.max() < self.numbers.min():
            return self
        return self._keep(~np.isin(self.numbers, numbers))

    def only(self, numbers: Numbers) -> "Block":
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
            Columns(np.compress(is_row, self.columns.values, axis=1), self.columns.sums[is_row]),
            self.scales[is_row],
        )

    @classmethod
    def joined(cls, several: "Sequence[Block]") -> "Block":
        if len(several) == 1:
            return several[0]
        blocks = [block.compact() for block in several]
        values = np.concatenate([block.columns.values for block in blocks], axis=1)
        return cls(
            np.concatenate([block.numbers for block in blocks]),
            np.concatenate([block.pieces for block in blocks]),
            Columns(values, np.concatenate([block.columns.sums for block in blocks])),
            np.concatenate([block.scales for block in blocks]),
        )

    def _keep(self, is_kept: "NDArray[np.bool_]") -> "Block":
        """Only marks the other rows as removed at first: really removing them copies the block."""
        if is_kept.all():
            return self
        numbers = np.where(is_kept, self.numbers, _REMOVED)
        marked = replace(self, numbers=numbers)
        removed = np.count_nonzero(marked.numbers == _REMOVED)
        return marked.compact() if removed > _MAX_REMOVED_SHARE * len(self.numbers) else marked

    def similarity(self, query: Query) -> Floats:
        """How similar the best piece of each post is, including removed posts."""
        similarity = self.columns.products(query) * self.scales
        if len(similarity) == len(self.pieces):
            return similarity
        starts = np.cumsum(self.pieces) - self.pieces
        best: Floats = np.maximum.reduceat(similarity, starts)
        return best

    def add_to(self, sums: Floats, totals: Floats, groups: "Groups") -> None:
        """Adds the middles of the posts in each group, and their weights."""
        chosen = np.flatnonzero(Numbers(groups.numbers).contains(self.numbers))
        if not len(chosen):
            return
        firsts = np.searchsorted(groups.numbers, self.numbers[chosen])
        counts = np.searchsorted(groups.numbers, self.numbers[chosen], "right") - firsts
        entries, places = _ranges(firsts, counts), np.repeat(chosen, counts)
        np.add.at(totals, groups.of[entries], groups.weights[entries])
        pieces = self.pieces[places]
        rows = _ranges((np.cumsum(self.pieces) - self.pieces)[places], pieces)
        weights = np.repeat(groups.weights[entries] / pieces, pieces) * self.scales[rows]
        each = np.repeat(groups.of[entries], pieces)
        order = np.argsort(each, kind="stable")
        rows, weights = rows[order], weights[order].astype(np.float32)
        present, starts = np.unique(each[order], return_index=True)
        for first in range(0, len(sums), _TOGETHER):
            part = slice(first, first + _TOGETHER)
            values = self.columns.values[part].take(rows, axis=1) * weights
            sums[part, present] += np.add.reduceat(values, starts, axis=1)

    def sums_of(self, numbers: Numbers) -> tuple[Integers, Floats]:
        """The posts that it has of these, and the sum of the pieces of each as a column."""
        chosen = np.flatnonzero(numbers.contains(self.numbers))
        pieces, rows = self.pieces[chosen], chosen
        if len(self.scales) > len(self.pieces):
            rows = _ranges((np.cumsum(self.pieces) - self.pieces)[chosen], pieces)
        values: Floats = self.columns.values[:, rows] * self.scales[rows]
        if len(rows) > len(chosen):
            values = np.add.reduceat(values, np.cumsum(pieces) - pieces, axis=1)
        return self.numbers[chosen], values

    def rows_of(self, number: int) -> Floats | None:
        places = np.flatnonzero(self.numbers == number)
        if not len(places):
            return None
        first = int(self.pieces[: places[0]].sum())
        chosen = slice(first, first + int(self.pieces[places[0]]))
        rows: Floats = self.columns.values[:, chosen].T.astype(np.float32)
        rows *= self.scales[chosen][:, None]
        return rows


@dataclass(frozen=True, slots=True)
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
        return self.blocks[0].columns.values.shape[0] if self.blocks else 0

    def with_block(self, block: Block, generation: int) -> "Matrix":
        """Returns a new matrix. This one does not change, because a search may be scanning it."""
        if not len(block.numbers):
            return replace(self, generation=generation)
        blocks = _without_empty(older.without(block.numbers) for older in self.blocks)
        return replace(self, generation=generation, blocks=(*blocks, block))

    def merged(self) -> "Matrix":
        """Joins neighbouring blocks. Copies them, so those much larger than the next stay."""
        groups: list[list[Block]] = []
        size = 0
        for block in reversed(self.blocks):
            posts = len(block.numbers)
            if not groups or posts > min(2 * size, _BLOCK_POSTS - size):
                groups.append([])
                size = 0
            groups[-1].insert(0, block)
            size += posts
        return replace(self, blocks=tuple(map(Block.joined, reversed(groups))))

    @property
    def is_settled(self) -> bool:
        return all(block.columns.is_constant for block in self.blocks)

    def settled(self) -> "Matrix":
        """A copy whose scans take an eighth of the time. Making it takes as long as five scans."""
        merged = self.merged()
        for block in merged.blocks:
            block.columns.make_constant()
        return merged

    def only(self, numbers: Numbers) -> "Matrix":
        """Drops all other posts: they were deleted."""
        return replace(self, blocks=tuple(_without_empty(b.only(numbers) for b in self.blocks)))

    def without(self, numbers: Integers) -> "Matrix":
        """Drops posts that were embedded again and have no rows any more."""
        return replace(self, blocks=tuple(_without_empty(b.without(numbers) for b in self.blocks)))

    def nearness(self, query: Floats, floor: float = NO_FLOOR) -> Nearness:
        """How similar every post is. With several rows of a query, the nearest counts."""
        if not self.blocks:
            return Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32), floor)
        asked = Query.of(query)
        scores = np.concatenate(self.map_blocks(lambda block: block.similarity(asked)))
        numbers = np.concatenate([block.numbers for block in self.blocks])
        is_valid = numbers != _REMOVED
        if not is_valid.all():
            numbers, scores = numbers[is_valid], scores[is_valid]
        return Nearness(numbers, scores, floor)

    def sums(self, groups: "Groups", dimensions: int) -> tuple[Floats, Floats]:
        """The sum of the vectors in each group as a row, and of the weights that have a vector."""
        sums = np.zeros((dimensions, groups.count), np.float32)
        totals = np.zeros(groups.count, np.float32)
        for block in self.blocks:
            block.add_to(sums, totals, groups)
        return np.ascontiguousarray(sums.T), totals

    def middles(self, numbers: Integers) -> Floats:
        """A column in the direction of the middle of each post; zeros without a vector."""
        middles = np.zeros((self.dimensions, len(numbers)), np.float32)
        for block in self.blocks:
            found, sums = block.sums_of(Numbers(numbers))
            middles[:, np.searchsorted(numbers, found)] = sums
        return middles

    def map_blocks(self, scan: Callable[[Block], T]) -> list[T]:
        """The results for all blocks, in their order."""
        is_large = self.posts > _THREADED_POSTS and _THREADS > 1
        return list((_threads().map if is_large else map)(scan, self.blocks))

    def sample(self, most: int) -> Integers:
        """The numbers of some posts, evenly spread, in ascending order."""
        numbers = np.concatenate([np.zeros(0, np.int64), *(block.numbers for block in self.blocks)])
        numbers = np.sort(numbers[numbers != _REMOVED])
        return numbers[:: max(-(-len(numbers) // most), 1)]

    def rows_of(self, number: int) -> Floats | None:
        found = (block.rows_of(number) for block in self.blocks)
        return next((rows for rows in found if rows is not None), None)


def likeness(matrices: Sequence[Matrix], numbers: Integers, shares: Floats) -> Floats:
    """How near each post is to some of them, by their shares, less how near to the middle of all.

    `numbers` ascend. With several models, the average. A post without a vector is near to none.
    """
    total = np.zeros(len(numbers), np.float32)
    for matrix in matrices:
        middles = matrix.middles(numbers)
        lengths = np.linalg.norm(middles, axis=0)
        middles /= np.maximum(lengths, np.float32(1e-12))
        total += likeness_of(middles, shares)
    return total / np.float32(len(matrices))


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


def _ranges(starts: Integers, counts: Integers) -> Integers:
    """The whole numbers from each start on, as many as its count, one after the other."""
    before = np.cumsum(counts) - counts
    found: Integers = np.repeat(starts - before, counts) + np.arange(counts.sum())
    return found


def _without_empty(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if len(block.numbers)]


def topics(stored: Sequence[Sequence[Any]], dimensions: int, max_topics: int) -> dict[int, int]:
    """Maps each number to one of at most `max_topics` topics. `stored` are the stored rows.

    The first post starts the first topic. The post farthest from all existing topics starts the
    next one, and so on. Each post belongs to the nearest topic. So there is no randomness, and no
    distance threshold that depends on the model.
    """
    block = Block.of(stored, dimensions)
    if not len(block.numbers):
        return {}
    rows = _mean_rows(block)
    nearest = rows @ rows[0]
    chosen = np.zeros(len(rows), np.int64)
    for topic in range(1, min(max_topics, len(rows))):
        near = rows @ rows[int(nearest.argmin())]
        chosen = np.where(near > nearest, topic, chosen)
        nearest = np.maximum(near, nearest)
    return {int(number): int(topic) for number, topic in zip(block.numbers, chosen, strict=True)}


def _mean_rows(block: Block) -> Floats:
    """One vector per post: the mean of its pieces."""
    starts = np.concatenate(([0], np.cumsum(block.pieces)[:-1]))
    summed = np.add.reduceat(block.rows, starts, axis=0)
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    rows: Floats = summed / np.maximum(lengths, np.float32(1e-12))
    return rows
