"""Finds the accounts that have expired records."""

from collections.abc import Sequence

from msgspec import Struct

from bowerbird.storage.database import Database


class Due(Struct, frozen=True):
    """An account, and which kinds of its records have expired."""

    account_id: int
    has_old_answers: bool
    has_old_trash: bool
    has_old_logs: bool
    has_stopped_runs: bool
    has_old_ingest: bool


class SweepStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("sweeping")

    async def next_accounts(
        self,
        after: int,
        limit: int,
        *,
        answers_before: int,
        trash_before: int,
        logs_before: int,
        stopped_before: int,
        undo_kept: int,
        pages_before: int,
        runs_before: int,
    ) -> Sequence[Due]:
        values = {
            "after": after,
            "limit": limit,
            "answers_before": answers_before,
            "trash_before": trash_before,
            "pages_before": pages_before,
            "runs_before": runs_before,
            "logs_before": logs_before,
            "stopped_before": stopped_before,
            "undo_kept": undo_kept,
        }
        rows = await self._database.slow_rows(self._sql["next_accounts"], values)
        return [Due(account_id, *map(bool, expired)) for account_id, *expired in rows]
