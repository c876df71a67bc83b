"""Notices that the embedded text of posts has changed."""

from collections.abc import Callable, Sequence

from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.vectors import VectorStore


class StaleVectors:
    def __init__(self, database: Database) -> None:
        self._store = VectorStore(database)

    async def mark(
        self,
        transaction: Transaction,
        account_id: int,
        numbers: Sequence[int],
        hash_of: Callable[[int], bytes],
    ) -> None:
        """Marks the vectors whose text now has another hash. They serve until the next build.

        `hash_of` is only called for posts with a vector. The caller has locked the library.
        """
        if not numbers:
            return
        hashes: dict[int, bytes] = {}
        stale: dict[bytes, list[int]] = {}
        for number, model, hash in await self._store.text_hashes(transaction, account_id, numbers):
            if number not in hashes:
                hashes[number] = hash_of(number)
            if hash != hashes[number]:
                stale.setdefault(model, []).append(number)
        await self._store.mark_stale(transaction, account_id, stale)
