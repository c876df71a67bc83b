"""Remembers which posts their owner deleted, so that an import does not bring them back."""

from collections.abc import Sequence

import msgspec

from bowerbird.model.imports import Deletion
from bowerbird.storage.database import Database, Reader, Transaction


class DeletionStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("deletions")

    async def known(
        self, reader: Reader, account_id: int, post_ids: Sequence[str]
    ) -> dict[str, Deletion]:
        values = {"account_id": account_id, "post_ids": self._database.text_list(post_ids)}
        rows = await reader.rows(self._sql["known"], values)
        return {row[0]: Deletion(*row) for row in rows}

    async def put(
        self, transaction: Transaction, account_id: int, deletions: Sequence[Deletion], most: int
    ) -> None:
        """Remembers these deletions, and forgets the oldest beyond the maximum."""
        if not deletions:
            return
        rows = [{"account_id": account_id, **msgspec.structs.asdict(one)} for one in deletions]
        await transaction.run_many(self._sql["put"], rows)
        values = {"account_id": account_id, "limit": most}
        await transaction.run(self._sql["forget_oldest"], values)

    async def remove(
        self, transaction: Transaction, account_id: int, post_ids: Sequence[str]
    ) -> None:
        rows = [{"account_id": account_id, "post_id": post_id} for post_id in post_ids]
        await transaction.run_many(self._sql["remove"], rows)
