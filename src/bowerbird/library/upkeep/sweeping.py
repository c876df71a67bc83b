"""Removes expired records of every kind.

These are stored responses of writes, deleted bookmarks and views, logs of imports, changes of many
posts, sessions, links and the activity log. It also finishes the renames of labels that a killed
process has left half done, ends imports whose process or device has gone, and indexes notes of
earlier releases.

Each transaction removes a few rows of one account, with a pause after it, so that other writers
do not wait. Several servers can sweep concurrently; each skips rows that another is removing.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.library.access import activity
from bowerbird.library.bookmarks.writing import change_log
from bowerbird.library.bookmarks.writing.trash_batch import KEPT_DAYS
from bowerbird.library.upkeep.corrections import AnnotationUpkeep
from bowerbird.requests.limits import DELETED_VIEW_S, DELETED_VIEWS_MAX
from bowerbird.storage.activity import ActivityStore
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.bookmarks.views import ViewStore
from bowerbird.storage.bulk import BulkStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.idempotency import RETENTION_HOURS, IdempotencyStore
from bowerbird.storage.imports.changes import ChangeStore
from bowerbird.storage.imports.runs import RunStore
from bowerbird.storage.ingest.kept_pages import (
    KEPT_PAGE_DAYS,
    RETENTION_DAYS,
    FileImportStore,
    KeptPageStore,
)
from bowerbird.storage.ingest.runs import IngestRunStore
from bowerbird.storage.sign_in.one_time_links import OneTimeLinkStore, SpentAttemptStore
from bowerbird.storage.sign_in.sessions import Alive, SessionStore
from bowerbird.storage.sweeping import Due, Expiry, SweepStore

_DAY: Final = 86_400 * MICROSECONDS
Removal = Callable[[Transaction], Awaitable[int]]

EVERY_S: Final = 3_600.0
# Random, so that servers that start together do not sweep together.
_FIRST_DELAY_S: Final = (30.0, 300.0)
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


class Sweeping:
    def __init__(self, database: Database, clock: Clock, pause_s: float = _PAUSE_S) -> None:
        self._database = database
        self._store = SweepStore(database)
        self._answers = IdempotencyStore(database)
        self._trash = TrashStore(database)
        self._runs = IngestRunStore(database)
        self._kept_pages = KeptPageStore(database)
        self._file_imports = FileImportStore(database)
        self._changes = ChangeStore(database)
        self._imports = RunStore(database)
        self._sessions = SessionStore(database)
        self._activity = ActivityStore(database)
        self._links = OneTimeLinkStore(database)
        self._attempts = SpentAttemptStore(database)
        self._views = ViewStore(database)
        self._annotations = AnnotationUpkeep(database, pause_s)
        self._bulk = BulkStore(database)
        self._clock = clock
        self._pause_s = pause_s
        self._log = structlog.get_logger()

    async def sweep(self) -> int:
        """Handles every account once; returns the number of removed rows."""
        now = self._clock()
        await self._annotations.run(now)
        expiry = _expiry(now)
        removed, after = await self._sweep_proofs(now), 0
        while page := await self._store.next_accounts(after, _ACCOUNTS_PER_PAGE, expiry):
            for due in page:
                removed += await self._sweep_account(due, now, expiry)
                if due.has_stopped_runs:
                    await self._interrupt_runs(due.account_id, expiry.stopped_before)
                if due.has_old_ingest:
                    removed += await self._sweep_ingest(due.account_id, expiry)
                removed += await self._sweep_website(due, now, expiry)
            after = page[-1].account_id
        return removed

    async def keep_sweeping(self, every_s: float = EVERY_S, first_s: float | None = None) -> None:
        """Sweeps regularly until it is cancelled."""
        pause = random.uniform(*_FIRST_DELAY_S) if first_s is None else first_s  # noqa: S311 - no secret
        while True:
            await asyncio.sleep(pause)
            await self._try_to_sweep()
            pause = every_s

    async def _sweep_account(self, due: Due, now: int, expiry: Expiry) -> int:
        async def answers(transaction: Transaction) -> int:
            return await self._answers.sweep(
                transaction, due.account_id, expiry.answers_before, _REMOVED_PER_TRANSACTION
            )

        async def trash(transaction: Transaction) -> int:
            return await self._trash.empty(
                transaction,
                due.account_id,
                before=expiry.trash_before,
                most=_REMOVED_PER_TRANSACTION,
            )

        async def logs(transaction: Transaction) -> int:
            run = await self._changes.expired(transaction, due.account_id, now)
            if run is None:
                return 0
            # The last removal of a run removes no change, but marks its log as empty.
            return 1 + await self._changes.remove_first(
                transaction, due.account_id, run, _REMOVED_PER_TRANSACTION
            )

        async def changes(transaction: Transaction) -> int:
            return await self._bulk.sweep(
                transaction,
                due.account_id,
                now=now,
                stopped_before=expiry.stopped_before,
                most=_REMOVED_PER_TRANSACTION,
            )

        removed = await self._repeat(answers) if due.has_old_answers else 0
        removed += await self._repeat(changes) if due.has_old_changes else 0
        removed += await self._repeat(trash) if due.has_old_trash else 0
        return removed + (await self._repeat(logs) if due.has_old_logs else 0)

    async def _interrupt_runs(self, account_id: int, before: int) -> None:
        async def some(transaction: Transaction) -> int:
            return await self._imports.interrupt(
                transaction,
                account_id,
                before=before,
                kept=change_log.KEPT,
                most=_REMOVED_PER_TRANSACTION,
            )

        await self._repeat(some)

    async def _sweep_ingest(self, account_id: int, expiry: Expiry) -> int:
        pages_before, runs_before = expiry.pages_before, expiry.runs_before

        async def pages(transaction: Transaction) -> int:
            return await self._runs.sweep(
                transaction,
                account_id,
                pages_before=pages_before,
                runs_before=runs_before,
                most=_REMOVED_PER_TRANSACTION,
            )

        async def kept(transaction: Transaction) -> int:
            return await self._kept_pages.sweep(
                transaction, account_id, expiry.kept_before, _KEPT_PAGES_PER_TRANSACTION
            )

        async def files(transaction: Transaction) -> int:
            return await self._file_imports.sweep(
                transaction, account_id, pages_before, _REMOVED_PER_TRANSACTION
            )

        return sum([await self._repeat(removal) for removal in (pages, kept, files)])

    async def _sweep_website(self, due: Due, now: int, expiry: Expiry) -> int:
        async def sessions(transaction: Transaction) -> int:
            return await self._sessions.sweep(transaction, due.account_id, Alive.at(now))

        async def entries(transaction: Transaction) -> int:
            return await self._activity.sweep(
                transaction,
                due.account_id,
                expiry.activity_before,
                expiry.activity_most,
                _REMOVED_PER_TRANSACTION,
            )

        async def views(transaction: Transaction) -> int:
            return await self._views.forget_deleted(
                transaction, due.account_id, expiry.views_before, DELETED_VIEWS_MAX
            )

        removed = await self._repeat(sessions) if due.has_old_sessions else 0
        removed += await self._repeat(views) if due.has_old_views else 0
        return removed + (await self._repeat(entries) if due.has_old_activity else 0)

    async def _sweep_proofs(self, now: int) -> int:
        """Links and attempts of any account, and of none."""

        async def links(transaction: Transaction) -> int:
            return await self._links.sweep(transaction, now, _REMOVED_PER_TRANSACTION)

        async def attempts(transaction: Transaction) -> int:
            return await self._attempts.sweep(transaction, now, _REMOVED_PER_TRANSACTION)

        has_links, has_attempts = await self._store.has_old_proofs(now)
        removed = await self._repeat(links) if has_links else 0
        return removed + (await self._repeat(attempts) if has_attempts else 0)

    async def _repeat(self, removal: Removal) -> int:
        """Runs a removal until nothing is left; returns the number of removed rows."""
        removed = 0
        while count := await self._database.write(removal):
            removed += count
            await asyncio.sleep(self._pause_s)
        return removed

    async def _try_to_sweep(self) -> None:
        try:
            removed = await self.sweep()
        except Refusal as refused:
            self._log.warning("sweep postponed", reason=refused.sentence)
        except Exception:  # noqa: BLE001 - the next sweep tries again
            self._log.exception("sweep failed")
        else:
            if removed:
                self._log.info("sweep finished", removed_rows=removed)


def _expiry(now: int) -> Expiry:
    alive = Alive.at(now)
    return Expiry(
        answers_before=now - RETENTION_HOURS * 3_600 * MICROSECONDS,
        trash_before=now - KEPT_DAYS * _DAY,
        logs_before=now,
        stopped_before=now - _STOPPED_AFTER,
        undo_kept=change_log.KEPT,
        pages_before=now - RETENTION_DAYS * _DAY,
        kept_before=now - KEPT_PAGE_DAYS * _DAY,
        runs_before=now - _RUNS_KEPT_DAYS * _DAY,
        sessions_used_after=alive.used_after,
        sessions_created_after=alive.created_after,
        activity_before=now - activity.KEPT_DAYS * _DAY,
        activity_most=activity.ENTRIES_MAX,
        views_before=now - DELETED_VIEW_S * MICROSECONDS,
    )
