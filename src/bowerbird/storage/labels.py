"""Reads and writes labels, and which bookmark has which label."""

from collections.abc import Sequence
from typing import Any

from bowerbird.model.labels import Label
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LockedLibrary


class LabelStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("labels")

    async def list(self, account_id: int) -> list[Label]:
        rows = await self._database.rows(self._sql["all"], {"account_id": account_id})
        return [Label(*row) for row in rows]

    async def all(self, transaction: Transaction, account_id: int) -> dict[str, Label]:
        """Every label of the account, keyed by folded name."""
        rows = await transaction.rows(self._sql["all"], {"account_id": account_id})
        return {row[2]: Label(*row) for row in rows}

    async def named(
        self, transaction: Transaction, account_id: int, name_keys: Sequence[str]
    ) -> dict[str, Label]:
        """The labels that exist among these folded names, keyed by folded name."""
        values = {"account_id": account_id, "name_keys": self._database.text_list(name_keys)}
        rows = await transaction.rows(self._sql["named"], values)
        return {row[2]: Label(*row) for row in rows}

    async def insert(
        self, transaction: Transaction, library: LockedLibrary, labels: Sequence[Label], now: int
    ) -> None:
        rows = [{**_row(library, label), "created_at": now} for label in labels]
        await transaction.run_many(self._sql["insert"], rows)

    async def update(self, transaction: Transaction, library: LockedLibrary, label: Label) -> None:
        await transaction.run(self._sql["update"], _row(library, label))

    async def delete(self, transaction: Transaction, library: LockedLibrary, label: Label) -> None:
        await transaction.run(self._sql["delete"], _row(library, label))

    async def relabel(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        attached: Sequence[tuple[int, int]],
        detached: Sequence[tuple[int, int]],
    ) -> None:
        """Adds and removes (label id, bookmark number) pairs, and keeps each label's count."""
        changes: dict[int, int] = {}
        for name, pairs, step in (("attach", attached, 1), ("detach", detached, -1)):
            rows = [
                {"account_id": library.account_id, "label_id": label_id, "number": number}
                for label_id, number in pairs
            ]
            await transaction.run_many(self._sql[name], rows)
            for label_id, _ in pairs:
                changes[label_id] = changes.get(label_id, 0) + step
        await transaction.run_many(
            self._sql["count"],
            [
                {"account_id": library.account_id, "label_id": label_id, "change": change}
                for label_id, change in sorted(changes.items())
                if change
            ],
        )


def _row(library: LockedLibrary, label: Label) -> dict[str, Any]:
    return {
        "account_id": library.account_id,
        "label_id": label.label_id,
        "name": label.name,
        "name_key": label.name_key,
        "metadata": label.metadata,
    }
