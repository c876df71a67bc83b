"""Compares derived data with the data it is derived from, and fixes the derived data.

Each comparison is one statement, so it sees a consistent state: a concurrent write of a running
server never looks like damage.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.instants import UNKNOWN
from bowerbird.storage.accounts.account_removal import PRIMARY_KEYS
from bowerbird.storage.database import (
    Row,
    Store,
    Transaction,
    Values,
    Writable,
    place_of,
    place_values,
)
from bowerbird.storage.sqlite.database import FILE_NAME, connect

Rows = Callable[[str, Values], Awaitable[Sequence[Row]]]
"""Runs a query, in a transaction or outside of any."""

ORPHANS: Final = ("attachments", "contents", "words", "vectors")
_COLUMNS: Final = (
    *("number", "post_id", "sort_index", "is_read", "is_archived", "imported_at"),
    *("bookmarked_at", "posted_at", "media", "author_key", "author_name_key", "title_key"),
    *("quote_count", "reply_count", "retweet_count", "bookmark_count", "favorite_count"),
    *("content_hash", "completeness", "order_source", "render_version", "tags", "rendering"),
)
_ROWS_PER_TRANSACTION: Final = 200
_PHRASE_TOKENS: Final = 32
_names: Final = msgspec.json.Decoder(list[str]).decode


class Counters(Struct, frozen=True):
    """The counters of a library row. The last two are the next free numbers."""

    total: int
    unread: int
    archived: int
    fresh: int
    next_number: int
    next_label_id: int


class StoredBookmark(Struct, frozen=True):
    """Everything that is stored for a bookmark. Without content, the last columns are None."""

    columns: dict[str, Any]
    # The form of its words in the index.
    word_form: int
    has_words: bool
    label_names: list[str]


class CheckStore(Store):
    resource = "checks"

    async def engine(self) -> tuple[str, int]:
        """Name and version of the database, and its size in bytes."""
        rows = await self._database.slow_rows(self._sql["engine"], {})
        return str(rows[0][0]), int(rows[0][1])

    async def undated(self, library: Writable, numbers: Sequence[int]) -> list[int]:
        """Those among these posts that an earlier release stored without a time."""
        rows = await self._of(library, "undated", numbers=numbers, unknown=UNKNOWN)
        return [row[0] for row in rows]

    async def counters(self, rows: Rows, account: Account) -> tuple[Counters, Counters]:
        """The stored counters, and the true ones."""
        found = await rows(self._sql["counters"], {"account_id": account.account_id})
        if not found:
            empty = Counters(0, 0, 0, 0, 1, 1)
            return empty, empty
        stored = Counters(*found[0][:6])
        total, unread, archived, fresh, number, label_id = found[0][6:]
        # Numbers are never reused, so a gap below the next number is not an error.
        nexts = max(stored.next_number, number + 1), max(stored.next_label_id, label_id + 1)
        return stored, Counters(total, unread, archived, fresh, *nexts)

    async def fix_counters(
        self, transaction: Transaction, account: Account, counters: Counters
    ) -> None:
        values = {"account_id": account.account_id, **msgspec.structs.asdict(counters)}
        await transaction.run(self._sql["fix_counters"], values)

    async def counts(self, kind: str, account: Account) -> list[tuple[str, int, int]]:
        """(name, stored count, true count) of each count of this kind that is wrong."""
        values = {"account_id": account.account_id}
        rows = await self._database.slow_rows(self._sql[kind], values)
        if kind == "media_counts":
            named = [zip(("files", "bytes"), row[:2], row[2:], strict=True) for row in rows]
            rows = [(name, int(a), int(b)) for row in named for name, a, b in row if a != b]
        return [
            # A vector that is missing below complete_below is expected to exist.
            (name, stored, counted + sum(missing))
            for name, stored, counted, *missing in rows
            if stored != counted or any(missing)
        ]

    async def fix_counts(self, transaction: Transaction, kind: str, account: Account) -> None:
        values = {"account_id": account.account_id}
        await transaction.run(self._sql[f"fix_{kind}"], values)

    async def orphans(self, kind: str, account: Account) -> list[int]:
        """The bookmark numbers of rows whose bookmark does not exist."""
        rows = await self._database.slow_rows(self._sql[f"orphaned_{kind}"], place_values(account))
        return [row[0] for row in rows]

    async def delete_orphans(self, transaction: Transaction, kind: str, account: Account) -> None:
        await transaction.run(self._sql[f"delete_orphaned_{kind}"], place_values(account))

    async def page(self, account: Account, after: int, limit: int) -> list[StoredBookmark]:
        values = {**place_values(account), "after": after, "limit": limit}
        return await self._stored(self._database.slow_rows, "b.number > :after", values)

    async def by_numbers(
        self, transaction: Transaction, account: Account, numbers: Sequence[int]
    ) -> list[StoredBookmark]:
        values = {**place_values(account), "numbers": numbers, "limit": len(numbers)}
        return await self._stored(transaction.rows, self._sql["these_numbers"], values)

    async def words_differ(self, account: Account, stored: StoredBookmark, index_text: str) -> bool:
        """Whether the index has other words. False if the post has changed since it was read."""
        tokens = index_text.split()
        values = {
            **place_values(account),
            "number": stored.columns["number"],
            "content_hash": stored.columns["content_hash"],
            "words": self._database.stored_words(index_text),
            "phrases": _phrases(tokens),
            "token_count": _varint(len(tokens)),
        }
        return bool(await self._read_slowly("words_differ", **values))

    async def leftovers(self) -> dict[str, int]:
        """The number of rows without an account, per table."""
        found = {}
        for kind, count, _ in self._leftover_statements():
            rows = await self._database.slow_rows(count, {"places": place_of(1)})
            if rows[0][0]:
                found[kind] = rows[0][0]
        return found

    async def libraries_without_person(self) -> int:
        rows = await self._database.slow_rows(self._sql["libraries_without_person"], {})
        return int(rows[0][0])

    async def delete_leftovers(self, found: dict[str, int]) -> None:
        values = {"places": place_of(1), "limit": _ROWS_PER_TRANSACTION}
        for kind, _, deletion in self._leftover_statements():
            for _ in range(0, found.get(kind, 0), _ROWS_PER_TRANSACTION):
                await self._delete(deletion, values)

    async def _delete(self, sql: str, values: Values) -> None:
        await self._database.write(lambda transaction: transaction.run(sql, values))

    def _leftover_statements(self) -> list[tuple[str, str, str]]:
        """Per kind of row: its name, the statement that counts it and the one that deletes it."""
        count, deletion = self._sql["leftovers"], self._sql["delete_leftovers"]
        tables = [
            (table, count.format(table=table), deletion.format(table=table, key=key))
            for table, key in PRIMARY_KEYS.items()
        ]
        # On SQLite these tables have no account_id.
        others = [
            (kind, self._sql[f"leftover_{kind}"], self._sql[f"delete_leftover_{kind}"])
            for kind in ("contents", "words")
        ]
        return tables + others

    async def _stored(self, rows: Rows, condition: str, values: Values) -> list[StoredBookmark]:
        found = await rows(self._sql["page"].format(condition=condition), values)
        return [
            StoredBookmark(
                dict(zip(_COLUMNS, row[:-3], strict=True)), row[-3], bool(row[-2]), _names(row[-1])
            )
            for row in found
        ]


def file_problems(folder: Path) -> list[str]:
    """The problems that SQLite finds in its file, including the full-text index."""
    connection = connect(folder / FILE_NAME, read_only=True)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
    finally:
        connection.close()
    return [] if found == ["ok"] else found


def _phrases(tokens: Sequence[str]) -> list[str]:
    """The tokens as FTS5 phrases. The first phrase is anchored to the start."""
    pieces = [
        " + ".join(f'"{token}"' for token in tokens[start : start + _PHRASE_TOKENS])
        for start in range(0, len(tokens), _PHRASE_TOKENS)
    ]
    return [f"^ {pieces[0]}", *pieces[1:]] if pieces else []


def _varint(number: int) -> bytes:
    """The number as FTS5 encodes the token count of a row: seven bits per byte, highest first."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(0x80 | (number & 0x7F))
    return bytes(reversed(groups))
