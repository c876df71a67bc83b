"""Reads and writes the activity log of an account."""

from collections.abc import Sequence

from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.storage.database import Database, Transaction


class ActivityStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("activity")

    async def add(self, transaction: Transaction, account_id: int, entry: ActivityEntry) -> None:
        values = {
            "account_id": account_id,
            "at": entry.at,
            "entry_id": entry.entry_id,
            "kind": entry.kind,
            "detail": entry.detail,
            "address": entry.address,
        }
        await transaction.run(self._sql["insert"], values)

    async def page(
        self, account_id: int, before: tuple[int, str], limit: int
    ) -> Sequence[ActivityEntry]:
        """Entries before the given time and id, the latest first."""
        at, entry_id = before
        values = {"account_id": account_id, "at": at, "entry_id": entry_id, "limit": limit}
        rows = await self._database.rows(self._sql["page"], values)
        return [
            ActivityEntry(at, entry_id, _kind(kind), detail, address)
            for at, entry_id, kind, detail, address in rows
        ]

    async def sweep(
        self, transaction: Transaction, account_id: int, before: int, kept: int, limit: int
    ) -> int:
        """Removes entries before a time, and those older than the newest `kept` ones."""
        values = {"account_id": account_id, "kept": kept}
        [[oldest]] = await transaction.rows(self._sql["oldest_kept"], values)
        before = max(before, oldest or 0)
        values = {"account_id": account_id, "before": before, "limit": limit}
        return len(await transaction.rows(self._sql["remove_some"], values))


def _kind(text: str) -> ActivityKind | str:
    try:
        return ActivityKind(text)
    except ValueError:
        return text
