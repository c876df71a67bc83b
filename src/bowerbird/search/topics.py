"""Sorts posts into topics by their vectors, each time in the same way."""

from collections.abc import Sequence
from typing import Any

from bowerbird.search.arrays import Floats, np
from bowerbird.search.vectors import Block


def topics(stored: Sequence[Sequence[Any]], dimensions: int, most: int) -> dict[int, int]:
    """Takes (number, scales, values) as they are stored; gives each number one of `most` topics.

    The first post begins a topic, then whichever is farthest from all that have begun one, and so
    on; each post belongs to the nearest. No randomness, and no distance to be tuned to a model.
    """
    block = Block.of(stored, dimensions)
    if not len(block.numbers):
        return {}
    rows = _one_row_each(block)
    nearest = rows @ rows[0]
    chosen = np.zeros(len(rows), np.int64)
    for topic in range(1, min(most, len(rows))):
        near = rows @ rows[int(nearest.argmin())]
        chosen = np.where(near > nearest, topic, chosen)
        nearest = np.maximum(near, nearest)
    return {int(number): int(topic) for number, topic in zip(block.numbers, chosen, strict=True)}


def _one_row_each(block: Block) -> Floats:
    """A post of several pieces counts by their middle."""
    starts = np.concatenate(([0], np.cumsum(block.pieces)[:-1]))
    summed = np.add.reduceat(block.rows, starts, axis=0)
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    rows: Floats = summed / np.maximum(lengths, np.float32(1e-12))
    return rows
