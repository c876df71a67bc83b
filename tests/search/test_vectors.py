"""Vectors: what eight bits lose, the exact scan, and growing matrices."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.search import vectors as search_vectors
from bowerbird.search.arrays import Floats, np
from bowerbird.search.fusion import fuse
from bowerbird.search.vectors import Block, Matrix, MatrixCache, Numbers, pack, unpack

DIMENSIONS = 16


def _vectors(seed: int, count: int) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return rows


def _stored(vectors: dict[int, Floats]) -> list[tuple[int, bytes, bytes]]:
    return [(number, *pack(rows)) for number, rows in vectors.items()]


def _numbers(*numbers: int) -> Numbers:
    return Numbers(np.array(numbers, np.int64))


def _plain(vectors: dict[int, Floats], question: Floats, wanted: set[int]) -> list[int]:
    """The same answer, worked out one post at a time."""
    near = {
        number: float((unpack(*pack(rows), DIMENSIONS) @ question).max())
        for number, rows in vectors.items()
        if number in wanted and len(rows)
    }
    return sorted(near, key=lambda number: (-near[number], -number))


def test_eight_bits_keep_the_direction() -> None:
    rows = _vectors(1, 50)

    again = unpack(*pack(rows), DIMENSIONS)

    cosines = (rows * again).sum(axis=1) / np.linalg.norm(again, axis=1)
    assert cosines.min() > 0.999


def test_no_pieces_are_no_bytes() -> None:
    assert pack(np.zeros((0, DIMENSIONS), np.float32)) == (b"", b"")


def test_nothing_is_near_in_an_empty_matrix() -> None:
    assert Matrix(0).nearest(_vectors(1, 1)[0], _numbers(1, 2), 5) == []


@settings(max_examples=60)
@given(data=st.data())
def test_a_scan_finds_what_a_plain_comparison_finds(data: Any) -> None:
    pieces = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=40))
    vectors = {n + 1: _vectors(n, count) for n, count in enumerate(pieces)}
    wanted = data.draw(st.sets(st.integers(0, len(pieces) + 3)))
    most = data.draw(st.integers(1, 50))
    cut = data.draw(st.integers(0, len(pieces)))
    question = _vectors(9_999, 1)[0]
    stored = _stored(vectors)

    matrix = Matrix(0)
    for part in (stored[:cut], stored[cut:]):
        matrix = matrix.with_block(Block.of(part, DIMENSIONS), matrix.generation + 1)

    found = matrix.nearest(question, _numbers(*wanted), most)
    assert found == _plain(vectors, question, wanted)[:most]


def test_a_scan_by_several_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {number: _vectors(number, 2) for number in range(1, 101)}
    blocks = tuple(
        Block.of(_stored({n: vectors[n] for n in range(first, first + 10)}), DIMENSIONS)
        for first in range(1, 101, 10)
    )
    wanted = _numbers(*range(1, 101, 3))
    alone = Matrix(1, blocks).nearest(_vectors(9_999, 1)[0], wanted, 20)
    monkeypatch.setattr(search_vectors, "_MANY", 0)
    monkeypatch.setattr(search_vectors, "_THREADS", 2)

    assert Matrix(1, blocks).nearest(_vectors(9_999, 1)[0], wanted, 20) == alone
    assert len(alone) == 20


def test_a_post_embedded_anew_counts_once() -> None:
    old, new = _vectors(1, 3), _vectors(2, 1)
    matrix = Matrix(0).with_block(Block.of(_stored({7: old, 8: _vectors(3, 1)}), DIMENSIONS), 1)
    later = matrix.with_block(Block.of(_stored({7: new}), DIMENSIONS), 2)

    assert later.nearest(old[0], _numbers(7, 8), 5).count(7) == 1
    rows = later.rows_of(7)
    assert rows is not None
    assert np.allclose(rows, new, atol=0.02)
    before = matrix.rows_of(7)
    assert before is not None
    assert len(before) == 3
    assert later.rows_of(99) is None


def test_rows_that_were_replaced_are_let_go() -> None:
    matrix = Matrix(0).with_block(
        Block.of(_stored({n: _vectors(n, 2) for n in range(1, 101)}), DIMENSIONS), 1
    )
    for turn in range(200):
        number = 1 + turn % 100
        block = Block.of(_stored({number: _vectors(turn, 1)}), DIMENSIONS)
        matrix = matrix.with_block(block, turn + 2)

    assert sum(len(block.rows) for block in matrix.blocks) < 150
    assert len(matrix.nearest(_vectors(1, 1)[0], _numbers(*range(101)), 500)) == 100


def test_rows_of_deleted_posts_are_let_go() -> None:
    stored = _stored({n: _vectors(n, 2) for n in range(1, 101)})
    matrix = Matrix(0).with_block(Block.of(stored, DIMENSIONS), 1)

    few = matrix.only(_numbers(*range(1, 90)), 1)
    half = few.only(_numbers(*range(1, 51)), 2)
    none = half.only(_numbers(), 3)

    assert [len(each.blocks[0].rows) for each in (matrix, few, half)] == [200, 200, 100]
    assert (none.blocks, none.posts, none.dimensions) == ((), 0, 0)


def test_small_blocks_are_joined_and_large_ones_left() -> None:
    matrix = Matrix(0)
    for number in range(1, 200):
        block = Block.of(_stored({number: _vectors(number, 1)}), DIMENSIONS)
        matrix = matrix.with_block(block, number)

    assert len(matrix.blocks) < 12
    assert sorted(n for b in matrix.blocks for n in b.numbers.tolist()) == list(range(1, 200))


def test_rows_of_another_length_are_left_out() -> None:
    broken = [(1, *pack(_vectors(1, 1))), (2, b"\0\0\0\0", b"\1\2")]

    assert Block.of(broken, DIMENSIONS).numbers.tolist() == [1]


def test_several_rows_of_a_question_find_what_one_of_them_is_near_to() -> None:
    rows = _vectors(5, 4)
    matrix = Matrix(0).with_block(
        Block.of(_stored({n + 1: rows[n : n + 1] for n in range(4)}), DIMENSIONS), 1
    )

    assert set(matrix.nearest(rows[1:3], _numbers(1, 2, 3, 4), 2)) == {2, 3}


def test_numbers_are_read_from_text() -> None:
    read = Numbers.read("3,1,2")

    assert len(read) == 3
    assert read.holds(np.array([-1, 0, 1, 3, 4, 10**12], np.int64)).tolist() == [
        *(False, False, True, True, False, False)
    ]
    assert len(Numbers.read(None)) == 0
    assert Numbers.read("").holds(np.array([0, 1], np.int64)).tolist() == [False, False]


def test_numbers_far_apart_are_held_without_a_table() -> None:
    wide = _numbers(1, 10**11)

    assert wide.holds(np.array([1, 2, 10**11, -1], np.int64)).tolist() == [True, False, True, False]


def test_the_cache_keeps_the_latest_and_is_bounded() -> None:
    matrix = Matrix(0).with_block(Block.of(_stored({1: _vectors(1, 4)}), DIMENSIONS), 1)
    cache = MatrixCache(2 * matrix.size)
    for key in "ab":
        cache.put(key, matrix)
    assert cache.get("a") is matrix

    cache.put("c", matrix)

    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (matrix, None, matrix)
    small = MatrixCache(1)
    small.put("a", matrix)
    assert small.get("a") is matrix


@pytest.mark.parametrize(
    ("by_meaning", "by_words", "fused"),
    [
        ([], [], []),
        ([1, 2], [], [1, 2]),
        ([], [3, 4], [3, 4]),
        # What both found is first, and meaning weighs more than words.
        ([1, 2, 3], [3, 9], [3, 1, 2, 9]),
    ],
)
def test_fusion_is_by_rank(by_meaning: list[int], by_words: list[int], fused: list[int]) -> None:
    assert fuse(by_meaning, by_words, 10) == fused
    assert fuse(by_meaning, by_words, 1) == fused[:1]
