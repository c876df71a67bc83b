"""Finds what the demo library has left in an account."""

from typing import Any, Final

from bowerbird.model.imports import FIRST_DEMO_ID, LAST_DEMO_ID
from bowerbird.storage.database import Database, Reader, Transaction

_IDS: Final = {"first": str(FIRST_DEMO_ID), "last": str(LAST_DEMO_ID)}
MOST_POSTS: Final = LAST_DEMO_ID - FIRST_DEMO_ID + 1


class DemoStore:
    def __init__(self, database: Database) -> None:
        self._sql = database.queries("demo")

    async def posts(self, reader: Reader, account_id: int, limit: int = MOST_POSTS) -> list[str]:
        """The ids of the demo's posts in the library."""
        values: dict[str, Any] = {"account_id": account_id, "limit": limit, **_IDS}
        return [row[0] for row in await reader.rows(self._sql["posts"], values)]

    async def forget_deleted(self, transaction: Transaction, account_id: int) -> None:
        """Removes the demo's posts from the trash, and what is remembered about them."""
        for name in ("empty_trash", "forget_deletions"):
            await transaction.run(self._sql[name], {"account_id": account_id, **_IDS})

    async def unused_labels(
        self, transaction: Transaction, account_id: int, made: tuple[int, int]
    ) -> list[int]:
        """Labels that were created between two instants and have no posts."""
        values = {"account_id": account_id, "first": made[0], "last": made[1]}
        return [row[0] for row in await transaction.rows(self._sql["unused_labels"], values)]
