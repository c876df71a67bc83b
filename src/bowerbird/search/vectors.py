"""Vectors of posts: how they are kept, scanned exactly, and fused with a list by words.

Kept as eight bits a number with a scale a row; scanned as 32-bit floats, which numpy multiplies
several times faster than it widens the others.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from bowerbird.search.arrays import Floats, Integers, NDArray, np

_LARGEST: Final = 127
# A block is joined with its neighbour up to here: joining copies both.
_BLOCK_ROWS: Final = 16_384
# Below this share of a block, picking rows out is faster than scanning all of them.
_FEW: Final = 0.2
# Marks a row whose post has none any more: no post has this number.
_NOBODY: Final = -1
# Above this share of marked rows a block is written anew without them.
_MUCH: Final = 0.25
# Above this many posts a scan waits for memory, which two threads read nearly twice as fast. They
# are ours: BLAS's own wait for each other by spinning.
_MANY: Final = 32_768
_THREADS: Final = min(os.cpu_count() or 1, 4)
_LARGEST_TABLE: Final = 20_000_000


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="scanning")


def pack(vectors: Floats) -> tuple[bytes, bytes]:
    """Rows as (scales, eight bits a number)."""
    if not len(vectors):
        return b"", b""
    scales = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-12)) / _LARGEST
    values = np.rint(vectors / scales[:, None]).astype(np.int8)
    return scales.astype("<f4").tobytes(), values.tobytes()


def unpack(scales: bytes, values: bytes, dimensions: int) -> Floats:
    rows = np.frombuffer(values, np.int8).reshape(-1, dimensions).astype(np.float32)
    rows *= np.frombuffer(scales, "<f4")[:, None]
    return rows


@dataclass(frozen=True, slots=True)
class Block:
    """Some posts, and one or several rows of each, in the same order."""

    numbers: Integers
    pieces: Integers
    rows: Floats

    @classmethod
    def of(cls, stored: Sequence[Sequence[Any]], dimensions: int) -> "Block":
        """Takes (number, scales, values) as they are stored; what has no rows is left out."""
        whole = [
            (number, scales, values)
            for number, scales, values in stored
            if scales and len(values) * 4 == len(scales) * dimensions
        ]
        return cls(
            np.array([number for number, _, _ in whole], np.int64),
            np.array([len(scales) // 4 for _, scales, _ in whole], np.int64),
            unpack(
                b"".join(scales for _, scales, _ in whole),
                b"".join(values for _, _, values in whole),
                dimensions,
            ),
        )

    @property
    def size(self) -> int:
        return self.rows.nbytes + self.numbers.nbytes + self.pieces.nbytes

    def without(self, numbers: Integers) -> "Block":
        """What was embedded anew stands in a later block."""
        return self._keeping(~np.isin(self.numbers, numbers))

    def only(self, numbers: "Numbers") -> "Block":
        return self._keeping(numbers.holds(self.numbers))

    def compact(self) -> "Block":
        """Without the rows that nobody can ask for."""
        held = self.numbers != _NOBODY
        if held.all():
            return self
        rows = self.rows[np.repeat(held, self.pieces)]
        return Block(self.numbers[held], self.pieces[held], rows)

    def joined(self, other: "Block") -> "Block":
        older, newer = self.compact(), other.compact()
        return Block(
            np.concatenate((older.numbers, newer.numbers)),
            np.concatenate((older.pieces, newer.pieces)),
            np.concatenate((older.rows, newer.rows)),
        )

    def _keeping(self, is_kept: "NDArray[np.bool_]") -> "Block":
        """Rows that go are only marked, because letting them go copies the others."""
        if is_kept.all():
            return self
        marked = Block(np.where(is_kept, self.numbers, _NOBODY), self.pieces, self.rows)
        gone = np.count_nonzero(marked.numbers == _NOBODY)
        return marked.compact() if gone > _MUCH * len(self.numbers) else marked

    def scores(self, question: Floats, wanted: "Numbers") -> tuple[Integers, Floats]:
        """The posts that are wanted, and how near each is: its best piece counts."""
        is_wanted = wanted.holds(self.numbers)
        count = int(np.count_nonzero(is_wanted))
        if not count:
            return self.numbers[:0], self.rows[:0, 0]
        if count < _FEW * len(self.numbers):
            pieces = self.pieces[is_wanted]
            near = self.rows[np.repeat(is_wanted, self.pieces)] @ question.T
            return self.numbers[is_wanted], _best(near, pieces)
        near = _best(self.rows @ question.T, self.pieces)
        return self.numbers[is_wanted], near[is_wanted]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every vector of one account and model, as of a generation of its store."""

    generation: int
    blocks: tuple[Block, ...] = ()
    # How often vectors had become stale by then.
    invalidations: int = 0

    @property
    def size(self) -> int:
        return sum(block.size for block in self.blocks)

    @property
    def posts(self) -> int:
        """How many it holds rows of, those included that are gone since."""
        return sum(len(block.numbers) for block in self.blocks)

    @property
    def dimensions(self) -> int:
        """0 while it holds nothing."""
        return self.blocks[0].rows.shape[1] if self.blocks else 0

    def with_block(self, block: Block, generation: int) -> "Matrix":
        """A later state. This one stays as it is, for whoever scans it now."""
        if not len(block.numbers):
            return Matrix(generation, self.blocks, self.invalidations)
        blocks = _filled(older.without(block.numbers) for older in self.blocks)
        while blocks and _may_join(blocks[-1], block):
            block = blocks.pop().joined(block)
        return Matrix(generation, (*blocks, block), self.invalidations)

    def only(self, numbers: "Numbers", invalidations: int) -> "Matrix":
        """Without the vectors that became stale and were not made anew yet."""
        blocks = _filled(block.only(numbers) for block in self.blocks)
        return Matrix(self.generation, tuple(blocks), invalidations)

    def nearest(self, question: Floats, wanted: "Numbers", most: int) -> list[int]:
        """The numbers of the wanted posts that are nearest, best first. Exact: all are scanned.

        The question may have several rows; the nearest of them counts.
        """
        if not self.blocks:
            return []
        scan = _threads().map if self.posts > _MANY and _THREADS > 1 else map
        scored = list(scan(lambda block: block.scores(question, wanted), self.blocks))
        numbers = np.concatenate([numbers for numbers, _ in scored])
        near = np.concatenate([near for _, near in scored])
        if len(near) > most:
            best = np.argpartition(near, len(near) - most)[len(near) - most :]
            numbers, near = numbers[best], near[best]
        # Equal ones newest first, so that every machine answers the same.
        found: list[int] = numbers[np.lexsort((-numbers, -near))].tolist()
        return found

    def rows_of(self, number: int) -> Floats | None:
        for block in self.blocks:
            is_it = block.numbers == number
            if is_it.any():
                rows: Floats = block.rows[np.repeat(is_it, block.pieces)]
                return rows
        return None


