"""Reads and writes what an edit of a library changes. Runs inside the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.intake import Counts
from bowerbird.model.labels import Label, name_key
from bowerbird.storage.database import Database, Row, Transaction
from bowerbird.storage.places import place_of

# The store of vectors counts down before they go.
_REMOVED: Final = (
    "remove_bookmark",
    "remove_content",
    "remove_words",
    "uncount_vectors",
    "remove_vectors",
)
_names = msgspec.json.Decoder(list[str]).decode


class Opened(Struct):
    """The library's row as an edit found and locked it; the numbers below are free."""

    account_id: int
    place: int
    next_number: int
    next_label_id: int

    def new_label(self, name: str) -> Label:
        self.next_label_id += 1
        return Label(self.next_label_id - 1, name, name_key(name))


class HeldPost(Struct):
    """A bookmark as far as an edit changes it."""

    post_id: str
    number: int
    is_read: bool
    is_archived: bool
    # Names of its labels as they are shown.
    tags: list[str]


class EditStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("edits")

    async def open(self, transaction: Transaction, account_id: int) -> Opened | None:
        """Locks the library against other writers; None when the account is gone."""
        rows = await transaction.rows(self._sql["open"], {"account_id": account_id})
        if not rows:
            return None
        local_number, next_number, next_label_id = rows[0]
        return Opened(account_id, place_of(local_number), next_number, next_label_id)

    async def close(self, transaction: Transaction, opened: Opened, change: Counts) -> None:
        """Raises the version and moves the counters."""
        values = {
            "account_id": opened.account_id,
            "next_number": opened.next_number,
            "next_label_id": opened.next_label_id,
            **msgspec.structs.asdict(change),
        }
        await transaction.run(self._sql["close"], values)

    async def touch(self, transaction: Transaction, account_id: int) -> None:
        """Raises the version alone."""
        await transaction.run(self._sql["touch"], {"account_id": account_id})

    async def remove(self, transaction: Transaction, opened: Opened, number: int) -> None:
        """Takes a bookmark away; its labels are detached by `relabel`."""
        values = {"account_id": opened.account_id, "place": opened.place, "number": number}
        for name in _REMOVED:
            await transaction.run(self._sql[name], values)

    async def posts(
        self, transaction: Transaction, opened: Opened, post_ids: Sequence[str]
    ) -> dict[str, HeldPost]:
        values = {
            "account_id": opened.account_id,
            "place": opened.place,
            "post_ids": self._database.text_list(post_ids),
        }
        return _held(await transaction.rows(self._sql["posts"], values))

    async def posts_of_label(
        self, transaction: Transaction, opened: Opened, label_id: int
    ) -> dict[str, HeldPost]:
        values = {"account_id": opened.account_id, "place": opened.place, "label_id": label_id}
        return _held(await transaction.rows(self._sql["posts_of_label"], values))

    async def labels(self, transaction: Transaction, account_id: int) -> dict[str, Label]:
        """Every label of the account by its folded name."""
        rows = await transaction.rows(self._sql["labels"], {"account_id": account_id})
        return {row[2]: Label(*row) for row in rows}

    async def labels_named(
        self, transaction: Transaction, account_id: int, name_keys: Sequence[str]
    ) -> dict[str, Label]:
        """Those of the labels that exist, by their folded names."""
        values = {"account_id": account_id, "name_keys": self._database.text_list(name_keys)}
        rows = await transaction.rows(self._sql["labels_named"], values)
        return {row[2]: Label(*row) for row in rows}

    async def all_labels(self, account_id: int) -> list[Label]:
        rows = await self._database.rows(self._sql["labels"], {"account_id": account_id})
        return [Label(*row) for row in rows]

    async def insert_labels(
        self, transaction: Transaction, opened: Opened, labels: Sequence[Label], now: int
    ) -> None:
        rows = [{**_row(opened, label), "created_at": now} for label in labels]
        await transaction.run_many(self._sql["insert_label"], rows)

    async def update_label(self, transaction: Transaction, opened: Opened, label: Label) -> None:
        await transaction.run(self._sql["update_label"], _row(opened, label))

    async def delete_label(self, transaction: Transaction, opened: Opened, label: Label) -> None:
        await transaction.run(self._sql["delete_label"], _row(opened, label))

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
                if change
            ],
        )

    async def set_tags(
        self, transaction: Transaction, opened: Opened, tags: Mapping[int, bytes | None]
    ) -> None:
        """Takes the ready tags of each bookmark's number."""
        rows = [
            {"account_id": opened.account_id, "place": opened.place, "number": n, "tags": t}
            for n, t in tags.items()
        ]
        await transaction.run_many(self._sql["set_tags"], rows)

    async def set_flags(
        self, transaction: Transaction, opened: Opened, posts: Sequence[HeldPost]
    ) -> None:
        rows = [
            {
                "account_id": opened.account_id,
                "number": post.number,
                "is_read": post.is_read,
                "is_archived": post.is_archived,
            }
            for post in posts
        ]
        await transaction.run_many(self._sql["set_flags"], rows)


def _row(opened: Opened, label: Label) -> dict[str, Any]:
    return {
        "account_id": opened.account_id,
        "label_id": label.label_id,
        "name": label.name,
        "name_key": label.name_key,
        "metadata": label.metadata,
    }


def _held(rows: Sequence[Row]) -> dict[str, HeldPost]:
    return {
        post_id: HeldPost(
            post_id, number, bool(is_read), bool(is_archived), _names(tags) if tags else []
        )
        for post_id, number, is_read, is_archived, tags in rows
    }
