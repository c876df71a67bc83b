"""Removes expired records of every kind.

These are stored responses of writes, deleted bookmarks, logs of imports, changes of many
posts, sessions, links and the activity log. It also finishes the renames of labels that a killed
process has left half done, and ends imports whose process or device has gone.

Each transaction removes a few rows of one account, with a pause after it, so that other writers
do not wait. Several servers can sweep concurrently; each skips rows that another is removing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import structlog

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access import activity
from bowerbird.library.bookmarks.writing import kept_changes
from bowerbird.library.bookmarks.writing.trash_batch import KEPT_DAYS, Purging
from bowerbird.requests.limits import (
    EVENT_DAYS,
    EVENTS_MAX,
)
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.ingest import (
    KEPT_PAGE_DAYS,
    RETENTION_DAYS,
)
from bowerbird.storage.sign_in import Alive
from bowerbird.storage.stores import TimedService
from bowerbird.storage.upkeep.idempotency import (
    RETENTION_HOURS,
    Due,
    Expiry,
    IdempotencyStore,
)

_DAY: Final = 86_400 * MICROSECONDS
Removal = Callable[[Writable], Awaitable[int]]

SWEEP_EVERY_S: Final = 3_600.0
_PAUSE_S: Final = 0.02
_ACCOUNTS_PER_PAGE: Final = 500
# Removing 100 rows takes about a millisecond.
_REMOVED_PER_TRANSACTION: Final = 100
# A kept page may have a megabyte.
_KEPT_PAGES_PER_TRANSACTION: Final = 5
# As long as an import can be undone.
_RUNS_KEPT_DAYS: Final = 30
# An import that has not changed for so long has stopped.
_STOPPED_AFTER: Final = 24 * 3_600 * MICROSECONDS


class Sweeping(TimedService):
    def __init__(self, database: Database, clock: Clock, pause_s: float = _PAUSE_S) -> None:
        super().__init__(database, clock)
        self._answers = IdempotencyStore(database)
        self._purging = Purging(database, clock)
        self._pause_s = pause_s

    async def sweep(self) -> int:
        """Handles every account once; returns the number of removed rows."""
        now = self._clock()
        expiry = _expiry(now)
        removed, after = await self._sweep_proofs(now), 0
        while page := await self._stores.sweeping.next_accounts(after, _ACCOUNTS_PER_PAGE, expiry):
            for due in page:
                if due.has_stopped_runs:
                    await self._interrupt_runs(due.account_id, expiry.stopped_before)
                for removal in self._removals(due, now, expiry):
                    removed += await self._remove(due.account_id, removal)
            after = page[-1].account_id
        if removed:
            structlog.get_logger().info("sweep finished", removed_rows=removed)
        return removed

    def _removals(self, due: Due, now: int, expiry: Expiry) -> Iterator[Removal]:
        """What an account has to remove, some rows at a time."""
        most = _REMOVED_PER_TRANSACTION
        if due.has_old_answers:
            yield lambda library: self._answers.sweep(library, expiry.answers_before, most)
        if due.has_old_events:
            before, rows = expiry.events_before, expiry.events_kept
            yield lambda library: self._stores.events.sweep(
                library, before=before, kept=rows, most=most
            )
        if due.has_old_changes:
            stopped = expiry.stopped_before
            yield lambda library: self._sweep_changes(library, now, stopped)
        if due.has_old_trash:
            trashed = expiry.trash_before
            yield lambda library: self._purging.oldest(
                library.transaction, library.account_id, before=trashed, most=most
            )
        if due.has_old_logs:
            yield lambda library: self._sweep_log(library, now)
        if due.has_old_ingest:
            pages, runs, kept = expiry.pages_before, expiry.runs_before, expiry.kept_before
            yield lambda library: self._stores.ingest_runs.sweep(
                library, pages_before=pages, runs_before=runs, most=most
            )
            yield lambda library: self._stores.kept_pages.sweep(
                library, kept, _KEPT_PAGES_PER_TRANSACTION
            )
            yield lambda library: self._stores.file_imports.sweep(library, pages, most)
        yield from self._removals_of_website(due, now, expiry)

    def _removals_of_website(self, due: Due, now: int, expiry: Expiry) -> Iterator[Removal]:
        if due.has_old_sessions:
            yield lambda library: self._stores.sessions.sweep(library, Alive.at(now))
        if due.has_old_activity:
            before, entries = expiry.activity_before, expiry.activity_most
            most = _REMOVED_PER_TRANSACTION
            yield lambda library: self._stores.activity.sweep(library, before, entries, most)

    async def _sweep_changes(self, within: Writable, now: int, stopped: int) -> int:
        library = await self._stores.libraries.lock_if_there(within.transaction, within.account_id)
        if library is None:
            return 0
        most = _REMOVED_PER_TRANSACTION
        return await self._stores.bulk.sweep(library, now=now, stopped_before=stopped, most=most)

    async def _sweep_log(self, library: Writable, now: int) -> int:
        run = await self._stores.import_changes.expired(library, now)
        if run is None:
            return 0
        # The last removal of a run removes no change, but marks its log as empty.
        return 1 + await self._stores.import_changes.remove_first(
            library, run, _REMOVED_PER_TRANSACTION
        )

    async def _interrupt_runs(self, account_id: int, before: int) -> None:
        kept, most = kept_changes.KEPT, _REMOVED_PER_TRANSACTION
        await self._remove(
            account_id,
            lambda library: self._stores.import_runs.interrupt(
                library, before=before, kept=kept, most=most
            ),
        )

    async def _sweep_proofs(self, now: int) -> int:
        """Links and attempts of any account, and of none."""
        most = _REMOVED_PER_TRANSACTION
        has_links, has_attempts = await self._stores.sweeping.has_old_proofs(now)
        removed = 0
        if has_links:
            removed += await self._repeat(lambda t: self._stores.one_time_links.sweep(t, now, most))
        if has_attempts:
            removed += await self._repeat(lambda t: self._stores.spent_attempts.sweep(t, now, most))
        return removed

    async def _remove(self, account_id: int, removal: Removal) -> int:
        return await self._repeat(lambda t: removal(Writable(t, account_id)))

    async def _repeat(self, removal: Callable[[Transaction], Awaitable[int]]) -> int:
        """Runs a removal until nothing is left; returns the number of removed rows."""
        removed = 0
        while count := await self._database.write(removal):
            removed += count
            await asyncio.sleep(self._pause_s)
        return removed


def _expiry(now: int) -> Expiry:
    alive = Alive.at(now)
    return Expiry(
        answers_before=now - RETENTION_HOURS * 3_600 * MICROSECONDS,
        trash_before=now - KEPT_DAYS * _DAY,
        logs_before=now,
        stopped_before=now - _STOPPED_AFTER,
        undo_kept=kept_changes.KEPT,
        pages_before=now - RETENTION_DAYS * _DAY,
        kept_before=now - KEPT_PAGE_DAYS * _DAY,
        runs_before=now - _RUNS_KEPT_DAYS * _DAY,
        sessions_used_after=alive.used_after,
        sessions_created_after=alive.created_after,
        activity_before=now - activity.KEPT_DAYS * _DAY,
        activity_most=activity.ENTRIES_MAX,
        events_before=now - EVENT_DAYS * _DAY,
        events_kept=EVENTS_MAX,
    )
