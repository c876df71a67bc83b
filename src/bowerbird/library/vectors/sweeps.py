"""Looks after every account's vectors: which need a build, and which have outlived their use."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.library_lock import lock_library
from bowerbird.model.jobs import EMBEDDING
from bowerbird.model.vectors import BUILD
from bowerbird.search.models import Models
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.vectors import VectorStore

T = TypeVar("T")

JOB: Final = BUILD
BUILD_EVERY_S: Final = 10.0
REMOVE_EVERY_S: Final = 600.0
# Of an account that pays no longer; whoever comes back within this time finds them as they were.
KEPT_DAYS: Final = 30
_KEPT: Final = KEPT_DAYS * 86_400 * MICROSECONDS
_ACCOUNTS: Final = 500
_REMOVED_AT_ONCE: Final = 100
_BREATH_S: Final = 0.02


class VectorSweeps:
    def __init__(
        self, database: Database, models: Models, clock: Clock, breath_s: float = _BREATH_S
    ) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._breath_s = breath_s
        self._store = VectorStore(database)
        self._libraries = LibraryStore(database)
        self._jobs = JobStore(database)
        # How many posts of paid accounts waited at the last look, for the metrics.
        self.pending = 0

    async def start_builds(self) -> None:
        """Sees to it that there is a job for each paid account whose vectors are incomplete."""
        current = self._models.current
        if current is None:
            return
        if not await self._is_usable():
            return
        after, pending = 0, 0
        while page := await self._store.waiting(current.identity, after, _ACCOUNTS):
            for account_id, count in page:
                pending += count
                await self._start(account_id)
            after = page[-1][0]
        self.pending = pending

    async def remove_outlived(self) -> None:
        """Removes vectors 30 days after the last paid day, and those of a model's predecessor."""
        now = self._clock()
        await self._store.note_paid(now)
        current = self._models.current
        model = b"" if current is None else current.identity
        before, has_removed = now - _KEPT, True
        while has_removed:
            has_removed = False
            for account_id, held in await self._store.outlived(model, before, _ACCOUNTS):
                has_removed |= await self._remove(account_id, held, model, before)

    async def _remove(self, account_id: int, held: bytes, model: bytes, before: int) -> bool:
        """Removes a store bit by bit; False when there was nothing to remove any more."""

        async def work(transaction: Transaction) -> int:
            # Who pays again meanwhile keeps what is left, and a build may be at work on it.
            await lock_library(self._libraries, transaction, account_id)
            if not await self._store.is_outlived(transaction, account_id, held, model, before):
                return 0
            return await self._store.remove_some(transaction, account_id, held, _REMOVED_AT_ONCE)

        total, removed = 0, _REMOVED_AT_ONCE
        while removed == _REMOVED_AT_ONCE:
            removed = await self._unless_deleted(work) or 0
            total += removed
            await asyncio.sleep(self._breath_s)
        return total > 0

    async def _is_usable(self) -> bool:
        """Tries what failed before with one question, rather than with a job an account."""
        current = self._models.current
        assert current is not None
        if current.problem is not None:
            try:
                await current.embed_query("?")
            except Refusal:
                return False
        return True

    async def _start(self, account_id: int) -> None:
        async def work(transaction: Transaction) -> None:
            await self._jobs.add(
                transaction,
                account_id,
                JOB,
                b"{}",
                priority=EMBEDDING,
                now=self._clock(),
                unique=JOB,
            )

        await self._unless_deleted(work)

    async def _unless_deleted(self, work: Callable[[Transaction], Awaitable[T]]) -> T | None:
        """Accounts may be deleted after they were found; all others are served."""
        try:
            return await self._database.write(work)
        except Refusal as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
        return None
