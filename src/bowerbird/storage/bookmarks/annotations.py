"""Stores what changes of notes and highlights replaced, and which notes are not indexed yet."""

from collections.abc import Sequence
from typing import Any

from bowerbird.storage.database import Database, Transaction


class AnnotationStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("annotations")

    async def put_replaced(
        self,
        transaction: Transaction,
        account_id: int,
        replaced: tuple[str, str, bytes],
        now: int,
        most: int,
    ) -> None:
        """`replaced`: the post, the annotation and its content. Keeps the latest `most`."""
        post_id, annotation_id, content = replaced
        values: dict[str, Any] = {"account_id": account_id}
        row = {"post_id": post_id, "annotation_id": annotation_id, "content": content}
        await transaction.run(self._sql["put_replaced"], {**values, **row, "replaced_at": now})
        await transaction.run(self._sql["drop_oldest"], {**values, "limit": most})

    async def take_replaced(
        self,
        transaction: Transaction,
        account_id: int,
        post_id: str,
        annotation_id: str,
        oldest: int,
    ) -> bytes | None:
        values = {"account_id": account_id, "post_id": post_id, "annotation_id": annotation_id}
        rows = await transaction.rows(self._sql["take_replaced"], {**values, "oldest": oldest})
        return rows[0][0] if rows else None

    async def accounts_with_expired(self, before: int, limit: int) -> Sequence[int]:
        values = {"before": before, "limit": limit}
        rows = await self._database.slow_rows(self._sql["accounts_with_expired"], values)
        return [row[0] for row in rows]

    async def delete_expired(self, transaction: Transaction, account_id: int, before: int) -> None:
        values = {"account_id": account_id, "before": before}
        await transaction.run(self._sql["delete_expired"], values)

    async def accounts_to_index(self, limit: int) -> Sequence[int]:
        rows = await self._database.slow_rows(self._sql["accounts_to_index"], {"limit": limit})
        return [row[0] for row in rows]

    async def first_to_index(
        self, transaction: Transaction, account_id: int, limit: int
    ) -> Sequence[int]:
        """The numbers of bookmarks whose notes are not indexed."""
        values = {"account_id": account_id, "limit": limit}
        rows = await transaction.rows(self._sql["first_to_index"], values)
        return [row[0] for row in rows]

    async def delete_indexed(self, transaction: Transaction, account_id: int, last: int) -> None:
        values = {"account_id": account_id, "last": last}
        await transaction.run(self._sql["delete_indexed"], values)
