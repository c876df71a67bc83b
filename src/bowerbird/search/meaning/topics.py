"""Groups posts into topics by their vectors. The same vectors always give the same topics."""

from collections.abc import Sequence
from typing import Any

from bowerbird.search.meaning.arrays import Floats, np
from bowerbird.search.meaning.vectors import Block


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
