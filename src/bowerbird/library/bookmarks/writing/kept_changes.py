"""Keeps changes for a while, so that they can be undone, and bounds what is kept.

A change beyond a bound is not refused: the oldest finished one can no longer be undone, and what is
kept of it is removed, at least as many rows as are added. So is the log of the oldest run of an
import; runs can be undone for 30 days.
"""

import secrets
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

import msgspec

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.upsert_batch import Batch
from bowerbird.model.arrival import Deletion, RunRow
from bowerbird.model.bulk import (
    BulkAction,
    BulkRow,
    BulkState,
    Changed,
    ChangedLabel,
    owner_of,
    undo_s,
)
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.imports import Log
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_ID_BYTES: Final = 12
_WAIT_S: Final = 10
_REMOVED_PER_TURN: Final = 500
# Reading the list of kept changes takes longer than writing one of a single post. So room is made
# for every change of many posts, and once for so many others.
_SMALL_CHANGES: Final = 50
_SMALL_ROWS: Final = 10


class Done(NamedTuple):
    """What a transaction has done with posts that a request names."""

    action: BulkAction
    changed: Sequence[Changed]
    labels: Sequence[ChangedLabel] = ()
    matched: int = 1


class KeptChanges(TimedService):
    def __init__(self, database: Database, clock: Clock, *, is_off: bool = False) -> None:
        """`is_off`: for the sandbox, which stores nothing that could be undone."""
        super().__init__(database, clock)
        self._is_off = is_off

    async def finish(
        self, changeset: Changeset, action: BulkAction, matched: int, *, at: int | None = None
    ) -> BulkRow | None:
        """Writes the changes of a changeset that was opened with `is_recorded`, and keeps them.

        None if nothing has changed. `at`: when, if a caller of many changes makes room for all of
        them afterwards.
        """
        done = Done(action, changeset.changed, changeset.changed_labels, matched)
        await changeset.finish(self._clock() if at is None else at)
        await changeset.claim()
        return await self.keep(changeset.library, done, makes_room=at is None)

    async def keep(
        self,
        library: LockedLibrary,
        done: Done,
        onto: BulkRow | None = None,
        *,
        makes_room: bool = True,
    ) -> BulkRow | None:
        """Keeps what a transaction has changed, after it has raised the version once.

        `onto`: an earlier change that is undone together with it, and is returned.
        """
        action, changed, labels, matched = done
        if self._is_off or (not changed and not any(label.is_new for label in labels)):
            return onto
        now = self._clock()
        if onto is None:
            number = await self._stores.bulk.next_number(library)
            onto = new_change(number, action, [], 0, now)
        else:
            await self._stores.bulk.remove(library, onto.number)
        is_large = len(changed) > _SMALL_ROWS or onto.number % _SMALL_CHANGES == 0
        if makes_room and is_large:
            await self.make_room(library, len(changed))
        count = len({owner_of(one.post_id) for one in changed})
        row = msgspec.structs.replace(
            ended(onto, BulkState.DONE, now),
            labels=[*onto.labels, *labels],
            matched=onto.matched + matched,
            done=onto.done + matched,
            changed=onto.changed + (count or int(action is BulkAction.CREATE_LABEL)),
            kept=onto.kept + len(changed),
        )
        await self._stores.bulk.insert(library, row)
        await self._stores.bulk.record(library, row.number, changed, library.version + 1)
        return row

    async def number(self, library: LockedLibrary) -> int:
        """The number of a new change. Refused while too many are unfinished."""
        unfinished = await self._stores.bulk.count_unfinished(library)
        if unfinished >= limits.UNFINISHED_CHANGES_MAX:
            raise Refusal(
                Code.RATE_LIMITED,
                f"This account has {unfinished} unfinished changes. Wait until some have finished.",
                {"Retry-After": str(_WAIT_S)},
            )
        return await self._stores.bulk.next_number(library)

    async def make_room(self, library: LockedLibrary, added: int = 0) -> None:
        """Removes some of what is kept beyond the bounds. Call it in each turn of a change."""
        kept = await self._stores.bulk.kept(library)
        rows = sum(one.rows for one in kept)
        extra = sum(one.is_finished for one in kept) - limits.KEPT_CHANGES_MAX
        left, now = max(_REMOVED_PER_TURN, added), self._clock()
        # The last of those that are removed together, and whether one before them stays.
        last, is_behind = 0, False
        for one in kept:
            is_over = extra > 0 or rows > limits.KEPT_CHANGED_POSTS_MAX
            if not one.is_finished or (not is_over and one.undo_until >= now):
                is_behind = True
                continue
            if is_behind or one.rows >= left:
                is_behind = True
                # It may be removed in part.
                await self._stores.bulk.expire(library, one.number)
                left -= await self._stores.bulk.remove_first(library, one.number, left)
            else:
                last = one.number
                left -= one.rows
            extra -= 1
            rows -= one.rows
            if left <= 0:
                # The others wait for the next turn, so that this one stays short.
                break
        if last:
            await self._stores.bulk.remove_up_to(library, last)


