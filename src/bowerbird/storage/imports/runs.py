"""Stores runs of imports, and finds what the demo library has left in an account."""

from typing import Any, Final

import msgspec

from bowerbird.model.arrival.imports import (
    FIRST_DEMO_ID,
    LAST_DEMO_ID,
    RunCounts,
    RunRow,
    RunState,
    UndoCounts,
)
from bowerbird.storage.database import Reader, Row, Store, Transaction, record


class RunStore(Store):
    resource = "imports"
    fragments = ("columns",)

    async def by_id(self, reader: Reader, account_id: int, run_id: str) -> RunRow | None:
        rows = await self._rows(reader, "run", account_id=account_id, run_id=run_id)
        return _run(rows[0]) if rows else None

    async def open_of_kind(self, account_id: int, kind: str) -> list[RunRow]:
        """The runs of a kind that are not undone, the oldest first."""
        rows = await self._read("open_runs_of_kind", account_id=account_id, kind=kind)
        return [_run(row) for row in rows]

    async def page(self, account_id: int, before: int, limit: int) -> list[RunRow]:
        """The runs with lower numbers, the newest first."""
        values = {"account_id": account_id, "before": before, "limit": limit}
        return [_run(row) for row in await self._read("runs", **values)]

    async def count(self, account_id: int) -> int:
        rows = await self._read("count_runs", account_id=account_id)
        return int(rows[0][0])

    async def numbers(self, transaction: Transaction, account_id: int) -> tuple[int, int, int]:
        """The next free number, how many runs there are, and the number of the oldest."""
        rows = await self._rows(transaction, "next_number", account_id=account_id)
        following, count, oldest = rows[0]
        return following, count, oldest

    async def insert(self, transaction: Transaction, account_id: int, run: RunRow) -> None:
        values = {**msgspec.structs.asdict(run), "account_id": account_id}
        values["state"] = run.state.value
        await self._run(transaction, "insert_run", **values)

    async def delete(self, transaction: Transaction, account_id: int, number: int) -> None:
        await self._run(transaction, "delete_run", account_id=account_id, number=number)

    async def add_counts(
        self, transaction: Transaction, account_id: int, number: int, counts: RunCounts, placed: int
    ) -> None:
        values: dict[str, Any] = {"account_id": account_id, "number": number, "placed": placed}
        values |= msgspec.structs.asdict(counts)
        await self._run(transaction, "add_counts", **values)

    async def set_state(
        self,
        transaction: Transaction,
        account_id: int,
        run: RunRow,
        *,
        state: RunState,
        reason: str,
        finished_at: int | None,
    ) -> None:
        values: dict[str, Any] = {"account_id": account_id, "number": run.number}
        values |= {"state": state.value, "reason": reason, "finished_at": finished_at}
        await self._run(transaction, "set_state", **values)

    async def interrupt(
        self, transaction: Transaction, account_id: int, *, before: int, kept: int, most: int
    ) -> int:
        """Ends a few runs that have not changed since `before`; returns how many.

        `kept` is how long after its last change a run can be undone.
        """
        values = {"account_id": account_id, "before": before, "kept": kept, "most": most}
        return len(await self._rows(transaction, "interrupt_runs", **values))

    async def add_undone(
        self, transaction: Transaction, account_id: int, number: int, counts: UndoCounts
    ) -> None:
        values: dict[str, Any] = {"account_id": account_id, "number": number}
        values |= msgspec.structs.asdict(counts)
        await self._run(transaction, "add_undone", **values)


def _run(row: Row) -> RunRow:
    *first, undo_until, log_bytes = row
    counts, undone = record(RunCounts, first[10:14]), record(UndoCounts, first[14:17])
    run = record(RunRow, [*first[:10], counts, undone, first[17], undo_until, log_bytes])
    return msgspec.structs.replace(run, state=RunState(run.state))


_IDS: Final = {"first": str(FIRST_DEMO_ID), "last": str(LAST_DEMO_ID)}
MOST_POSTS: Final = LAST_DEMO_ID - FIRST_DEMO_ID + 1


class DemoStore(Store):
    resource = "demo"

    async def posts(self, reader: Reader, account_id: int, limit: int = MOST_POSTS) -> list[str]:
        """The ids of the demo's posts in the library."""
        values: dict[str, Any] = {"account_id": account_id, "limit": limit, **_IDS}
        return [row[0] for row in await self._rows(reader, "posts", **values)]

    async def forget_deleted(self, transaction: Transaction, account_id: int) -> None:
        """Removes the demo's posts from the trash, and what is remembered about them."""
        for name in ("empty_trash", "forget_deletions"):
            await self._run(transaction, name, account_id=account_id, **_IDS)

    async def unused_labels(
        self, transaction: Transaction, account_id: int, made: tuple[int, int]
    ) -> list[int]:
        """Labels that were created between two instants and have no posts."""
        values = {"account_id": account_id, "first": made[0], "last": made[1]}
        return [row[0] for row in await self._rows(transaction, "unused_labels", **values)]
