"""Stores deleted bookmarks until they can no longer be restored."""

from collections.abc import Sequence

from bowerbird.storage.database import Database, Transaction


class TrashStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("trash")

    async def put(
        self, transaction: Transaction, account_id: int, post_id: str, bookmark: bytes, now: int
    ) -> None:
        values = {
            "account_id": account_id,
            "post_id": post_id,
            "bookmark": bookmark,
            "trashed_at": now,
        }
        await transaction.run(self._sql["put"], values)

    async def take(
        self, transaction: Transaction, account_id: int, post_id: str, oldest: int
    ) -> bytes | None:
        """Moves a bookmark out of the trash, unless it was deleted before `oldest`."""
        values = {"account_id": account_id, "post_id": post_id, "oldest": oldest}
        rows = await transaction.rows(self._sql["take"], values)
        return rows[0][0] if rows else None

    async def contents(
        self, account_id: int, post_ids: Sequence[str], oldest: int
    ) -> dict[str, bytes]:
        """Deleted bookmarks that can still be restored, by the ids of their posts."""
        values = {
            "account_id": account_id,
            "post_ids": self._database.text_list(post_ids),
            "oldest": oldest,
        }
        rows = await self._database.rows(self._sql["contents"], values)
        return {row[0]: row[1] for row in rows}

    async def empty(
        self, transaction: Transaction, account_id: int, *, before: int, most: int
    ) -> int:
        values = {"account_id": account_id, "before": before, "most": most}
        return len(await transaction.rows(self._sql["empty"], values))
