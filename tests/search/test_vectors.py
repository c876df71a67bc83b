"""Vectors: the compact form, the exact scan, and growing matrices."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.search.candidates import nearest
from bowerbird.search.meaning import vectors as search_vectors
from bowerbird.search.meaning.arrays import JOINED_FLOOR, Floats, Nearness, Numbers, joined, np
from bowerbird.search.meaning.byte_products import Columns, Query
from bowerbird.search.meaning.vectors import (
    Block,
    Matrix,
    MatrixCache,
    likeness,
    pack,
    unpack,
)

DIMENSIONS = 16


def _vectors(seed: int, count: int) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return rows


def _stored(vectors: dict[int, Floats]) -> list[tuple[int, bytes, bytes]]:
    return [(number, *pack(rows)) for number, rows in vectors.items()]


def _numbers(*numbers: int) -> Numbers:
    return Numbers(np.array(numbers, np.int64))


def _nearest(matrix: Matrix, query: Floats, candidates: Numbers, limit: int) -> list[int]:
    numbers, _ = nearest(matrix.nearness(query), candidates, limit)
    return list(numbers)


def _nearest_one_by_one(
    vectors: dict[int, Floats], query: Floats, candidates: set[int]
) -> list[int]:
    """The expected result of a scan, computed one post at a time."""
    similarity = {
        number: float((unpack(*pack(rows), DIMENSIONS) @ query).max())
        for number, rows in vectors.items()
        if number in candidates and len(rows)
    }
    return sorted(similarity, key=lambda number: (-similarity[number], -number))


def test_eight_bits_keep_the_direction_of_a_vector() -> None:
    rows = _vectors(1, 50)

    unpacked = unpack(*pack(rows), DIMENSIONS)

    cosines = (rows * unpacked).sum(axis=1) / np.linalg.norm(unpacked, axis=1)
    assert cosines.min() > 0.999


@settings(max_examples=60)
@given(data=st.data())
def test_a_scan_finds_the_same_as_comparing_one_by_one(data: Any) -> None:
    pieces = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=40))
    vectors = {n + 1: _vectors(n, count) for n, count in enumerate(pieces)}
    candidates = data.draw(st.sets(st.integers(0, len(pieces) + 3)))
    limit = data.draw(st.integers(1, 50))
    first_block = data.draw(st.integers(0, len(pieces)))
    query = _vectors(9_999, 1)[0]
    stored = _stored(vectors)

    matrix = Matrix(0)
    for part in (stored[:first_block], stored[first_block:]):
        matrix = matrix.with_block(Block.of(part, DIMENSIONS), matrix.generation + 1)

    found = _nearest(matrix, query, _numbers(*candidates), limit)
    assert found == _nearest_one_by_one(vectors, query, candidates)[:limit]


def test_a_scan_with_several_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {number: _vectors(number, 2) for number in range(1, 101)}
    blocks = tuple(
        Block.of(_stored({n: vectors[n] for n in range(first, first + 10)}), DIMENSIONS)
        for first in range(1, 101, 10)
    )
    candidates = _numbers(*range(1, 101, 3))
    expected = _nearest(Matrix(1, blocks), _vectors(9_999, 1)[0], candidates, 20)
    monkeypatch.setattr(search_vectors, "_THREADED_POSTS", 0)
    monkeypatch.setattr(search_vectors, "_THREADS", 2)

    assert _nearest(Matrix(1, blocks), _vectors(9_999, 1)[0], candidates, 20) == expected
    assert len(expected) == 20


def test_a_post_that_is_embedded_again_counts_once() -> None:
    old, new = _vectors(1, 3), _vectors(2, 1)
    matrix = Matrix(0).with_block(Block.of(_stored({7: old, 8: _vectors(3, 1)}), DIMENSIONS), 1)
    later = matrix.with_block(Block.of(_stored({7: new}), DIMENSIONS), 2)

    assert _nearest(later, old[0], _numbers(7, 8), 5).count(7) == 1
    rows = later.rows_of(7)
    assert rows is not None
    assert np.allclose(rows, new, atol=0.02)
    before = matrix.rows_of(7)
    assert before is not None
    assert len(before) == 3
    assert later.rows_of(99) is None


def test_replaced_rows_are_removed_from_memory() -> None:
    matrix = Matrix(0).with_block(
        Block.of(_stored({n: _vectors(n, 2) for n in range(1, 101)}), DIMENSIONS), 1
    )
    for turn in range(200):
        number = 1 + turn % 100
        block = Block.of(_stored({number: _vectors(turn, 1)}), DIMENSIONS)
        matrix = matrix.with_block(block, turn + 2).merged()

    assert sum(len(block.rows) for block in matrix.blocks) < 150
    assert len(_nearest(matrix, _vectors(1, 1)[0], _numbers(*range(101)), 500)) == 100


def test_rows_of_deleted_posts_are_removed_from_memory() -> None:
    stored = _stored({n: _vectors(n, 2) for n in range(1, 101)})
    matrix = Matrix(0).with_block(Block.of(stored, DIMENSIONS), 1)

    few = matrix.only(_numbers(*range(1, 90)))
    half = few.only(_numbers(*range(1, 51)))
    none = half.only(_numbers())

    assert [len(each.blocks[0].rows) for each in (matrix, few, half)] == [200, 200, 100]
    assert (none.blocks, none.posts, none.dimensions) == ((), 0, 0)
    # Otherwise each scan would copy the columns.
    assert half.blocks[0].columns.values.flags.c_contiguous


def test_small_blocks_are_merged() -> None:
    matrix = Matrix(0)
    for number in range(1, 200):
        block = Block.of(_stored({number: _vectors(number, 1)}), DIMENSIONS)
        matrix = matrix.with_block(block, number).merged()

    assert len(matrix.blocks) < 12
    assert sorted(n for b in matrix.blocks for n in b.numbers.tolist()) == list(range(1, 200))


def test_stored_rows_of_a_wrong_length_are_left_out() -> None:
    broken = [(1, *pack(_vectors(1, 1))), (2, b"\0\0\0\0", b"\1\2")]

    assert Block.of(broken, DIMENSIONS).numbers.tolist() == [1]


def test_a_query_with_several_rows_finds_posts_near_any_of_them() -> None:
    rows = _vectors(5, 4)
    matrix = Matrix(0).with_block(
        Block.of(_stored({n + 1: rows[n : n + 1] for n in range(4)}), DIMENSIONS), 1
    )

    assert set(_nearest(matrix, rows[1:3], _numbers(1, 2, 3, 4), 2)) == {2, 3}


def test_numbers_are_parsed_from_text() -> None:
    for text, numbers, contained in (
        ("3,1,2", [-1, 0, 1, 3, 4, 10**12], [False, False, True, True, False, False]),
        # So far apart that no table can have them.
        ("1,100000000000", [1, 2, 10**11, -1], [True, False, True, False]),
        ("", [0, 1], [False, False]),
        (None, [0, 1], [False, False]),
    ):
        assert Numbers.read(text).contains(np.array(numbers, np.int64)).tolist() == contained
    assert len(Numbers.read("3,1,2")) == 3


def test_the_cache_has_a_size_limit_and_keeps_the_latest_matrix() -> None:
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


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("width", [1, 16, 384, 512])
def test_a_product_of_bytes_is_exact_before_and_after_the_columns_are_a_constant(
    width: int, rows: int
) -> None:
    random = np.random.default_rng(width)
    values = random.integers(-128, 128, (width, 50)).astype(np.int8)
    # Extremes too: processors without VNNI must not overflow.
    values[:, 0], values[:, 1] = -128, 127
    query = random.standard_normal((rows, width)).astype(np.float32)
    query[0, : width // 2] = np.abs(query).max()
    columns = Columns(values)

    found = columns.products(Query.of(query))
    columns.make_constant()

    assert columns.products(Query.of(query)).tolist() == found.tolist()
    expected = (query.astype(np.float64) @ values.astype(np.float64)).max(axis=0)
    # Of the sum of all products at most.
    error = np.abs(query).max() / 2**13 * np.abs(values.astype(np.float64)).sum(axis=0)
    assert (np.abs(found - expected) <= error / 2 + 1e-3).all()


def test_a_matrix_that_was_prepared_for_further_scans_finds_the_same() -> None:
    rows = _vectors(3, 3_000)
    stored = _stored({n + 1: rows[n : n + 1] for n in range(3_000)})
    matrix = Matrix(0).with_block(Block.of(stored, DIMENSIONS), 1)
    query = _vectors(9_999, 1)[0]
    exact = unpack(*pack(rows), DIMENSIONS) @ query

    for scanned in (matrix, matrix.settled()):
        nearness = scanned.nearness(query)

        assert nearness.numbers.tolist() == list(range(1, 3_001))
        assert np.abs(nearness.scores - exact).max() < 1e-4
    assert (matrix.is_settled, matrix.only(_numbers(1)).is_settled) == (True, True)


def _nearness(scores: dict[int, float], floor: float = 0.5) -> Nearness:
    numbers = np.array(list(scores), np.int64)
    return Nearness(numbers, np.array(list(scores.values()), np.float32), floor)


@pytest.mark.parametrize("far", [0, 10**11])
def test_two_models_are_averaged_and_the_second_can_stand_alone(far: int) -> None:
    first = _nearness({3: 0.8, 1: 0.2, 2: 0.0, 7 + far: 0.7})
    second = _nearness({1: 0.4, 2: 0.6, 3: 0.4, 9 + far: 0.5})

    both = joined(first, second, share=0.5)

    assert dict(zip(both.numbers.tolist(), both.scores.round(3).tolist(), strict=True)) == {
        # 0.9 times the second score is higher than the average.
        1: pytest.approx(0.36),
        2: pytest.approx(0.54),
        3: pytest.approx(0.6),
        # Posts without a vector of one of the models.
        7 + far: pytest.approx(0.7),
        9 + far: pytest.approx(0.45),
    }
    assert joined(second, second, share=0.3).numbers is second.numbers


@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
def test_a_post_that_waits_for_the_second_model_has_the_score_and_floor_of_the_first(
    share: float,
) -> None:
    # The floor of both is between the scores of posts 2 and 3.
    first = _nearness({1: 0.3, 2: JOINED_FLOOR + 0.03, 3: JOINED_FLOOR - 0.01}, JOINED_FLOOR + 0.02)
    waiting = joined(first, _nearness({1: 0.3}), share=share)
    assert waiting.scores[1] == first.scores[1]
    assert _near(waiting) == [1, 2]

    first = _nearness({1: 0.3, 2: JOINED_FLOOR + 0.01}, JOINED_FLOOR + 0.02)
    waiting = joined(first, _nearness({1: 0.3}), share=share)
    assert _near(waiting) == [1]


def _near(nearness: Nearness) -> list[int]:
    found: list[int] = nearness.numbers[nearness.scores >= nearness.floor].tolist()
    return found


def test_likeness_is_how_near_posts_are_to_some_of_them_less_how_near_to_their_middle() -> None:
    rows = _vectors(5, 6)
    # Two pieces of one post count as their middle, and a post without a vector as nothing.
    vectors = {1: rows[:1], 3: rows[1:3], 4: rows[3:4], 9: rows[4:5], 12: rows[5:6]}
    matrices = [
        Matrix(0).with_block(Block.of(_stored(part), DIMENSIONS), 1)
        for part in (vectors, {number: vectors[number] for number in (12, 4, 3, 1)})
    ]
    numbers = np.array([1, 3, 4, 7, 12], np.int64)
    shares = np.array([0, 2 / 3, 1 / 3, 0, 0], np.float32)

    middles = np.zeros((5, DIMENSIONS), np.float32)
    for place, number in enumerate(numbers.tolist()):
        if number in vectors:
            middle = vectors[number].mean(axis=0)
            middles[place] = middle / np.linalg.norm(middle)
    expected = middles @ (shares @ middles) - middles @ middles.mean(axis=0)

    assert likeness(matrices, numbers, shares) == pytest.approx(expected, abs=0.01)
    assert likeness(matrices, numbers, shares)[3] == 0
    assert likeness([Matrix(0)], numbers, shares).tolist() == [0] * 5
