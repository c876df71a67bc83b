"""Reads and writes the bookmarks of an import."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.upsert import ExistingBookmark
from bowerbird.storage.database import Database, Row, Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.places import place_values

_names = msgspec.json.Decoder(list[str]).decode


class UpsertStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("upsert")

    async def stored(
        self, account: Account, post_ids: Sequence[str]
    ) -> dict[str, ExistingBookmark]:
        """The library's bookmarks of these posts, read without a lock."""
        values = {
            "account_id": account.account_id,
            "post_ids": self._database.text_list(post_ids),
            **place_values(account),
        }
        return _existing(await self._database.rows(self._sql["known"], values))

    async def stored_within(
        self, transaction: Transaction, opened: LockedLibrary, post_ids: Sequence[str]
    ) -> dict[str, ExistingBookmark]:
        values = {
            "account_id": opened.account_id,
            "place": opened.place,
            "post_ids": self._database.text_list(post_ids),
        }
        return _existing(await transaction.rows(self._sql["known"], values))

    async def insert(
        self, transaction: Transaction, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]]
    ) -> None:
        rows = self._placed(opened, bookmarks)
        await transaction.run_many(self._sql["insert_bookmark"], rows)
        await transaction.run_many(self._sql["put_content"], rows)
        await transaction.run_many(self._sql["put_words"], rows)

    async def update(
        self, transaction: Transaction, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]]
    ) -> None:
        rows = self._placed(opened, bookmarks)
        await transaction.run_many(self._sql["update_bookmark"], rows)
        await transaction.run_many(self._sql["put_content"], rows)
        await transaction.run_many(self._sql["drop_words"], rows)
        await transaction.run_many(self._sql["put_words"], rows)

    def _placed(
        self, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        return [
            {
                **bookmark,
                "account_id": opened.account_id,
                "place": opened.place,
                "words": self._database.stored_words(bookmark["words"]),
            }
            for bookmark in bookmarks
        ]


def _existing(rows: Sequence[Row]) -> dict[str, ExistingBookmark]:
    existing = {}
    for post_id, number, hash, sort_index, imported_at, bookmarked_at, *state in rows:
        is_read, is_archived, tags = state
        existing[post_id] = ExistingBookmark(
            number=number,
            content_hash=hash,
            sort_index=sort_index,
            imported_at=imported_at,
            bookmarked_at=bookmarked_at,
            is_read=bool(is_read),
            is_archived=bool(is_archived),
            tags=_tag_keys(tags),
        )
    return existing


# Most posts share one of a few sets of labels.
@lru_cache(maxsize=256)
def _tag_keys(tags: bytes | None) -> frozenset[str]:
    return frozenset() if tags is None else frozenset(map(name_key, _names(tags)))
