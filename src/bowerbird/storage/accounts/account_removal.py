"""Reads everything of an account for its owner, and removes everything."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import UPDATED, bookmark_json
from bowerbird.storage.database import (
    LAST_NUMBER,
    Database,
    Row,
    Transaction,
    place_of,
    place_values,
)

_PAGE: Final = 500


class AccountExportStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("account_export")
        parts = database.queries("bookmarks")
        updated = [text.hex() for text in UPDATED]
        self._bookmarks = self._sql["bookmarks"].format(
            content=parts["content"], rendered=parts["rendered"].format(updated=updated)
        )

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


_FIRST: Final = (
    "delete_keys",
    "delete_devices",
    "delete_connections",
    "delete_webhooks",
    "delete_sessions",
    "delete_passkeys",
    "delete_identities",
    "delete_links",
    "delete_shares",
    "delete_activity",
    "delete_calls",
    "delete_daily_uses",
    "delete_version_uses",
    "delete_sunset_notices",
    "delete_digest_preference",
    "delete_media_account",
    "delete_library",
)
# On SQLite these tables are keyed by place, which needs the account's local number.
_PLACED: Final = ("delete_words", "delete_contents")
_BOOKMARKS: Final = (*_PLACED, "delete_vectors", "delete_attachments", "delete_bookmarks")
_OTHERS: Final = (
    *("some_trash", "some_answers", "some_jobs", "some_digests", "some_labels"),
    *("some_deletions", "some_changes", "some_runs", "some_created_labels"),
    *("some_pages", "some_ingest_runs", "some_kept_pages", "some_source_posts"),
    *("some_source_folders", "some_file_imports", "some_replaced", "some_unindexed"),
    *("some_word_counts", "some_word_changes", "some_vector_parts"),
    *("some_bulk_changes", "some_bulk_parts", "some_bulk_posts"),
    *("some_bare_links", "some_events", "some_deliveries"),
    *("some_media_links", "some_media_posts", "some_media_sources", "some_media_files"),
)
# Includes _FIRST again: a server may have written calls that it had counted in memory.
_LAST: Final = (
    *_BOOKMARKS,
    "delete_trash",
    "delete_answers",
    "delete_jobs",
    "delete_views",
    "delete_deleted_views",
    "delete_rules",
    "delete_rule_state",
    "delete_rule_log",
    "delete_digests",
    "delete_labels",
    "delete_pages",
    "delete_ingest_runs",
    "delete_kept_pages",
    "delete_source_posts",
    "delete_source_folders",
    "delete_file_imports",
    "delete_deletions",
    "delete_changes",
    "delete_runs",
    "delete_created_labels",
    "delete_replaced",
    "delete_unindexed",
    "delete_word_counts",
    "delete_word_changes",
    "delete_bulk_changes",
    "delete_bulk_parts",
    "delete_bulk_posts",
    "delete_vector_parts",
    "delete_vector_stores",
    "delete_bare_links",
    "delete_events",
    "delete_deliveries",
    "delete_media_links",
    "delete_media_posts",
    "delete_media_sources",
    "delete_media_files",
    *_FIRST,
    "give_back_local_number",
    "delete_person",
)


class Losses(Struct, frozen=True):
    """How much a removal would remove, besides the posts."""

    labels: int
    views: int
    keys: int


class AccountRemoval:
    def __init__(self, database: Database, account_id: int) -> None:
        self._database = database
        self._sql = database.queries("account_removal")
        self._some = database.queries("account_row_removal")
        self._account_id = account_id

    async def count(self) -> int:
        """The number of remaining bookmarks."""
        values = {"account_id": self._account_id}
        rows = await self._database.slow_rows(self._sql["count"], values)
        return int(rows[0][0])

    async def losses(self) -> Losses:
        values = {"account_id": self._account_id}
        rows = await self._database.rows(self._sql["losses"], values)
        return Losses(*rows[0])

    async def hide(self) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["enable_secure_delete"], {})
            await self.hide_within(transaction)

        await self._database.write(work)

    async def hide_within(self, transaction: Transaction) -> None:
        """From then on nobody can use the account, and nothing shows that it exists."""
        values = {"account_id": self._account_id}
        await self._run(transaction, (*_FIRST, "release_ownership"), values)

    async def remove_bookmarks(self, limit: int) -> int:
        """Removes up to `limit` bookmarks; returns the number of removed ones."""

        async def work(transaction: Transaction) -> int:
            values = {"account_id": self._account_id, "limit": limit}
            rows = await transaction.rows(self._sql["first_bookmarks"], values)
            if rows:
                await self._remove(transaction, _BOOKMARKS, rows[-1][0])
            return len(rows)

        return await self._database.write(work)

    async def remove_other_rows(self, limit: int) -> bool:
        """Removes up to `limit` rows of each other large table; False if none were left."""

        async def work(transaction: Transaction) -> bool:
            values = {"account_id": self._account_id, "limit": limit}
            return any([await transaction.rows(self._some[name], values) for name in _OTHERS])

        return await self._database.write(work)

    async def finish(self) -> None:
        async def work(transaction: Transaction) -> None:
            await self._remove(transaction, _LAST, LAST_NUMBER)

        await self._database.write(work)

    async def continue_index_merge(self) -> bool:
        """Removes deleted words from old segments of the index, step by step; False at the end."""

        async def work(transaction: Transaction) -> bool:
            before = await transaction.rows(self._sql["changes"], {})
            await transaction.run(self._sql["continue_index_merge"], {})
            after = await transaction.rows(self._sql["changes"], {})
            return bool(after[0][0] - before[0][0] > 1)

        return await self._database.write(work)

    async def start_index_merge(self) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["start_index_merge"], {})

        await self._database.write(work)

    async def end(self) -> None:
        """After the merge: the words that it removes must be overwritten too."""
        await self._database.write(
            lambda transaction: transaction.run(self._sql["disable_secure_delete"], {})
        )

    async def _remove(self, transaction: Transaction, names: tuple[str, ...], last: int) -> None:
        values: dict[str, Any] = {"account_id": self._account_id, "last": last}
        rows = await transaction.rows(self._sql["local_number"], values)
        if rows:
            values["place"] = place_of(rows[0][0])
        else:
            # Their places are unknown without the local number; `check` finds and removes them.
            names = tuple(name for name in names if name not in _PLACED)
        await self._run(transaction, names, values)

    async def _run(
        self, transaction: Transaction, names: tuple[str, ...], values: dict[str, Any]
    ) -> None:
        for name in names:
            await transaction.run(self._sql[name], values)
