"""Writes arriving posts. Every method runs inside the caller's transaction."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.intake import Counts, Known
from bowerbird.model.labels import name_key
from bowerbird.storage.database import Database, Row, Transaction, Values
from bowerbird.storage.places import place_of, place_values

_names = msgspec.json.Decoder(list[str]).decode


class Opened(Struct):
    """The library's row as an intake found and locked it; the numbers below are free."""

    account_id: int
    place: int
    next_number: int
    next_label_id: int


class Label(Struct, frozen=True):
    label_id: int
    name: str


class IntakeStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("intake")

    async def glance(self, account: Account, post_ids: Sequence[str]) -> dict[str, Known]:
        """What the library holds of these posts, read without a lock."""
        values = {
            "account_id": account.account_id,
            "post_ids": self._database.text_list(post_ids),
            **place_values(account),
        }
        return _known(await self._database.rows(self._sql["known"], values))

    async def open(self, transaction: Transaction, account_id: int) -> Opened | None:
        """Locks the library and raises its version; None when the account is gone."""
        rows = await transaction.rows(self._sql["open"], {"account_id": account_id})
        if not rows:
            return None
        local_number, next_number, next_label_id = rows[0]
        return Opened(account_id, place_of(local_number), next_number, next_label_id)

    async def known(
        self, transaction: Transaction, opened: Opened, post_ids: Sequence[str]
    ) -> dict[str, Known]:
        values = {
            "account_id": opened.account_id,
            "place": opened.place,
            "post_ids": self._database.text_list(post_ids),
        }
        return _known(await transaction.rows(self._sql["known"], values))

    async def insert(
        self, transaction: Transaction, opened: Opened, bookmarks: Sequence[dict[str, Any]]
    ) -> None:
        rows = self._placed(opened, bookmarks)
        await transaction.run_many(self._sql["insert_bookmark"], rows)
        await transaction.run_many(self._sql["put_content"], rows)
        await transaction.run_many(self._sql["put_words"], rows)

    async def update(
        self, transaction: Transaction, opened: Opened, bookmarks: Sequence[dict[str, Any]]
    ) -> None:
        rows = self._placed(opened, bookmarks)
        await transaction.run_many(self._sql["update_bookmark"], rows)
        await transaction.run_many(self._sql["put_content"], rows)
        await transaction.run_many(self._sql["drop_words"], rows)
        await transaction.run_many(self._sql["put_words"], rows)

    async def labels(self, transaction: Transaction, account_id: int) -> dict[str, Label]:
        """Every label of the account by its folded name."""
        rows = await transaction.rows(self._sql["labels"], {"account_id": account_id})
        return {key: Label(label_id, name) for label_id, name, key in rows}

    async def add_labels(
        self, transaction: Transaction, opened: Opened, names: Mapping[str, str], now: int
    ) -> dict[str, Label]:
        made = {
            key: Label(opened.next_label_id + offset, name)
            for offset, (key, name) in enumerate(names.items())
        }
        opened.next_label_id += len(made)
        await transaction.run_many(
            self._sql["insert_label"],
            [
                {
                    "account_id": opened.account_id,
                    "label_id": label.label_id,
                    "name": label.name,
                    "name_key": key,
                    "created_at": now,
                }
                for key, label in made.items()
            ],
        )
        return made

    async def relabel(
        self,
        transaction: Transaction,
        opened: Opened,
        attached: Sequence[tuple[int, int]],
        detached: Sequence[tuple[int, int]],
    ) -> None:
        """Takes (label id, bookmark number) pairs that are new, and such that go."""
        changes: dict[int, int] = {}
        for name, pairs, step in (("attach", attached, 1), ("detach", detached, -1)):
            rows = [
                {"account_id": opened.account_id, "label_id": label_id, "number": number}
                for label_id, number in pairs
            ]
            await transaction.run_many(self._sql[name], rows)
            for label_id, _ in pairs:
                changes[label_id] = changes.get(label_id, 0) + step
        await transaction.run_many(
            self._sql["count_label"],
            [
                {"account_id": opened.account_id, "label_id": label_id, "change": change}
                for label_id, change in sorted(changes.items())
            ],
        )

    async def close(self, transaction: Transaction, opened: Opened, change: Counts) -> None:
        values: Values = {
            "account_id": opened.account_id,
            "next_number": opened.next_number,
            "next_label_id": opened.next_label_id,
            **msgspec.structs.asdict(change),
        }
        await transaction.run(self._sql["close"], values)

    def _placed(self, opened: Opened, bookmarks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                **bookmark,
                "account_id": opened.account_id,
                "place": opened.place,
                "words": self._database.stored_words(bookmark["words"]),
            }
            for bookmark in bookmarks
        ]


def _known(rows: Sequence[Row]) -> dict[str, Known]:
    known = {}
    for post_id, number, hash, sort_index, imported_at, bookmarked_at, *state in rows:
        is_read, is_archived, tags = state
        known[post_id] = Known(
            number=number,
            content_hash=hash,
            sort_index=sort_index,
            imported_at=imported_at,
            bookmarked_at=bookmarked_at,
            is_read=bool(is_read),
            is_archived=bool(is_archived),
            tags=_tag_keys(tags),
        )
    return known


# Most posts have one of few sets of labels.
@lru_cache(maxsize=256)
def _tag_keys(tags: bytes | None) -> frozenset[str]:
    return frozenset() if tags is None else frozenset(map(name_key, _names(tags)))