class MatrixCache:
    """The matrices used last, bounded by their bytes; the latest stays whatever its size."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Any, Matrix] = OrderedDict()

    def get(self, key: Any) -> Matrix | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Any, matrix: Matrix) -> None:
        self._kept[key] = matrix
        self._kept.move_to_end(key)
        total = sum(kept.size for kept in self._kept.values())
        while total > self._most_bytes and len(self._kept) > 1:
            total -= self._kept.popitem(last=False)[1].size


class Numbers:
    """A set of posts, which says fast of many whether they are in it."""

    def __init__(self, numbers: Integers) -> None:
        self._count = len(numbers)
        self._sorted: Integers | None = None
        self._table: NDArray[np.bool_] | None = None
        highest = int(numbers.max()) if len(numbers) else 0
        # An account's numbers are dense: a byte each, up to the highest, is little.
        if highest < _LARGEST_TABLE:
            self._table = np.zeros(highest + 2, np.bool_)
            self._table[numbers] = True
        else:
            self._sorted = np.sort(numbers)

    def __len__(self) -> int:
        return self._count

    @classmethod
    def read(cls, text: str | None) -> "Numbers":
        """Parted by commas, as a database joins them fastest."""
        return cls(np.fromstring(text, np.int64, sep=",") if text else np.zeros(0, np.int64))

    def holds(self, numbers: Integers) -> "NDArray[np.bool_]":
        if self._table is None:
            assert self._sorted is not None
            return np.isin(numbers, self._sorted)
        # What is below or above everything finds the last place of the table, which is empty.
        table = self._table
        held: NDArray[np.bool_] = table[np.where(numbers < len(table), numbers, -1)]
        return held


def _best(near: Floats, pieces: Integers) -> Floats:
    """Of several rows a post, and of several rows of the question, the nearest."""
    if near.ndim > 1:
        near = near.max(axis=1)
    if len(near) == len(pieces):
        return near
    starts = np.cumsum(pieces) - pieces
    best: Floats = np.maximum.reduceat(near, starts)
    return best


def _filled(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if len(block.numbers)]


def _may_join(older: Block, newer: Block) -> bool:
    rows = len(older.rows) + len(newer.rows)
    return rows <= _BLOCK_ROWS and len(older.rows) <= 2 * len(newer.rows)
