"""One scan for any filter finds the same lists as a scan per filter."""

import gc

import pytest

from bowerbird.search.candidates import nearest
from bowerbird.search.meaning import near_posts
from bowerbird.search.meaning.arrays import Floats, np
from bowerbird.search.meaning.embedding import JOINED_FLOOR
from bowerbird.search.meaning.near_posts import NearByBoth, NearPosts, Scan, nearness_by_both
from bowerbird.search.meaning.nearness import Nearness, joined
from bowerbird.search.meaning.vectors import Block, Matrix, Numbers, pack

DIMENSIONS, OTHER_DIMENSIONS, POSTS = 96, 128, 3_000
FILTERS = {
    "all": range(1, POSTS + 1),
    "most": range(1, POSTS, 2),
    # Few posts of one block, and none of the other.
    "few": range(1, 200),
    "none": range(POSTS + 500, POSTS + 600),
}


def _vectors(seed: int, count: int, dimensions: int) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return rows


def _matrix(seed: int, dimensions: int, last: int = POSTS) -> Matrix:
    """Two blocks. Every seventh post has two rows, and a few were removed."""
    matrix = Matrix(0)
    for generation, numbers in enumerate((range(1, 2_001), range(2_001, last + 1))):
        rows = _vectors(seed + generation, 2 * len(numbers), dimensions)
        pieces = [1 + (number % 7 == 0) for number in numbers]
        stored = [
            (number, *pack(rows[2 * n : 2 * n + count]))
            for n, (number, count) in enumerate(zip(numbers, pieces, strict=True))
        ]
        block = Block.of(stored, dimensions)
        matrix = Matrix(generation, (*matrix.blocks, block))
    return matrix.without(np.array([3, 50, 2_500]))


def _listed(nearness: Nearness) -> tuple[list[int], list[float]]:
    return nearest(nearness.numbers, nearness.scores, nearness.floor, 1_000)


@pytest.mark.parametrize("floor", [0.05, 0.2, 0.3, 0.9])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_near_posts_of_one_scan_give_the_list_of_any_filter(floor: float, rows: int) -> None:
    matrix = _matrix(1, DIMENSIONS)
    query = _vectors(99, rows, DIMENSIONS)
    query = query[0] if rows == 1 else query
    near = NearPosts.of(matrix, query, floor)

    for numbers in FILTERS.values():
        candidates = Numbers(np.array(numbers))
        expected = matrix.nearness(query, candidates, floor, is_cut=True)
        assert _listed(near.within(matrix, candidates)) == _listed(expected)


@pytest.mark.parametrize("floor", [0.1, JOINED_FLOOR, 0.35, 0.9])
@pytest.mark.parametrize("last", [POSTS, 2_600])
def test_both_models_give_the_list_of_any_filter(
    monkeypatch: pytest.MonkeyPatch, floor: float, last: int
) -> None:
    """Also while the last posts wait for the second model."""
    for module in ("near_posts", "nearness"):
        monkeypatch.setattr(f"bowerbird.search.meaning.{module}.JOINED_FLOOR", floor)
    first, second = _matrix(1, DIMENSIONS), _matrix(20, OTHER_DIMENSIONS, last)
    queries = _vectors(99, 1, DIMENSIONS)[0], _vectors(98, 1, OTHER_DIMENSIONS)[0]
    scans = Scan.of(first, queries[0], floor + 0.02), Scan.of(second, queries[1], 0.15)

    for numbers in FILTERS.values():
        candidates = Numbers(np.array(numbers))
        expected = joined(
            first.nearness(queries[0], candidates, floor + 0.02),
            second.nearness(queries[1], candidates, 0.15),
            share=0.5,
        )
        near, found = nearness_by_both(*scans, candidates, share=0.5)
        listed, _ = _listed(expected)
        assert _listed(found)[0] == listed
        assert set(listed) <= set(near.numbers.tolist())


def test_few_posts_near_to_the_floor_of_both_are_compared_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = _matrix(1, DIMENSIONS), _matrix(20, OTHER_DIMENSIONS)
    queries = _vectors(99, 1, DIMENSIONS)[0], _vectors(98, 1, OTHER_DIMENSIONS)[0]
    scans = Scan.of(first, queries[0], 0.22), Scan.of(second, queries[1], 0.15)
    all_posts = Numbers(np.array(FILTERS["all"]))
    exactly = joined(*(scan.within(all_posts) for scan in scans), share=0.5)
    # Just above the best post.
    monkeypatch.setattr(near_posts, "JOINED_FLOOR", float(exactly.scores.max()) + 1e-4)
    monkeypatch.setattr(near_posts, "_MOST_COMPARED", 0)
    assert len(NearByBoth.of(*scans, share=0.5).numbers)

    monkeypatch.setattr(near_posts, "_MOST_COMPARED", 64)

    assert not len(NearByBoth.of(*scans, share=0.5).numbers)


def test_near_posts_do_not_keep_a_matrix() -> None:
    matrix = _matrix(1, DIMENSIONS)
    near = NearPosts.of(matrix, _vectors(99, 1, DIMENSIONS)[0], 0.2)
    assert near.matrix() is matrix

    del matrix
    gc.collect()

    assert near.matrix() is None


def test_only_a_few_near_posts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, query = _matrix(1, DIMENSIONS), _vectors(99, 1, DIMENSIONS)[0]
    monkeypatch.setattr(near_posts, "_MOST_REMEMBERED", 100)

    assert NearPosts.of(matrix, query, 0.5).may_be_remembered
    assert not NearPosts.of(matrix, query, 0.0).may_be_remembered
