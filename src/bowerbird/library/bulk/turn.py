"""One turn of a change of many posts: changes some posts and keeps what it changed.

Computes the words of the posts that the next turn of a change moves, before its transaction.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from bowerbird.clock import Clock
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.changeset import Changeset, Changesets
from bowerbird.library.bookmarks.writing.kept_changes import ended
from bowerbird.library.bookmarks.writing.trash_batch import ReadingAhead, TrashBatches
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import (
    FLAG_ACTIONS,
    WHOLE_LABEL_ACTIONS,
    BulkAction,
    BulkRow,
    BulkState,
    Changed,
    ChangedLabel,
    PostField,
)
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.changes.bulk import BulkStore, unpacked
from bowerbird.storage.database import Database, Transaction

# Moving a post into the trash or out of it also writes its words.
TRASHED_PER_TURN: Final = 50
TRASHED_BYTES_PER_TURN: Final = 256 << 10
# Their turns also need the words of their posts.
MOVES: Final = (BulkAction.TRASH, BulkAction.RESTORE, BulkAction.SAVE)
_FLAGS: Final[dict[BulkAction, dict[str, bool | None]]] = {
    action: {"is_read": is_read, "is_archived": is_archived}
    for (is_read, is_archived), action in FLAG_ACTIONS.items()
}


class _Turn(NamedTuple):
    """What a turn did: how many posts it handled, what it changed, whether posts are left."""

    handled: int
    changed: Sequence[Changed]
    is_last: bool


class BulkTurns:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._store = BulkStore(database)
        self._trash = TrashStore(database)
        self._batches = TrashBatches(database, clock)
        self._clock = clock

    async def take(self, transaction: Transaction, account: Account, row: BulkRow) -> BulkRow:
        """Takes the next turn of a change that is working. No label may be being renamed."""
        label_ids = [str(one.label_id) for one in row.labels]
        names = [row.label.name] if row.label is not None and row.label.is_ending else []
        if row.label is not None and row.label.into_id is not None:
            label_ids.append(str(row.label.into_id))
        changeset = await self._changesets.open(
            *(transaction, account.account_id, names, label_ids),
            is_recorded=True,
            is_quiet=row.is_quiet,
        )
        version = changeset.version
        if row.action in WHOLE_LABEL_ACTIONS:
            row, turn = await self._label_turn(transaction, account, changeset, row)
        else:
            row = await self._with_label(changeset, row)
            turn = await self._part_turn(transaction, account, changeset, row)
        await changeset.finish(self._clock())
        await self._store.record(transaction, account.account_id, row.number, turn.changed, version)
        changed = len({one.post_id for one in turn.changed})
        after = msgspec.structs.replace(
            row,
            done=min(row.done + turn.handled, row.matched) if not turn.is_last else row.matched,
            changed=row.changed + changed,
            kept=row.kept + len(turn.changed),
        )
        if turn.is_last:
            after = ended(after, BulkState.DONE, self._clock())
        await self._store.update(transaction, account.account_id, after)
        return after

    async def _part_turn(
        self, transaction: Transaction, account: Account, changeset: Changeset, row: BulkRow
    ) -> _Turn:
        found = await self._store.first_part(transaction, account.account_id, row.number)
        if found is None:
            return _Turn(0, (), is_last=True)
        part, items = found
        # Of a batch, each has the id of its label too.
        post_ids = [item.partition(":")[0] for item in items]
        count = await self._fitting(transaction, account, changeset, row.action, post_ids)
        chosen, left = items[:count], items[count:]
        changed = await self._change(transaction, account, changeset, row, chosen)
        await self._store.shorten_part(transaction, account.account_id, row.number, part, left)
        is_last = not left and not await self._store.first_part(
            transaction, account.account_id, row.number
        )
        return _Turn(count, changed, is_last)

    async def _fitting(
        self,
        transaction: Transaction,
        account: Account,
        changeset: Changeset,
        action: BulkAction,
        post_ids: Sequence[str],
    ) -> int:
        """How many of these posts one turn can change, in this order."""
        if action in _FLAGS:
            # Flags are in a narrow row; the JSON of the post is not written.
            return min(len(post_ids), turns.POSTS_PER_TURN)
        if action is BulkAction.RESTORE:
            sizes = await self._trash.sizes(transaction, account.account_id, post_ids)
        else:
            sizes = await changeset.sizes(post_ids)
        return fitting(action, [sizes.get(post_id, 0) for post_id in post_ids])

    async def _change(
        self,
        transaction: Transaction,
        account: Account,
        changeset: Changeset,
        row: BulkRow,
        items: Sequence[str],
    ) -> Sequence[Changed]:
        label_ids = {one: label_id for one, _, label_id in (item.partition(":") for item in items)}
        post_ids = list(label_ids)
        if row.action is BulkAction.RESTORE:
            taken = await self._batches.take(transaction, account, post_ids)
            return [
                Changed(one, PostField.TRASHED, was_set=True, kept=msgspec.json.encode(kept))
                for one, kept in taken.items()
            ]
        await changeset.load(post_ids)
        posts = [post for one in post_ids if (post := changeset.post(one)) is not None]
        if row.action is BulkAction.TRASH:
            await self._batches.put(transaction, account, changeset, posts)
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

    async def _label_turn(
        self, transaction: Transaction, account: Account, changeset: Changeset, row: BulkRow
    ) -> tuple[BulkRow, _Turn]:
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
        claimed = await self._store.recorded(
            transaction,
            account.account_id,
            row.number,
            label.label_id,
            [post.post_id for post in posts],
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


def per_turn(action: BulkAction) -> int:
    return TRASHED_PER_TURN if action in MOVES else turns.POSTS_PER_TURN


def fitting(action: BulkAction, sizes: Sequence[int]) -> int:
    """How many posts of these sizes one turn can change, in this order."""
    most_bytes = TRASHED_BYTES_PER_TURN if action in MOVES else turns.BYTES_PER_TURN
    return turns.fitting(sizes, per_turn(action), most_bytes)


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


class BulkAhead:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = BulkStore(database)
        self._ahead = ReadingAhead(database, clock)

    async def of_new(self, account: Account, action: BulkAction, parts: Sequence[bytes]) -> None:
        """For the first turn of a change that is about to start."""
        if action in MOVES and parts:
            await self._read(account, action, unpacked(parts[0]))

    async def of_next(self, account: Account, row: BulkRow) -> None:
        """For the next turn of a change or of its undo."""
        if row.action not in MOVES or row.is_finished:
            return
        account_id = account.account_id
        if row.state is BulkState.UNDOING:
            await self.of_undo(account, row)
        elif found := await self._store.first_part(self._database, account_id, row.number):
            await self._read(account, row.action, found[1])

    async def of_undo(self, account: Account, row: BulkRow) -> None:
        """For the next turn of an undo, which may not have started."""
        if row.action not in MOVES:
            return
        ids = await self._changed(account, row)
        undoing = BulkAction.RESTORE if row.action is BulkAction.TRASH else BulkAction.TRASH
        await self._read(account, undoing, ids)

    async def _changed(self, account: Account, row: BulkRow) -> list[str]:
        found = await self._store.first_posts(
            self._database, account.account_id, row.number, TRASHED_PER_TURN
        )
        return list(dict.fromkeys(one.change.post_id for one in found))

    async def _read(self, account: Account, action: BulkAction, post_ids: Sequence[str]) -> None:
        some = post_ids[:TRASHED_PER_TURN]
        if action is BulkAction.TRASH:
            await self._ahead.stored(account, some)
        else:
            await self._ahead.trashed(account, some)
