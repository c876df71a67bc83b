"""Reads what a library stores twice, side by side, and mends the second of the two.

Each comparison is one statement, so what it compares is of one moment: no write of a running
server can look like damage.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.storage.database import Database, Row, Transaction, Values
from bowerbird.storage.places import place_of, place_values
from bowerbird.storage.sqlite.database import FILE_NAME, connect

Rows = Callable[[str, Values], Awaitable[Sequence[Row]]]
"""Reads: a database's own reading, or a transaction's."""

STRAYS: Final = ("attachments", "contents", "words", "vectors")
_OWNED: Final = {
    "bookmark": "account_id, number",
    "label": "account_id, label_id",
    "bookmark_label": "account_id, label_id, number",
    "api_key": "account_id, key_hash",
    "api_call": "account_id, month",
    "idempotency": "account_id, idempotency_key",
    "trash": "account_id, post_id",
    "smart_view": "account_id, slug",
    "vector": "account_id, number, model",
    "vector_store": "account_id, model",
    "version_use": "account_id, version",
    "sunset_notice": "account_id, version",
    "job": "account_id, job_id",
    "digest": "account_id, kind, first_day",
    "digest_preference": "account_id",
}
_COLUMNS: Final = (
    *("number", "post_id", "sort_index", "is_read", "is_archived", "imported_at"),
    *("bookmarked_at", "posted_at", "media", "author_key", "author_name_key", "title_key"),
    *("quote_count", "reply_count", "retweet_count", "bookmark_count", "favorite_count"),
    *("content_hash", "render_version", "tags", "rendering"),
)
_MENDED_AT_ONCE: Final = 200
_PHRASE_TOKENS: Final = 32
_names: Final = msgspec.json.Decoder(list[str]).decode


class Ledger(Struct, frozen=True):
    """The counters of a library's row; the last two are the next free numbers."""

    total: int
    unread: int
    archived: int
    fresh: int
    next_number: int
    next_label_id: int


class StoredBookmark(Struct, frozen=True):
    """All that is stored of a bookmark. Without content, the last columns are None."""

    columns: dict[str, Any]
    has_words: bool
    label_names: list[str]


class CheckStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("checks")

    async def ledgers(self, rows: Rows, account: Account) -> tuple[Ledger, Ledger]:
        """As stored, and as it must be."""
        found = await rows(self._sql["counters"], {"account_id": account.account_id})
        if not found:
            empty = Ledger(0, 0, 0, 0, 1, 1)
            return empty, empty
        stored = Ledger(*found[0][:6])
        total, unread, archived, fresh, number, label_id = found[0][6:]
        # Numbers are not used twice, so a gap below the next one is as it should be.
        nexts = max(stored.next_number, number + 1), max(stored.next_label_id, label_id + 1)
        return stored, Ledger(total, unread, archived, fresh, *nexts)

    async def put_ledger(self, transaction: Transaction, account: Account, ledger: Ledger) -> None:
        values = {"account_id": account.account_id, **msgspec.structs.asdict(ledger)}
        await transaction.run(self._sql["mend_counters"], values)

    async def label_counts(self, account: Account) -> Sequence[tuple[str, int, int]]:
        """Name, stored count and true count of the labels where these differ."""
        values = {"account_id": account.account_id}
        rows = await self._database.slow_rows(self._sql["label_counts"], values)
        return [(name, stored, counted) for name, stored, counted in rows]

    async def mend_label_counts(self, transaction: Transaction, account: Account) -> None:
        values = {"account_id": account.account_id}
        await transaction.run(self._sql["mend_label_counts"], values)

    async def vector_counts(self, account: Account) -> Sequence[tuple[str, int, int]]:
        """Of stores that are wrong: the model, and how many vectors it counts and must count."""
        values = {"account_id": account.account_id}
        rows = await self._database.slow_rows(self._sql["vector_counts"], values)
        return [
            # One that is lacking where all should be is counted as if it had to be there.
            (name, stored, counted + lacking)
            for name, stored, counted, lacking in rows
            if stored != counted or lacking
        ]

    async def mend_vector_counts(self, transaction: Transaction, account: Account) -> None:
        values = {"account_id": account.account_id}
        await transaction.run(self._sql["mend_vector_counts"], values)

    async def strays(self, kind: str, account: Account) -> list[int]:
        """The numbers under which something is stored though no bookmark has them."""
        rows = await self._database.slow_rows(self._sql[f"stray_{kind}"], _placed(account))
        return [row[0] for row in rows]

    async def mend_strays(self, transaction: Transaction, kind: str, account: Account) -> None:
        await transaction.run(self._sql[f"mend_stray_{kind}"], _placed(account))

    async def page(self, account: Account, after: int, limit: int) -> list[StoredBookmark]:
        values = {**_placed(account), "after": after, "limit": limit}
        return await self._stored(self._database.slow_rows, "b.number > :after", values)

    async def these(
        self, transaction: Transaction, account: Account, numbers: Sequence[int]
    ) -> list[StoredBookmark]:
        listed = self._database.number_list(numbers)
        values = {**_placed(account), "numbers": listed, "limit": len(numbers)}
        return await self._stored(transaction.rows, self._sql["these_numbers"], values)

    async def words_differ(self, account: Account, stored: StoredBookmark, index_text: str) -> bool:
        """Whether the index holds other words; False when the post has been changed meanwhile."""
        tokens = index_text.split()
        values = {
            **_placed(account),
            "number": stored.columns["number"],
            "content_hash": stored.columns["content_hash"],
            "words": self._database.stored_words(index_text),
            "phrases": self._database.text_list(_phrases(tokens)),
            "token_count": _varint(len(tokens)),
        }
        return bool(await self._database.slow_rows(self._sql["words_differ"], values))

    async def leftovers(self) -> dict[str, int]:
        """How many rows of which kind belong to no account."""
        found = {}
        for kind, counting, _ in self._leftover_statements():
            rows = await self._database.slow_rows(counting, {"places": place_of(1)})
            if rows[0][0]:
                found[kind] = rows[0][0]
        return found

    async def ownerless(self) -> int:
        """How many libraries no person owns."""
        return int((await self._database.slow_rows(self._sql["ownerless"], {}))[0][0])

    async def mend_leftovers(self, found: dict[str, int]) -> None:
        for kind, _, mending in self._leftover_statements():
            for _ in range(0, found.get(kind, 0), _MENDED_AT_ONCE):
                await self._run(mending, {"places": place_of(1), "limit": _MENDED_AT_ONCE})

    async def _run(self, sql: str, values: Values) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(sql, values)

        await self._database.write(work)

    def _leftover_statements(self) -> list[tuple[str, str, str]]:
        """A kind of row, the statement that counts what is left of it, and the one that removes."""
        counting, mending = self._sql["leftovers"], self._sql["mend_leftovers"]
        owned = [
            (table, counting.format(table=table), mending.format(table=table, key=key))
            for table, key in _OWNED.items()
        ]
        placed = [
            (kind, self._sql[f"leftover_{kind}"], self._sql[f"mend_leftover_{kind}"])
            for kind in ("contents", "words")
        ]
        return owned + placed

    async def _stored(self, rows: Rows, wanted: str, values: Values) -> list[StoredBookmark]:
        fragments = {name: self._sql[name] for name in ("has_words", "label_names", "content")}
        found = await rows(self._sql["page"].format(wanted=wanted, **fragments), values)
        return [
            StoredBookmark(
                dict(zip(_COLUMNS, row[:-2], strict=True)), bool(row[-2]), _names(row[-1])
            )
            for row in found
        ]


def file_problems(folder: Path) -> list[str]:
    """What SQLite itself finds wrong in its file, the full-text index included."""
    connection = connect(folder / FILE_NAME, read_only=True)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
    finally:
        connection.close()
    return [] if found == ["ok"] else found


def _placed(account: Account) -> dict[str, int]:
    return {"account_id": account.account_id, **place_values(account)}


def _phrases(tokens: Sequence[str]) -> list[str]:
    """The tokens as FTS5 phrases, the first bound to the beginning."""
    pieces = [
        " + ".join(f'"{token}"' for token in tokens[start : start + _PHRASE_TOKENS])
        for start in range(0, len(tokens), _PHRASE_TOKENS)
    ]
    return [f"^ {pieces[0]}", *pieces[1:]] if pieces else []


def _varint(number: int) -> bytes:
    """As FTS5 writes a row's count of tokens, which ends below 2^14."""
    high, low = divmod(number, 0x80)
    return bytes([0x80 | high, low]) if high else bytes([low])
