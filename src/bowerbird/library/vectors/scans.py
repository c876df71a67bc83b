"""Scans matrices on threads, and remembers which posts were near.

A list that finds nothing asks again without its flags, and then needs no second scan.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bowerbird.library.vectors.matrices import Matrices
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.vectors import VectorStoreState
from bowerbird.search.meaning.embedding import NO_FLOOR

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats
    from bowerbird.search.meaning.near_posts import NearByBoth, NearPosts
    from bowerbird.search.meaning.nearness import Nearness
    from bowerbird.search.meaning.vectors import Matrix, Numbers

# Each takes at most 70 kB.
_REMEMBERED: Final = 32
# With fewer candidates than this share of the posts, a scan compares them one by one.
_FEW_SHARE: Final = 0.2


class Question(NamedTuple):
    """A query as the vector of one model, and the vectors to compare it with."""

    store: VectorStoreState
    vector: "Floats"
    floor: float

    @property
    def key(self) -> Any:
        return self.store.model, self.vector.tobytes(), self.floor


class Scans:
    def __init__(self, matrices: Matrices) -> None:
        self._matrices = matrices
        self._near = LruCache(_REMEMBERED)

    async def nearness(
        self, account: Account, question: Question, candidates: "Numbers", *, is_cut: bool = False
    ) -> "Nearness":
        """How near each candidate with a vector is.

        `is_cut`: the caller drops everything below the floor, so some of that may be missing.
        """
        _, query, floor = question
        matrix = await self._matrices.of(account, question.store)
        if not is_cut or floor <= NO_FLOOR or _are_few(candidates, matrix):
            return await asyncio.to_thread(matrix.nearness, query, candidates, floor, is_cut=is_cut)
        key = (account.account_id, account.epoch, question.key)
        known: NearPosts | None = self._near.get(key)
        if known is not None and known.matrix() is matrix:
            return await asyncio.to_thread(known.within, matrix, candidates)
        near, found = await asyncio.to_thread(_nearness, matrix, query, floor, candidates)
        if near.may_be_remembered:
            self._near.put(key, near)
        return found

    async def nearness_by_both(
        self,
        account: Account,
        first: Question,
        second: Question,
        candidates: "Numbers",
        *,
        share: float,
    ) -> "Nearness":
        """Scores of the candidates by both models. The caller drops those below the floor."""
        from bowerbird.search.meaning import near_posts  # noqa: PLC0415 - imports numpy

        matrices = [await self._matrices.of(account, each.store) for each in (first, second)]
        key = (account.account_id, account.epoch, first.key, second.key, share)
        known: NearByBoth | None = self._near.get(key)
        if known is not None and known.is_of(*matrices) and not known.has_any(candidates):
            return near_posts.NOTHING_NEAR_BOTH
        if any(_are_few(candidates, matrix) for matrix in matrices):
            parts = [self.nearness(account, each, candidates) for each in (first, second)]
            return await joined(*await asyncio.gather(*parts), share=share)
        scan, other = await asyncio.gather(
            *(
                asyncio.to_thread(near_posts.Scan.of, matrix, each.vector, each.floor)
                for matrix, each in zip(matrices, (first, second), strict=True)
            )
        )
        near, found = await asyncio.to_thread(
            near_posts.nearness_by_both, scan, other, candidates, share=share
        )
        if near.may_be_remembered:
            self._near.put(key, near)
        return found


async def joined(first: "Nearness", second: "Nearness", *, share: float) -> "Nearness":
    from bowerbird.search.meaning import nearness  # noqa: PLC0415 - imports numpy

    return await asyncio.to_thread(nearness.joined, first, second, share=share)


def _are_few(candidates: "Numbers", matrix: "Matrix") -> bool:
    return len(candidates) < _FEW_SHARE * matrix.posts


def _nearness(
    matrix: "Matrix", query: "Floats", floor: float, candidates: "Numbers"
) -> "tuple[NearPosts, Nearness]":
    from bowerbird.search.meaning.near_posts import NearPosts  # noqa: PLC0415 - imports numpy

    near = NearPosts.of(matrix, query, floor)
    return near, near.within(matrix, candidates)
