"""Posts with similar vectors belong to the same topic."""

from bowerbird.search.meaning.arrays import Floats, np
from bowerbird.search.meaning.vectors import pack, topics

DIMENSIONS = 16


def near(axis: int, seed: int, pieces: int = 1) -> Floats:
    """Rows that point nearly along one axis."""
    noise = np.random.default_rng(seed).standard_normal((pieces, DIMENSIONS)).astype(np.float32)
    rows: Floats = np.eye(DIMENSIONS, dtype=np.float32)[axis] + noise * np.float32(0.05)
    return rows


def stored(*vectors: Floats) -> list[tuple[int, bytes, bytes]]:
    return [(number, *pack(rows)) for number, rows in enumerate(vectors, 1)]


def test_dissimilar_posts_never_share_a_topic() -> None:
    found = topics(stored(*(near(number % 3, number) for number in range(30))), DIMENSIONS, 5)

    # More topics than kinds: one kind may be split, but two kinds must not be mixed.
    kinds = {topic: set[int]() for topic in found.values()}
    for number, topic in found.items():
        kinds[topic].add((number - 1) % 3)
    assert all(len(kind) == 1 for kind in kinds.values())
    assert len({found[1], found[2], found[3]}) == 3


def test_the_number_of_topics_is_limited() -> None:
    rows = np.random.default_rng(1).standard_normal((200, DIMENSIONS)).astype(np.float32)

    found = topics(stored(*(row[None] for row in rows)), DIMENSIONS, 12)

    assert len(found) == 200
    assert set(found.values()) == set(range(12))


def test_a_post_of_several_pieces_has_one_topic() -> None:
    found = topics(stored(near(0, 1, pieces=3), near(1, 2), near(0, 3, pieces=2)), DIMENSIONS, 5)

    assert sorted(found) == [1, 2, 3]
    assert found[1] != found[2]


def test_a_post_without_a_vector_has_no_topic() -> None:
    nothing = np.zeros((0, DIMENSIONS), np.float32)

    assert topics([], DIMENSIONS, 5) == {}
    assert topics(stored(nothing), DIMENSIONS, 5) == {}
    assert list(topics(stored(nothing, near(0, 1)), DIMENSIONS, 5)) == [2]
