"""Reads all data of an account for an export."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import bookmark_json
from bowerbird.storage.database import Database, Row, place_values

_PAGE: Final = 500


class AccountExportStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("account_export")
        content = database.queries("bookmarks")["content"]
        self._bookmarks = self._sql["bookmarks"].format(content=content)

    async def labels(self, account: Account) -> Sequence[Row]:
        """(id, name, metadata as JSON, bookmarks, created at, colour) of each label, by name."""
        return await self._rows("labels", account)

    async def calls(self, account: Account) -> Sequence[Row]:
        """(month, calls) of each month with calls."""
        return await self._rows("calls", account)

    async def bookmarks(self, account: Account) -> AsyncIterator[list[bytes]]:
        """Every bookmark as the API returns it, page by page, in the order of their creation."""
        values = {"account_id": account.account_id, **place_values(account), "limit": _PAGE}
        after = 0
        while True:
            rows = await self._database.slow_rows(self._bookmarks, {**values, "after": after})
            if not rows:
                return
            yield [bookmark_json(row[0], row[1], row[2] + 2 * row[3]) for row in rows]
            after = rows[-1][4]

    async def trash(self, account: Account) -> AsyncIterator[Sequence[Row]]:
        """(post id, deleted at, bookmark as JSON) of deleted bookmarks, page by page."""
        async for rows in self._pages("trash", account):
            yield rows

    async def unavailable(self, account: Account) -> AsyncIterator[Sequence[Row]]:
        """(post id, gone at, reason, index) of posts without content, page by page."""
        async for rows in self._pages("unavailable", account):
            yield rows

    async def _pages(self, name: str, account: Account) -> AsyncIterator[Sequence[Row]]:
        """The pages of a query in the order of post ids, which come first in a row."""
        values = {"account_id": account.account_id, "limit": _PAGE}
        after = ""
        while rows := await self._database.slow_rows(self._sql[name], {**values, "after": after}):
            yield rows
            after = rows[-1][0]

    async def _rows(self, name: str, account: Account) -> Sequence[Row]:
        values = {"account_id": account.account_id}
        return await self._database.slow_rows(self._sql[name], values)
