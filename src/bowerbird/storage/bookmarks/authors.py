"""Finds the authors of saved posts by the start of their handle or name."""

from collections.abc import Sequence
from typing import Final

from bowerbird.storage.database import Database, Row

# After every text that starts with the one before it.
_LAST: Final = "\U0010ffff"


class AuthorStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        sql = database.queries("authors")
        latest = {name: sql[name] for name in ("of_handle", "of_name")}
        self._sql = {name: sql[name].format(**latest) for name in ("by_handle", "by_name")}

    async def by_handle(self, account_id: int, start: str, limit: int) -> Sequence[Row]:
        """(folded handle, number of a late post) of the first authors in order of their handles."""
        return await self._starting("by_handle", account_id, start, limit)

    async def by_name(self, account_id: int, start: str, limit: int) -> Sequence[Row]:
        """(folded name, number of a late post) of the first authors in order of their names."""
        return await self._starting("by_name", account_id, start, limit)

    async def _starting(
        self, statement: str, account_id: int, start: str, limit: int
    ) -> Sequence[Row]:
        values = {
            "account_id": account_id,
            "first": start,
            "end": start + _LAST,
            "limit": limit,
        }
        return await self._database.slow_rows(self._sql[statement], values)
