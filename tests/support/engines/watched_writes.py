"""Counts the rows that each transaction writes, and can stop a request between two of them.

Speed is never a timed test: a transaction that writes few rows is short on any machine.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar

from bowerbird import errors
from bowerbird.storage.database import Database, Row, Transaction, Values

T = TypeVar("T")
AWAY: Final = errors.unavailable("The database cannot be reached.")
BUSY: Final = errors.TooManyWaiting("Too many changes wait for the database; retry later.", 2)


class Pause:
    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.over = asyncio.Event()


class WatchedWrites:
    """Watches all writes of a real database from now on."""

    def __init__(self, database: Database) -> None:
        # The rows of each transaction that was committed.
        self.rows: list[int] = []
        # The statements that read of each of them.
        self.reads: list[int] = []
        self._write = database.write
        self._pauses: dict[int, Pause] = {}
        self.refusals = 0
        self._refusal = AWAY
        # Set when the last refusal was given.
        self.refused = asyncio.Event()
        setattr(database, "write", self._watched)  # noqa: B010 - mypy forbids the assignment

    @property
    def most_rows(self) -> int:
        return max(self.rows)

    def pause_after(self, count: int) -> "Pause":
        """Stops the request of the transaction with this number, counted from now."""
        pause = Pause()
        self._pauses[len(self.rows) + count] = pause
        return pause

    def refuse(self, count: int, refusal: errors.Refusal = AWAY) -> None:
        """Refuses the next writes, as while the database is away or too many changes wait."""
        self.refusals = count
        self._refusal = refusal

    async def _watched(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,
        *,
        is_continuing: bool = False,
    ) -> T:
        if self.refusals:
            self.refusals -= 1
            if not self.refusals:
                self.refused.set()
            raise self._refusal
        counted = reads = 0

        async def counting(transaction: Transaction) -> T:
            nonlocal counted, reads
            own = _Counting(transaction)
            result = await work(own)
            counted, reads = own.rows_written, own.reads
            return result

        result = await self._write(counting, account_id, is_continuing=is_continuing)
        self.rows.append(counted)
        self.reads.append(reads)
        if pause := self._pauses.pop(len(self.rows), None):
            pause.reached.set()
            await pause.over.wait()
        return result


class _Counting:
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.rows_written = 0
        self.reads = 0

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        self.reads += 1
        return await self._transaction.rows(sql, values)

    async def run(self, sql: str, values: Values) -> None:
        self.rows_written += 1
        await self._transaction.run(sql, values)

    async def run_many(self, sql: str, values: Sequence[Values]) -> None:
        self.rows_written += len(values)
        await self._transaction.run_many(sql, values)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._transaction.savepoint()


async def interrupted(watched: WatchedWrites, after: int, request: Any) -> None:
    """Sends a request and ends it after this many transactions, as if its process was killed."""
    pause = watched.pause_after(after)
    task = asyncio.ensure_future(request)
    await pause.reached.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
