"""What an account can do with changes of many posts: start one, follow it, and undo it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity, plans, turns
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import KeptChanges, new_change
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bulk.rule_references import RuleReferences
from bowerbird.library.bulk.turn import BulkTurns
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.bulk import (
    KIND,
    WHOLE_LABEL_ACTIONS,
    BulkAction,
    BulkRow,
    BulkState,
    Changed,
    ChangedLabel,
)
from bowerbird.model.jobs import CHANGES, JobState
from bowerbird.model.labels import Label
from bowerbird.storage.changes.bulk import packed
from bowerbird.storage.database import Database, Readable, Reader, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_MAX_ID_LENGTH: Final = 64
# How long a request waits for a change before it answers that a job does the rest.
WAIT_S: Final = 30.0


class NewChange(Struct, frozen=True):
    """A change to start: its action, its posts in the order they are changed, and its label."""

    action: BulkAction
    # Some posts per text, as they are stored.
    parts: Sequence[bytes]
    matched: int
    label_name: str | None = None
    # Of a batch: its labels. Each post is `post:label`, with the id of the label that it gets.
    labels: Sequence[ChangedLabel] = ()
    # Whether somebody has named each post: a label that it loses is not suggested for it any more.
    is_named: bool = False


def packed_parts(post_ids: Sequence[str]) -> list[bytes]:
    """The posts of a change as they are stored: those of a turn in one text."""
    some = turns.POSTS_PER_TURN
    return [packed(post_ids[first : first + some]) for first in range(0, len(post_ids), some)]


class BulkChanges(TimedService):
    def __init__(
        self, database: Database, clock: Clock, wake: Callable[[], None] = lambda: None
    ) -> None:
        """`wake` is called when a job has been added, for a worker in the same process."""
        super().__init__(database, clock)
        self._wake = wake
        self._kept_changes = KeptChanges(database, clock)
        self._turns = BulkTurns(database, clock)
        self._rules = RuleReferences(database, clock)

    async def start(self, transaction: Transaction, account: Account, change: NewChange) -> BulkRow:
        """Starts a change and takes its first turn. A job does what is left."""
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        number = await self._kept_changes.number(library)
        label = None
        if change.label_name is not None:
            plans.check_writes(account)
            label = await self._named(library, change)
            if label is not None and change.is_named and change.action is BulkAction.REMOVE_LABEL:
                label = msgspec.structs.replace(label, is_refused=True)
        row = self._new(number, change.action, label, change.matched)
        if change.labels:
            plans.check_writes(account)
            row = msgspec.structs.replace(row, labels=change.labels)
        await self._stores.bulk.insert(library, row)
        await self._stores.bulk.add_parts(library, number, change.parts)
        if change.action is BulkAction.TRASH and change.matched:
            entry = activity.entry(self._clock, ActivityKind.POSTS_DELETED)
            await self._stores.activity.add(library, entry)
        return await self._first_turn(library, row)

    async def start_label(
        self, transaction: Transaction, account: Account, label_id: str, into_id: str | None = None
    ) -> BulkRow:
        """Deletes a label, or merges it into another one."""
        plans.check_writes(account)
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        number = await self._kept_changes.number(library)
        ids = [one for one in (label_id, into_id) if one is not None]
        changeset = await Changeset.open(self._database, library, label_ids=ids)
        found = {one: changeset.label_of_id(one) for one in ids}
        # A label that an earlier change is about to delete is as good as deleted.
        ending = await self._stores.bulk.ending_labels(library)
        for one in ids:
            if found[one] is None or int(one) in ending:
                raise errors.not_found("label", one)
        if label_id == into_id:
            problem = "must be a different label: names that differ only in case are the same label"
            raise errors.invalid("into", problem)
        label = found[label_id]
        assert label is not None
        kept = await self._kept(library, label)
        into = found[into_id] if into_id is not None else None
        if into is not None:
            was_favourite = await self._stores.accounts.follow_label(library, label.name, into.name)
            kept = msgspec.structs.replace(
                kept, into_id=into.label_id, new_name=into.name, was_favourite=was_favourite
            )
        if into is None:
            rules = await self._rules.label_deleted(library, label.name)
        else:
            rules = await self._rules.rename(library, label.name, into.name)
        action = BulkAction.DELETE_LABEL if into_id is None else BulkAction.MERGE_LABELS
        row = self._new(number, action, kept, label.bookmark_count)
        row = await self._keeping(library, row, rules)
        return await self._first_turn(library, row)

    async def rename(
        self, library: LockedLibrary, label: Label, name: str, *, changed: Sequence[Changed] = ()
    ) -> BulkRow:
        """Renames a label at once, and on its posts in turns. No label may be being renamed.

        `changed`: what else the request has changed, for the same undo.
        """
        number = await self._stores.bulk.next_number(library)
        kept = msgspec.structs.replace(await self._kept(library, label), new_name=name)
        row = self._new(number, BulkAction.RENAME_LABEL, kept, label.bookmark_count)
        row = await self._keeping(library, row, changed)
        return await self._first_turn(library, row)

    async def _keeping(
        self, library: LockedLibrary, row: BulkRow, changed: Sequence[Changed]
    ) -> BulkRow:
        """Stores a new change with the values that it has replaced."""
        row = msgspec.structs.replace(row, kept=len(changed))
        await self._stores.bulk.insert(library, row)
        await self._stores.bulk.record(library, row.number, changed, library.version + 1)
        return row

    async def undo(self, transaction: Transaction, account: Account, change_id: str) -> BulkRow:
        """Starts the undo of a change and takes its first turn. A job does what is left."""
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        row = self._required(await self._found(transaction, account, change_id), change_id)
        if row.state in (BulkState.UNDONE, BulkState.UNDOING):
            return row
        # What is left of a change that is still working is not done any more.
        await self._stores.bulk.delete_parts(library, row.number)
        labels = [msgspec.structs.replace(one, is_begun=False) for one in row.labels]
        if row.label is not None:
            await self._unfollow(library, row.label)
        row = msgspec.structs.replace(
            row, state=BulkState.UNDOING, labels=labels, finished_at=None, job_id=""
        )
        return await self._first_turn(library, row)

    async def _unfollow(self, library: Writable, label: ChangedLabel) -> None:
        """Makes a merged label the favourite again if no other was chosen."""
        if label.into_id is None or not label.was_favourite:
            return
        into = await self._stores.labels.by_id(library, label.into_id)
        if into is not None:
            await self._stores.accounts.follow_label(library, into.name, label.name)

    async def get(self, account: Account, change_id: str) -> BulkRow:
        return self._required(await self._found(self._database, account, change_id), change_id)

    async def problem(self, account: Account, row: BulkRow) -> str | None:
        """Why the rest of a change will not be made, if its job has failed."""
        if row.is_finished or not row.job_id:
            return None
        job = await self._stores.jobs.one(account.account_id, row.job_id)
        return job.error if job is not None and job.state == JobState.FAILED else None

    async def run(self, account: Account, change: NewChange) -> BulkRow:
        """Starts a change in a transaction of its own."""
        return await self.write(account, lambda t: self.start(t, account, change))

    async def run_label(
        self, account: Account, label_id: str, into_id: str | None = None
    ) -> BulkRow:
        """Deletes a label, or merges it into another one, in a transaction of its own."""
        return await self.write(account, lambda t: self.start_label(t, account, label_id, into_id))

    async def run_undo(self, account: Account, change_id: str) -> BulkRow:
        """Undoes a change in a transaction of its own."""
        return await self.write(account, lambda t: self.undo(t, account, change_id))

    async def write(
        self, account: Account, work: Callable[[Transaction], Awaitable[BulkRow]]
    ) -> BulkRow:
        """Starts a change in a transaction, and wakes the worker if a job is left."""
        row = await turns.run(self._database, work, account.account_id)
        if not row.is_finished:
            self._wake()
        return row

    async def finish(self, account: Account, change_id: str) -> BulkRow:
        """Takes all turns that are left of a change or of its undo. The job calls it."""
        row = await self.get(account, change_id)
        while not row.is_finished:
            row = await turns.run(
                self._database,
                lambda transaction: self.turn(transaction, account, change_id),
                account.account_id,
                is_continuing=True,
            )
        return row

    async def finish_soon(self, account: Account, change_id: str) -> BulkRow | None:
        """Takes turns for a request that waits, as the job would; None if many are left."""
        try:
            async with asyncio.timeout(WAIT_S):
                return await self.finish(account, change_id)
        except (TimeoutError, Refusal):
            self._wake()
            return None

    async def turn(self, transaction: Transaction, account: Account, change_id: str) -> BulkRow:
        """Takes the next turn of a change or of its undo, or of one that was accepted before it."""
        # Locked before the change is read: the job and a request may take turns of the same one.
        library = await self._stores.libraries.lock(transaction, account.account_id)
        row = self._required(await self._found(transaction, account, change_id), change_id)
        if row.action is BulkAction.RENAME_LABEL:
            # It waits for no other change, because all others wait for it.
            return await self._turns.take(library, row)
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        earlier = await self._before(library, row)
        turned = await self._turns.take(library, earlier or row)
        return turned if earlier is None else row

    async def _first_turn(self, library: LockedLibrary, row: BulkRow) -> BulkRow:
        """Takes the first turn if nothing else is under way. A job does what is left."""
        position = await self._stores.bulk.next_position(library)
        row = msgspec.structs.replace(row, position=position)
        if _waits_for_none(row) or await self._before(library, row) is None:
            row = await self._turns.take(library, row)
            if row.is_finished:
                return row
        job_id = await self._stores.jobs.add(
            library,
            KIND,
            msgspec.json.encode(row.change_id),
            priority=CHANGES,
            now=self._clock(),
            # The job of the change may not have ended when that of its undo starts.
            unique=f"{row.change_id} {row.state}",
        )
        row = msgspec.structs.replace(row, job_id=job_id)
        await self._stores.bulk.update(library, row)
        return row

    async def _before(self, library: LockedLibrary, row: BulkRow) -> BulkRow | None:
        """What has to be finished first: changes and undos are made in the order of acceptance.

        So undoing them in the reverse order gives the state before, even if they have posts in
        common and several jobs work on them.
        """
        first = await self._stores.bulk.first_open(library, besides=row.number)
        if first is None or (first.position, first.number) > (row.position, row.number):
            return None
        return first

    async def _named(self, library: LockedLibrary, change: NewChange) -> ChangedLabel | None:
        """The label that the change adds or removes. One to add is created if posts get it."""
        assert change.label_name is not None
        changeset = await Changeset.open(self._database, library, [change.label_name])
        label = changeset.label(change.label_name)
        if label is not None:
            kept = await self._kept(library, label)
            ending = await self._stores.bulk.ending_labels(library)
            return msgspec.structs.replace(kept, is_ending=label.label_id in ending)
        if change.action is BulkAction.REMOVE_LABEL:
            raise errors.not_found("label", change.label_name)
        if not change.matched:
            return None
        label = await changeset.create_label(change.label_name)
        await changeset.finish(self._clock())
        return ChangedLabel(label.label_id, label.name, is_new=True)

    async def _kept(self, library: LockedLibrary, label: Label) -> ChangedLabel:
        created_at = await self._stores.labels.created_at(library, label.label_id)
        return ChangedLabel(
            label.label_id, label.name, label.metadata, created_at, color=label.color
        )

    def _new(
        self, number: int, action: BulkAction, label: ChangedLabel | None, matched: int
    ) -> BulkRow:
        labels = [] if label is None else [label]
        return new_change(number, action, labels, matched, self._clock())

    async def _found(self, reader: Reader, account: Account, change_id: str) -> BulkRow | None:
        if not _is_id(change_id):
            return None
        return await self._stores.bulk.by_id(Readable(reader, account.account_id), change_id)

    def _required(self, row: BulkRow | None, change_id: str) -> BulkRow:
        """A change exists until it can no longer be undone."""
        if row is None or (row.finished_at is not None and row.undo_until < self._clock()):
            raise Refusal(
                Code.NOT_FOUND,
                f"No change {errors.shown(change_id)} on this account can be undone.",
            )
        return row


def _waits_for_none(row: BulkRow) -> bool:
    """Whether nothing has to be written, or others wait for it."""
    if row.action is BulkAction.RENAME_LABEL:
        return True
    if row.state is BulkState.WORKING:
        return not row.matched and row.action not in WHOLE_LABEL_ACTIONS
    return not row.kept and not any(one.is_new for one in row.labels)


def _is_id(text: str) -> bool:
    return len(text) <= _MAX_ID_LENGTH and text.isascii() and text.isalnum()
