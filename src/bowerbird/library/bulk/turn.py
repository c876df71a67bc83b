"""One turn of a change of many posts: changes some posts and keeps what it changed."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from bowerbird.clock import Clock
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import KeptChanges, ended
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames, Position
from bowerbird.library.bookmarks.writing.trash_batch import TrashBatches, fitting
from bowerbird.library.bulk.rule_references import RuleReferences
from bowerbird.library.bulk.undoing import BulkUndo
from bowerbird.model.bulk import (
    FLAG_ACTIONS,
    WHOLE_LABEL_ACTIONS,
    BulkAction,
    BulkRow,
    BulkState,
    Changed,
    ChangedLabel,
    PostField,
    ValueKind,
)
from bowerbird.model.labels import Label, name_key
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_FLAGS: Final[dict[BulkAction, dict[str, bool | None]]] = {
    action: {"is_read": is_read, "is_archived": is_archived}
    for (is_read, is_archived), action in FLAG_ACTIONS.items()
}


class _Turn(NamedTuple):
    """What a turn did: how many posts it handled, what it changed, whether posts are left."""

    handled: int
    changed: Sequence[Changed]
    is_last: bool


class BulkTurns(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._kept = KeptChanges(database, clock)
        self._renaming = LabelRenaming(database, clock)
        self._undo = BulkUndo(database, clock)
        self._batches = TrashBatches(database, clock)

    async def take(self, library: LockedLibrary, row: BulkRow) -> BulkRow:
        """Takes the next turn of a change or of its undo.

        Only that of a rename may find a label that is being renamed.
        """
        if row.is_finished:
            return row
        if row.state is BulkState.WORKING:
            # An undo adds nothing, and must not lose what it is about to give back.
            await self._kept.make_room(library)
        if row.action is BulkAction.RENAME_LABEL:
            row = await self._renaming.take(library, row)
            if row.state is not BulkState.UNDONE:
                return row
        elif row.state is BulkState.WORKING:
            return await self._take(library, row)
        return await self._undo.take(library, row)

    async def _take(self, library: LockedLibrary, row: BulkRow) -> BulkRow:
        # Again, because what came before in this transaction may have raised its version.
        library = await self._stores.libraries.lock(library.transaction, library.account_id)
        label_ids = [str(one.label_id) for one in row.labels]
        names = [row.label.name] if row.label is not None and row.label.is_ending else []
        if row.label is not None and row.label.into_id is not None:
            label_ids.append(str(row.label.into_id))
        changeset = await Changeset.open(
            self._database, library, names, label_ids, is_recorded=True, is_quiet=row.is_quiet
        )
        if row.action in WHOLE_LABEL_ACTIONS:
            row, turn = await self._label_turn(changeset, row)
        else:
            row = await self._with_label(changeset, row)
            turn = await self._part_turn(changeset, row)
        await changeset.finish(self._clock())
        await self._stores.bulk.record(library, row.number, turn.changed, changeset.version)
        changed = len({one.post_id for one in turn.changed})
        after = msgspec.structs.replace(
            row,
            done=min(row.done + turn.handled, row.matched) if not turn.is_last else row.matched,
            changed=row.changed + changed,
            kept=row.kept + len(turn.changed),
        )
        if turn.is_last:
            after = ended(after, BulkState.DONE, self._clock())
        await self._stores.bulk.update(library, after)
        return after

    async def _part_turn(self, changeset: Changeset, row: BulkRow) -> _Turn:
        library = changeset.library
        found = await self._stores.bulk.first_part(library, row.number)
        if found is None:
            return _Turn(0, (), is_last=True)
        part, items = found
        # Of a batch, each has the id of its label too.
        post_ids = [item.partition(":")[0] for item in items]
        count = await self._fitting(changeset, row.action, post_ids)
        chosen, left = items[:count], items[count:]
        changed = await self._change(changeset, row, chosen)
        await self._stores.bulk.shorten_part(library, row.number, part, left)
        is_last = not left and not await self._stores.bulk.first_part(library, row.number)
        return _Turn(count, changed, is_last)

    async def _fitting(
        self, changeset: Changeset, action: BulkAction, post_ids: Sequence[str]
    ) -> int:
        """How many of these posts one turn can change, in this order."""
        if action in _FLAGS:
            # Flags are in a narrow row; the JSON of the post is not written.
            return min(len(post_ids), turns.POSTS_PER_TURN)
        if action is BulkAction.RESTORE:
            sizes = await self._stores.trash.sizes(changeset.library, post_ids)
        else:
            sizes = await changeset.sizes(post_ids)
        return fitting(action, [sizes.get(post_id, 0) for post_id in post_ids])

    async def _change(
        self, changeset: Changeset, row: BulkRow, items: Sequence[str]
    ) -> Sequence[Changed]:
        label_ids = {one: label_id for one, _, label_id in (item.partition(":") for item in items)}
        post_ids = list(label_ids)
        if row.action is BulkAction.RESTORE:
            taken = await self._batches.take(changeset.library, post_ids)
            return [
                Changed(one, PostField.TRASHED, was_set=True, kept=msgspec.json.encode(kept))
                for one, kept in taken.items()
            ]
        await changeset.load(post_ids)
        posts = [post for one in post_ids if (post := changeset.post(one)) is not None]
        if row.action is BulkAction.TRASH:
            await self._batches.put(changeset, posts)
        elif row.action in _FLAGS:
            for post in posts:
                changeset.set_flags(post, **_FLAGS[row.action])
        else:
            for post in posts:
                _label(changeset, row, post, label_ids[post.post_id])
            if row.label is not None and row.label.is_refused:
                label = _label_of(changeset, row)
                if label is not None:
                    await changeset.refuse(posts, label)
        return changeset.changed

    async def _with_label(self, changeset: Changeset, row: BulkRow) -> BulkRow:
        """An earlier change has deleted the label by now: another one of its name counts."""
        label = row.label
        if label is None or not label.is_ending:
            return row
        found, is_new = changeset.label(label.name), False
        if found is None and row.action is BulkAction.ADD_LABEL:
            found, is_new = await changeset.create_label(label.name), True
        if found is not None:
            label = ChangedLabel(
                found.label_id, found.name, is_new=is_new, is_refused=label.is_refused
            )
        return msgspec.structs.replace(
            row, labels=[msgspec.structs.replace(label, is_ending=False)]
        )

    async def _label_turn(self, changeset: Changeset, row: BulkRow) -> tuple[BulkRow, _Turn]:
        assert row.label is not None
        label = _label_of(changeset, row)
        into = None
        if row.label.into_id is not None:
            into = changeset.label_of_id(str(row.label.into_id))
        if label is None or (into is None and row.action is BulkAction.MERGE_LABELS):
            # Another request has deleted it between two turns.
            return row, _Turn(0, (), is_last=True)
        posts, is_all = await changeset.load_labelled(label, row.label.after)
        # Other requests have added the label to these since the change was accepted.
        ids = [post.post_id for post in posts]
        claimed = await self._stores.bulk.recorded(
            changeset.library, row.number, label.label_id, ids
        )
        for post in posts:
            if post.post_id not in claimed:
                changeset.detach(post, label)
                if into is not None:
                    changeset.attach(post, into)
        if is_all and not row.label.is_kept:
            await changeset.delete_unused_label(label, into)
        after = max((post.number for post in posts), default=row.label.after)
        row = msgspec.structs.replace(row, labels=[msgspec.structs.replace(row.label, after=after)])
        return row, _Turn(len(posts), changeset.changed, is_all)


def _label(changeset: Changeset, row: BulkRow, post: EditablePost, label_id: str) -> None:
    """`label_id`: of a batch."""
    is_batch = row.action is BulkAction.LABEL_BATCH
    label = changeset.label_of_id(label_id) if is_batch else _label_of(changeset, row)
    if label is None:
        # Another request has deleted it between two turns.
        return
    if row.action is BulkAction.REMOVE_LABEL:
        changeset.detach(post, label)
    elif len(post.tags) < limits.POST_LABELS_MAX:
        changeset.attach(post, label)


def _label_of(changeset: Changeset, row: BulkRow) -> Label | None:
    """The label of a change; None if another request has deleted it."""
    assert row.label is not None
    return changeset.label_of_id(str(row.label.label_id))


class LabelRenaming(TimedService):
    """Renames a label on its posts, or back, in turns.

    The label gets its new name in the first turn. Every other write that compares names of labels
    finishes the rename before, so such a change waits for no earlier one.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._rules = RuleReferences(database, clock)

    async def take(self, library: LockedLibrary, row: BulkRow) -> BulkRow:
        assert row.label is not None
        label, turned = row.label, None
        is_undo = row.state is BulkState.UNDOING
        if not label.is_begun:
            label, row = await self._begin(library, label, row)
        if label.is_begun:
            done = Position(label.label_id, label.after)
            turned = await LabelRenames(self._database).turn(
                library.transaction, library.account_id, done
            )
        if turned is None or turned.is_last:
            # It is finished, or another write has renamed or deleted the label.
            count = row.matched if label.is_begun or turned is not None else 0
            row = ended(row, BulkState.UNDONE if is_undo else BulkState.DONE, self._clock())
            row = _counting(row, count, is_undo=is_undo)
        else:
            label = msgspec.structs.replace(label, after=turned.number)
            count = (row.restored if is_undo else row.done) + turned.count
            row = _counting(msgspec.structs.replace(row, labels=[label]), count, is_undo=is_undo)
        await self._stores.bulk.update(library, row)
        return row

    async def _begin(
        self, library: LockedLibrary, asked: ChangedLabel, row: BulkRow
    ) -> tuple[ChangedLabel, BulkRow]:
        """Gives the label its other name, unless it was renamed since, or the name is taken."""
        is_undo = row.state is BulkState.UNDOING
        names = (asked.name, asked.new_name)
        before, after = reversed(names) if is_undo else names
        transaction, account_id = library.transaction, library.account_id
        library = await self._stores.libraries.lock(transaction, account_id)
        label = await self._stores.labels.by_id(library, asked.label_id)
        key = name_key(after)
        other = (await self._stores.labels.named(library, [key])).get(key)
        if label is None or label.name != before or other not in (None, label):
            if is_undo:
                await self._leave_rules(library, row)
            return asked, row
        renamed = msgspec.structs.replace(label, name=after, name_key=key, former_name=label.name)
        await self._stores.labels.update(library, renamed, self._clock())
        await self._stores.accounts.follow_label(library, before, after)
        rules = await self._rules.rename(library, before, after)
        if not is_undo:
            await self._stores.bulk.record(library, row.number, rules, library.version + 1)
            row = msgspec.structs.replace(row, kept=row.kept + len(rules))
        return msgspec.structs.replace(asked, is_begun=True, after=0), row

    async def _leave_rules(self, library: LockedLibrary, row: BulkRow) -> None:
        """The label keeps its name, and so do the rules."""
        found = await self._stores.bulk.first_posts(library, row.number, row.kept)
        keys = [one.change.post_id for one in found]
        rules = [(key, PostField.VALUE) for key in keys if key.startswith(ValueKind.RULE)]
        await self._stores.bulk.take_over(library, rules)


def _counting(row: BulkRow, count: int, *, is_undo: bool) -> BulkRow:
    count = min(count, row.matched)
    if is_undo:
        return msgspec.structs.replace(row, restored=count)
    return msgspec.structs.replace(row, done=count, changed=count)
