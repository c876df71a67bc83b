"""Reads and writes the activity log of an account."""

from collections.abc import Sequence

from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.storage.database import Store, Transaction


class ActivityStore(Store):
    resource = "activity"

    async def add(self, transaction: Transaction, account_id: int, entry: ActivityEntry) -> None:
        values = {
            "account_id": account_id,
            "at": entry.at,
            "entry_id": entry.entry_id,
            "kind": entry.kind,
            "detail": entry.detail,
            "address": entry.address,
        }
        await self._run(transaction, "insert", **values)

    async def page(
        self, account_id: int, before: tuple[int, str], limit: int
    ) -> Sequence[ActivityEntry]:
        """Entries before the given time and id, the latest first."""
        at, entry_id = before
        values = {"account_id": account_id, "at": at, "entry_id": entry_id, "limit": limit}
        return [
            ActivityEntry(at, entry_id, _kind(kind), detail, address)
            for at, entry_id, kind, detail, address in await self._read("page", **values)
        ]

    async def sweep(
        self, transaction: Transaction, account_id: int, before: int, kept: int, limit: int
    ) -> int:
        """Removes entries before a time, and those older than the newest `kept` ones."""
        values = {"account_id": account_id, "kept": kept}
        [[oldest]] = await self._rows(transaction, "oldest_kept", **values)
        before = max(before, oldest or 0)
        values = {"account_id": account_id, "before": before, "limit": limit}
        return len(await self._rows(transaction, "remove_some", **values))


def _kind(text: str) -> ActivityKind | str:
    try:
        return ActivityKind(text)
    except ValueError:
        return text
