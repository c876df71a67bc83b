"""Reads everything of an account for its owner, and removes everything."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.posts.bookmarks import UPDATED, bookmark_json
from bowerbird.storage.database import (
    LAST_NUMBER,
    Database,
    Row,
    Store,
    Transaction,
    place_of,
    place_values,
)

_PAGE: Final = 500


class AccountExportStore(Store):
    resource = "account_export"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        parts = database.queries("bookmarks")
        updated = [text.hex() for text in UPDATED]
        self._bookmarks = self._sql["bookmarks"].format(
            rendered=parts["rendered"].format(updated=updated)
        )

    async def labels(self, account: Account) -> Sequence[Row]:
        """(id, name, metadata as JSON, bookmarks, created at, colour) of each label, by name."""
        return await self._read_slowly("labels", account_id=account.account_id)

    async def calls(self, account: Account) -> Sequence[Row]:
        """(month, calls) of each month with calls."""
        return await self._read_slowly("calls", account_id=account.account_id)

    async def bookmarks(self, account: Account) -> AsyncIterator[list[bytes]]:
        """Every bookmark as the API returns it, page by page, in the order of their creation."""
        values = {**place_values(account), "limit": _PAGE}
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


# What lets somebody use the account, and what others see of it.
ACCESS: Final = (
    *("api_key", "device", "source_connection", "webhook", "web_session", "passkey"),
    *("provider_identity", "one_time_link", "share", "activity", "api_call", "daily_use"),
    *("version_use", "sunset_notice", "digest_preference", "media_account", "library"),
)
# On SQLite these tables are keyed by place, which needs the account's local number.
_PLACED: Final = ("delete_words", "delete_contents")
_BOOKMARKS: Final = (*_PLACED, "delete_vectors", "delete_attachments", "delete_bookmarks")
# Tables with an account_id column, and their primary keys.
PRIMARY_KEYS: Final = {
    "bookmark": "account_id, number",
    "label": "account_id, label_id",
    "bookmark_label": "account_id, label_id, number",
    "api_key": "account_id, key_hash",
    "api_call": "account_id, month",
    "device": "account_id, token_hash",
    "source_connection": "account_id, connection_id",
    "ingest_run": "account_id, run_id",
    "ingest_page": "account_id, run_id, seq",
    "kept_page": "account_id, kept_id",
    "source_post": "account_id, source, source_user_id, post_id",
    "source_folder": "account_id, folder_id",
    "file_import": "account_id, job_id",
    "idempotency": "account_id, idempotency_key",
    "daily_use": "account_id, resource",
    "trash": "account_id, post_id",
    "deletion": "account_id, post_id",
    "import_run": "account_id, number",
    "import_change": "account_id, run, number",
    "import_label": "account_id, run, label_id",
    "unindexed_note": "account_id, number",
    "replaced_annotation": "account_id, post_id, annotation_id",
    "word_count": "account_id, word",
    "word_change": "account_id, number",
    "abbreviation": "account_id, typed, meaning",
    "bulk_change": "account_id, number",
    "bulk_part": "account_id, change, part",
    "bulk_post": "account_id, change, post_id, field",
    "bare_link": "account_id, post_id",
    "library_event": "account_id, last",
    "webhook": "account_id, webhook_id",
    "webhook_delivery": "account_id, webhook_id, message_id",
    "media_account": "account_id",
    "media_post": "account_id, post_id",
    "media_link": "account_id, post_id, url_key",
    "media_source": "account_id, url_key",
    "media_file": "account_id, media_id",
    "smart_view": "account_id, slug",
    "deleted_view": "account_id, slug",
    "rule": "account_id, rule_id",
    "rule_state": "account_id",
    "rule_log": "account_id, number",
    "vector": "account_id, number, model",
    "vector_part": "account_id, model, written, number",
    "vector_store": "account_id, model",
    "version_use": "account_id, version",
    "sunset_notice": "account_id, version",
    "job": "account_id, job_id",
    "digest": "account_id, kind, first_day",
    "digest_preference": "account_id",
}
# Their rows are removed some at a time.
_IN_TURNS: Final = tuple(table for table in PRIMARY_KEYS if table not in ACCESS)


class Losses(Struct, frozen=True):
    """How much a removal would remove, besides the posts."""

    labels: int
    views: int
    keys: int


class AccountRemoval(Store):
    resource = "account_removal"

    def __init__(self, database: Database, account_id: int) -> None:
        super().__init__(database)
        self._account_id = account_id

    async def count(self) -> int:
        """The number of remaining bookmarks."""
        rows = await self._read_slowly("count", account_id=self._account_id)
        return int(rows[0][0])

    async def losses(self) -> Losses:
        rows = await self._read("losses", account_id=self._account_id)
        return Losses(*rows[0])

    async def hide(self) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["enable_secure_delete"], {})
            await self.hide_within(transaction)

        await self._database.write(work)

    async def hide_within(self, transaction: Transaction) -> None:
        """From then on nobody can use the account, and nothing shows that it exists."""
        await self._empty(transaction, ACCESS)
        await transaction.run(self._sql["release_ownership"], {"account_id": self._account_id})

    async def remove_bookmarks(self, limit: int) -> int:
        """Removes up to `limit` bookmarks; returns the number of removed ones."""

        async def work(transaction: Transaction) -> int:
            values = {"account_id": self._account_id, "limit": limit}
            rows = await self._rows(transaction, "first_bookmarks", **values)
            if rows:
                await self._remove(transaction, _BOOKMARKS, rows[-1][0])
            return len(rows)

        return await self._database.write(work)

    async def remove_other_rows(self, limit: int) -> bool:
        """Removes up to `limit` rows of each other table; False if none were left."""

        async def work(transaction: Transaction) -> bool:
            # The words are many and short, the parts of vectors few and large.
            limits = {"word_count": 20 * limit, "vector_part": 1 + limit // 50}
            removed = False
            for table in _IN_TURNS:
                sql = self._sql["some_rows"].format(table=table, key=PRIMARY_KEYS[table])
                values = {"account_id": self._account_id, "limit": limits.get(table, limit)}
                removed |= bool(await transaction.rows(sql, values))
            return removed

        return await self._database.write(work)

    async def finish(self) -> None:
        async def work(transaction: Transaction) -> None:
            await self._remove(transaction, _BOOKMARKS, LAST_NUMBER)
            # ACCESS again: a server may have written calls that it had counted in memory.
            await self._empty(transaction, (*PRIMARY_KEYS, *ACCESS))
            await self._run(transaction, "give_back_local_number", account_id=self._account_id)
            await self._empty(transaction, ("person",))

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
        await self._write("start_index_merge", None)

    async def end(self) -> None:
        """After the merge: the words that it removes must be overwritten too."""
        await self._write("disable_secure_delete", None)

    async def _remove(self, transaction: Transaction, names: tuple[str, ...], last: int) -> None:
        values: dict[str, Any] = {"account_id": self._account_id, "last": last}
        rows = await self._rows(transaction, "local_number", **values)
        if rows:
            values["place"] = place_of(rows[0][0])
        else:
            # Their places are unknown without the local number; `check` finds and removes them.
            names = tuple(name for name in names if name not in _PLACED)
        for name in names:
            await transaction.run(self._sql[name], values)

    async def _empty(self, transaction: Transaction, tables: Sequence[str]) -> None:
        for table in tables:
            sql = self._sql["all_rows"].format(table=table)
            await transaction.run(sql, {"account_id": self._account_id})