def new_change(
    number: int, action: BulkAction, labels: Sequence[ChangedLabel], matched: int, now: int
) -> BulkRow:
    return BulkRow(
        number=number,
        change_id=secrets.token_hex(_ID_BYTES),
        action=action,
        labels=labels,
        state=BulkState.WORKING,
        matched=matched,
        done=0,
        changed=0,
        restored=0,
        kept=0,
        created_at=now,
        finished_at=None,
        undo_until=0,
        job_id="",
        position=0,
        made_by=activity.maker(),
    )


def ended(row: BulkRow, state: BulkState, now: int) -> BulkRow:
    """The change once it or its undo is finished."""
    until = now + undo_s(row.action) * MICROSECONDS
    return msgspec.structs.replace(row, state=state, finished_at=now, undo_until=until)


UNDO_DAYS: Final = 30
KEPT: Final = UNDO_DAYS * 86_400 * MICROSECONDS
LOG_BYTES_MAX: Final = 256 << 20


class ChangedBy(Enum):
    """Who changes a post without a run, which decides what an undo of an earlier run restores."""

    # The post belongs to no run any more.
    OWNER = auto()
    # Its new content stays.
    SOURCE = auto()
    # It only says that the post was removed at its source, which an undo keeps anyway.
    MARK = auto()
    # The undo of another run, which gives back what the post had.
    UNDO = auto()


def undo_until(now: int) -> int:
    return now + KEPT


class ChangeLog(TimedService):
    async def record(
        self,
        opened: LockedLibrary,
        run: RunRow | None,
        batch: Batch,
        *,
        created: Sequence[Label],
        deletions: Mapping[str, Deletion],
        by: ChangedBy = ChangedBy.OWNER,
    ) -> None:
        if run is None or not run.undo_until:
            # What is not recorded stays when a run is undone.
            numbers = [row["number"] for row in batch.changed]
            is_noted = run is not None or by in (ChangedBy.OWNER, ChangedBy.SOURCE)
            if not numbers or not is_noted:
                return
            if by is ChangedBy.OWNER or run is not None:
                await self._stores.import_changes.forget(opened, numbers)
            else:
                await self._stores.import_changes.forget_states(opened, numbers)
            return
        if batch.new or batch.changed:
            await self._stores.import_changes.add(
                opened,
                run.number,
                batch.changes(deletions.get),
                labels=created,
                undo_until=undo_until(self._clock()),
            )

    async def make_room(self, account_id: int) -> None:
        """Removes the oldest logs, in short transactions, until the others are small enough."""
        while _is_full(await self._stores.import_changes.logs(self._library(account_id))):
            await self._transact(account_id, self._remove_oldest)

    async def _remove_oldest(self, library: Writable) -> None:
        logs = await self._stores.import_changes.logs(library)
        if not _is_full(logs):
            return
        oldest = logs[0].number
        await self._stores.import_changes.give_up(library, oldest)
        await self._stores.import_changes.remove_first(library, oldest, _REMOVED_PER_TURN)


def _is_full(logs: Sequence[Log]) -> bool:
    return sum(log.size for log in logs) > LOG_BYTES_MAX
