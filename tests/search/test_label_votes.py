"""How near labels are to posts, by their vectors alone."""

import numpy as np

from bowerbird.search.label_votes import LabelledPosts, Nearness, with_posts
from bowerbird.search.meaning.arrays import Floats
from bowerbird.search.meaning.vectors import Block, Matrix, pack

DIMENSIONS = 32


def suggested(vectors: Floats, labelled: dict[int, int], asked: list[int]) -> list[set[int]]:
    """The labels that fit each asked post by meaning alone; posts are numbered from 1."""
    stored = [(n, *pack(row[None])) for n, row in enumerate(vectors, start=1)]
    matrix = Matrix(1, (Block.of(stored, vectors.shape[1]),))
    numbers, labels = (",".join(map(str, one)) for one in (labelled, labelled.values()))
    posts = LabelledPosts.read(numbers, labels)
    groups = with_posts(posts.groups, asked, matrix.sample(300))
    near = Nearness([matrix.sums(groups, vectors.shape[1])], posts.groups.count, len(asked))
    return [
        {label for label, (score, _) in votes.items() if score >= 0.5}
        for votes in map(posts.by_meaning, near.of_labels)
    ]


def around(middle: Floats, count: int, spread: float, seed: int) -> Floats:
    noise = np.random.default_rng(seed).standard_normal((count, len(middle)))
    rows = middle + spread * noise / np.sqrt(len(middle))
    units: Floats = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    return units


def test_a_label_fits_what_is_like_its_posts_and_not_what_most_of_the_library_is_not_like() -> None:
    """Most of a library may be the same text again and again, which tells nothing about others."""
    same, birds, other = np.eye(DIMENSIONS)[:3]
    vectors = np.concatenate(
        [
            around(same, 60, 0.001, 1),
            around(birds, 12, 0.5, 2),
            around(other, 12, 0.5, 3),
            around(birds, 1, 0.5, 4),
            around(np.eye(DIMENSIONS)[3] + 0.1 * birds, 1, 0.3, 5),
        ]
    )
    labelled = dict.fromkeys(range(61, 73), 1) | dict.fromkeys(range(73, 85), 2)

    assert suggested(vectors, labelled, [85, 86]) == [{1}, set()]


def test_a_post_without_a_vector_gets_nothing_by_meaning() -> None:
    birds, other = np.eye(DIMENSIONS)[:2]
    vectors = np.concatenate([around(birds, 12, 0.5, 2), around(other, 12, 0.5, 3)])
    labelled = dict.fromkeys(range(1, 13), 1) | dict.fromkeys(range(13, 25), 2)

    assert suggested(vectors, labelled, [25]) == [set()]
