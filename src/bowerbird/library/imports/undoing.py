"""Undoes a run of an import: the library gets back what the run changed.

What the owner did since stays. A post that the run created is removed, unless its owner has read or
archived it or given it another label; such a post stays. A changed post gets back its content, its
place, and those flags and labels that the run changed. If a later run has changed the post as well,
it stays as it is, and undoing the later run restores the state before both. The demo library is
removed as a whole, whatever its owner did with it.

Each turn handles some posts and removes them from the log, so an interrupted undo can be repeated.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity, turns
from bowerbird.library.access.turns import DoFirst
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import ChangedBy
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bookmarks.writing.trash_batch import DELETIONS_MAX
from bowerbird.library.bookmarks.writing.upsert import Upsert, writes_of
from bowerbird.library.bookmarks.writing.upsert_batch import removed_at_of
from bowerbird.model import events
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.arrival import (
    DEMO,
    Change,
    Completeness,
    Counts,
    Incoming,
    RunRow,
    RunState,
    State,
    UndoCounts,
)
from bowerbird.model.bulk import PostField, ValueKind, value_key
from bowerbird.model.events import EventType, Happening
from bowerbird.model.labels import Label
from bowerbird.sources import own_json
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.imports import CurrentPost, Replaced
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService


def undone(change: Change, state: State) -> State | None:
    """A state of a bookmark without a change; None if the bookmark would not exist.

    Flags and labels that its owner has changed since the run stay.
    """
    before = change.before
    if before is None:
        is_touched = (state.is_read, state.is_archived) != (
            change.is_read,
            change.is_archived,
        ) or not set(state.labels) <= set(change.labels)
        return state if is_touched else None
    added = set(change.labels) - set(before.labels)
    removed = set(before.labels) - set(change.labels)
    return msgspec.structs.replace(
        before,
        is_read=before.is_read if state.is_read == change.is_read else state.is_read,
        is_archived=(
            before.is_archived if state.is_archived == change.is_archived else state.is_archived
        ),
        labels=tuple(sorted((set(state.labels) - added) | removed)),
    )


def _as_before(
    state: State, run_removed_at: str | None, current: CurrentPost, labels: Mapping[int, Label]
) -> Incoming:
    """The post of an earlier state. Labels that were deleted since the run do not come back."""
    stored = zlib.decompress(state.rendering) + b"}"
    record = own_json.read(stored, is_stored=True).incoming.record
    removed_at = removed_at_of(current.rendering)
    if removed_at not in (record.removed_at or "", run_removed_at):
        # The source has said since whether the post is still saved there.
        record = msgspec.structs.replace(record, removed_at=removed_at or UNSET)
    return own_json.incoming_of(
        msgspec.structs.replace(
            record,
            sort_index=state.sort_index,
            is_read=state.is_read,
            is_archived=state.is_archived,
        ),
        imported_at=state.imported_at,
        bookmarked_at=state.bookmarked_at,
        tags={labels[one].name_key: labels[one].name for one in state.labels if one in labels},
        completeness=state.completeness,
        order_source=state.order_source,
    )


# Fewer than a turn of a label change, because the words of a post are written as well.
POSTS_PER_TURN: Final = 200
_LABELS_PER_TURN: Final = 500


class UndoOutcome(Struct, frozen=True, kw_only=True):
    run_id: str
    state: RunState
    """undone."""
    removed: int
    """New posts that were removed again."""
    restored: int
    """Changed posts that are as they were before."""
    kept: int
    """Posts that stay, because the account or a later import has changed them since."""


class Undoing(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._upsert = Upsert(database, clock)
        self._demo = DemoRemoval(database, clock)

    async def undo(self, library: Writable, run_id: str) -> UndoOutcome:
        """What the undo did. It takes its turns before, in transactions of its own."""
        run = await self._stores.import_runs.by_id(library, run_id)
        if run is None:
            raise errors.not_found("import", run_id)
        if run.state is RunState.UNDONE:
            return _outcome(run, run.undone)
        # Refused here, because a refusal is stored under the key of a request.
        self._require_log(run)
        raise DoFirst(lambda: self._take_turns(library.account_id, run_id))

    async def _take_turns(self, account_id: int, run_id: str) -> None:
        is_finished = False
        while not is_finished:
            is_finished = await turns.run(
                self._database,
                lambda transaction: self._turn(transaction, account_id, run_id),
                account_id,
                is_continuing=True,
            )

    async def _turn(self, transaction: Transaction, account_id: int, run_id: str) -> bool:
        """Whether the undo is finished."""
        opened = await LabelRenames(self._database).lock(transaction, account_id)
        run = await self._stores.import_runs.by_id(opened, run_id)
        if run is None or run.state is RunState.UNDONE:
            return True
        if run.state is not RunState.UNDOING:
            await self._begin(opened, run)
        sizes = await self._stores.import_changes.sizes(opened, run.number, POSTS_PER_TURN)
        if sizes:
            some = turns.fitting(sizes, POSTS_PER_TURN)
            await self._undo_posts(opened, run, some)
            return False
        if not await self._undo_labels(opened, run):
            return False
        await self._stores.import_changes.remove_first(opened, run.number, 1)
        await self._stores.import_runs.set_state(
            opened,
            run,
            state=RunState.UNDONE,
            reason=run.reason,
            finished_at=self._clock() if run.finished_at is None else run.finished_at,
        )
        return True

    def _require_log(self, run: RunRow) -> None:
        is_over = run.undo_until < self._clock() and run.kind != DEMO
        if is_over and run.state is not RunState.UNDOING:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"Import {run.run_id} can no longer be undone, because its changes are not "
                "recorded any more.",
            )

    async def _begin(self, library: Writable, run: RunRow) -> None:
        self._require_log(run)
        await self._stores.import_runs.set_state(
            library, run, state=RunState.UNDOING, reason=run.reason, finished_at=run.finished_at
        )
        entry = activity.entry(self._clock, ActivityKind.IMPORT_UNDONE, run.source)
        await self._stores.activity.add(library, entry)
        if run.kind == DEMO:
            removed = await self._demo.remove(library, run)
            counts = UndoCounts(removed=removed)
            await self._stores.import_runs.add_undone(library, run.number, counts)

    async def _undo_posts(self, opened: LockedLibrary, run: RunRow, some: int) -> None:
        logged = dict(await self._stores.import_changes.of_run(opened, run.number, some))
        changes = {number: change for number, change in logged.items() if change is not None}
        taken_over = [number for number, change in logged.items() if change is None]
        left = await self._stores.import_changes.current(opened, taken_over) if taken_over else ()
        later = await self._stores.import_changes.of_posts(opened, list(changes), after=run.number)
        handed_on = [
            Replaced(run_number, number, change, _handed_on(changes[number], change))
            for number, ((run_number, change), *_) in later.items()
        ]
        await self._stores.import_changes.replace(opened, handed_on)
        own = {number: change for number, change in changes.items() if number not in later}
        done = await self._restore(opened, own)
        await self._stores.import_changes.remove_to(opened, run.number, list(logged))
        counts = done + UndoCounts(kept=len(handed_on) + len(left))
        await self._stores.import_runs.add_undone(opened, run.number, counts)

    async def _restore(self, opened: LockedLibrary, changes: dict[int, Change]) -> UndoCounts:
        current = await self._stores.import_changes.current(opened, list(changes))
        states = {number: undone(changes[number], now.state) for number, now in current.items()}
        back = {
            number: state
            for number, state in states.items()
            if state is not None and state is not current[number].state
        }
        removed = [number for number, state in states.items() if state is None]
        if back:
            wanted = {label_id for state in back.values() for label_id in state.labels}
            labels = await self._stores.labels.by_ids(opened, sorted(wanted))
            arrivals = [
                _as_before(state, changes[number].removed_at, current[number], labels)
                for number, state in back.items()
            ]
            await self._upsert.put_into(opened, writes_of(arrivals), by=ChangedBy.UNDO)
            emptied = [
                current[number].post_id
                for number, state in back.items()
                if state.completeness == Completeness.STUB < current[number].state.completeness
            ]
            await self._stores.links.add(opened, emptied, self._clock())
        if removed:
            # Again, because what was given back has raised its version.
            opened = await self._stores.libraries.lock(opened.transaction, opened.account_id)
            purged = [current[number].post_id for number in removed]
            await _purge(self._database, opened, purged, self._clock())
            marks = [changes[number].deletion for number in removed]
            await self._stores.deletions.put(opened, list(filter(None, marks)), DELETIONS_MAX)
        kept = len(states) - len(removed) - len(back)
        return UndoCounts(removed=len(removed), restored=len(back), kept=kept)

    async def _undo_labels(self, opened: LockedLibrary, run: RunRow) -> bool:
        """Removes labels that the run created and nobody uses; True if none are left to look at."""
        created = await self._stores.import_changes.labels(opened, run.number, _LABELS_PER_TURN)
        if not created:
            return True
        labels = await self._stores.labels.by_ids(opened, [one for one, _ in created])
        used = []
        removed = []
        for label_id, name in created:
            label = labels.get(label_id)
            if label is None or label.color or (label.name, label.metadata) != (name, "{}"):
                continue
            if label.bookmark_count:
                used.append((label_id, name))
            else:
                await self._stores.labels.delete(opened, label)
                removed.append(label)
        later = await self._stores.import_changes.later_run(opened, run.number)
        if later is not None:
            await self._stores.import_changes.add_labels(opened, later, used)
        await self._stores.import_changes.delete_labels(opened, run.number, created[-1][0])
        if removed:
            happened = events.of_labels(EventType.LABEL_DELETED, removed)
            await self._stores.libraries.advance(opened, Counts(), happened, self._clock())
        return False


def _handed_on(earlier: Change, later: Change) -> Change:
    """The change of the later run, as if the earlier one had not taken place."""
    if later.before is None:
        return later
    before = undone(earlier, later.before)
    deletion = earlier.deletion if before is None else later.deletion
    removed_at = earlier.removed_at if later.removed_at is None else later.removed_at
    return msgspec.structs.replace(later, before=before, deletion=deletion, removed_at=removed_at)


def _outcome(run: RunRow, counts: UndoCounts) -> UndoOutcome:
    return UndoOutcome(run_id=run.run_id, state=run.state, **msgspec.structs.asdict(counts))


async def _purge(
    database: Database, opened: LockedLibrary, post_ids: Sequence[str], now: int
) -> int:
    """Removes posts for good; returns how many there were."""
    changeset = await Changeset.open(database, opened)
    await changeset.load(post_ids)
    posts = [post for one in post_ids if (post := changeset.post(one)) is not None]
    await changeset.remove(posts, is_purged=True)
    await changeset.finish(now)
    return len(posts)


# A run that never ended was killed. Filling in the demo takes much less than this.
FILLING: Final = 60 * MICROSECONDS


class DemoRemoval(TimedService):
    async def remove(self, library: Writable, run: RunRow | None) -> int:
        """Returns how many posts were removed. Labels and the view are known by their run."""
        post_ids = await self._stores.demo.posts(library)
        opened = await self._stores.libraries.lock(library.transaction, library.account_id)
        removed = await _purge(self._database, opened, post_ids, self._clock())
        await self._stores.demo.forget_deleted(library)
        if run is not None:
            await self._remove_named(
                await self._stores.libraries.lock(library.transaction, library.account_id), run
            )
        return removed

    async def _remove_named(self, library: LockedLibrary, run: RunRow) -> None:
        """Removes the views and labels that were made while the run filled in the demo."""
        first, last = run.started_at, run.finished_at or run.started_at + FILLING
        happened: list[Happening] = []
        for slug, view in (await self._stores.views.all(library)).items():
            if first <= view.created_at <= last:
                await self._stores.views.delete(library, slug)
                key = value_key(ValueKind.VIEW, slug)
                await self._stores.bulk.take_over(library, [(key, PostField.VALUE)])
                happened.append(Happening(EventType.VIEW_DELETED, view=slug))
        unused = await self._stores.demo.unused_labels(library, (first, last))
        labels = await self._stores.labels.by_ids(library, unused)
        for label in labels.values():
            await self._stores.labels.delete(library, label)
        happened += events.of_labels(EventType.LABEL_DELETED, labels.values())
        await self._stores.libraries.touch(library, happened, self._clock())
