"""What an account can do with labels.

Each operation on named posts is checked before it changes anything, so a refused one changes
nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Advice, Code, OperationError, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.writing.changeset import (
    Changeset,
    is_label_id,
    post_is_full,
)
from bowerbird.library.bookmarks.writing.kept_changes import Done, KeptChanges
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.labels.label_list import LabelList, LabelResponse, to_response
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow, ChangedLabel
from bowerbird.model.labels import Label, name_key
from bowerbird.requests import limits
from bowerbird.requests.labels import InvalidOperation, LabelChange, LabelOperation, LabelRequest
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.database import Database, Readable, Reader, Transaction
from bowerbird.storage.stores import TimedService

Op = Literal["add", "remove"]


class Tagged(Struct, frozen=True):
    post_id: str
    tags: list[str] | None


class Labelled(Struct, frozen=True):
    """The result of adding or removing a label."""

    posts: list[Tagged]
    affected: int
    not_found: list[str]
    # Ids of the posts beyond those that an answer repeats.
    further_ids: list[str]
    # None if nothing has changed, or for an operation of a batch.
    change: BulkRow | None = None


Outcome = Labelled | Refusal


class Change(Struct, frozen=True):
    """One operation: a label by name or by id, and the posts to change."""

    op: Op
    post_ids: list[str]
    label_name: str | None
    label_id: str | None = None


class Echo:
    """Which posts one answer repeats with their labels, so that its size is bounded."""

    def __init__(self) -> None:
        self._posts_left = limits.ECHOED_POSTS_MAX
        self._characters_left = limits.ECHOED_NAMES_MAX

    def split(self, posts: Sequence[EditablePost]) -> tuple[list[Tagged], list[str]]:
        """The posts with their labels while there is room, and the ids of all the others."""
        tagged: list[Tagged] = []
        for post in posts:
            if self._posts_left <= 0 or self._characters_left <= 0:
                break
            self._posts_left -= 1
            self._characters_left -= len("".join(post.tags))
            tagged.append(Tagged(post.post_id, list(post.tags) or None))
        return tagged, [post.post_id for post in posts[len(tagged) :]]


class Operations:
    """The operations of one request. The changeset has read their labels and posts."""

    def __init__(self, changeset: Changeset, sizes: dict[str, int]) -> None:
        """`sizes` has the stored bytes of the posts that exist."""
        self._changeset = changeset
        self._sizes = sizes
        self._changed: set[str] = set()
        self._bytes_left = limits.LABELLED_BYTES_MAX
        self._echo = Echo()

    async def run(self, change: Change) -> Outcome:
        """What the operation did, or why it was refused."""
        try:
            label, not_found = await self._checked(change)
        except Refusal as refused:
            return refused
        found = (self._changeset.post(post_id) for post_id in change.post_ids)
        posts = [post for post in found if post is not None]
        apply = self._changeset.attach if change.op == "add" else self._changeset.detach
        affected = sum(apply(post, label) for post in posts)
        if change.op == "remove":
            await self._changeset.refuse(posts, label)
        tagged, further_ids = self._echo.split(posts)
        return Labelled(tagged, affected, not_found, further_ids)

    async def _checked(self, change: Change) -> tuple[Label, list[str]]:
        """The label, and the ids that are not in the library."""
        label = self.label_of(change)
        if label is None and change.op == "remove":
            assert change.label_name is not None
            raise errors.not_found("label", change.label_name)
        not_found = [post_id for post_id in change.post_ids if post_id not in self._sizes]
        if len(not_found) == len(change.post_ids):
            raise errors.not_found("post", *change.post_ids)
        if change.op == "add":
            self._require_room(change, label)
        self._require_bytes(change)
        if label is None:
            assert change.label_name is not None
            label = await self._changeset.create_label(change.label_name)
        return label, not_found

    def _require_room(self, change: Change, label: Label | None) -> None:
        """Refuses a change if one of its posts cannot get another label."""
        for post_id in change.post_ids:
            post = self._changeset.post(post_id)
            if post is not None and _is_full(post, label):
                raise post_is_full(post_id)

    def _require_bytes(self, change: Change) -> None:
        """Changing the labels of a post writes its stored JSON again: a bound for long posts."""
        new = [one for one in change.post_ids if one in self._sizes and one not in self._changed]
        size = total_size(self._sizes, new)
        if size > self._bytes_left:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The posts of one batch can have {limits.LABELLED_BYTES_MAX // 2**20} MiB. Send "
                "this operation as a request of its own.",
            )
        self._bytes_left -= size
        self._changed.update(new)

    def label_of(self, change: Change) -> Label | None:
        """The label of a change; None if no label has that name yet."""
        if change.label_name is not None:
            return self._changeset.label(change.label_name)
        assert change.label_id is not None
        label = self._changeset.label_of_id(change.label_id)
        if label is None:
            raise errors.not_found("label", change.label_id)
        return label


def total_size(sizes: dict[str, int], post_ids: Iterable[str]) -> int:
    return sum(sizes.get(post_id, 0) for post_id in post_ids)


def _is_full(post: EditablePost, label: Label | None) -> bool:
    if len(post.tags) < limits.POST_LABELS_MAX:
        return False
    return label is None or label.name not in post.tags


_ACTIONS: Final = {"add": BulkAction.ADD_LABEL, "remove": BulkAction.REMOVE_LABEL}


class OperationResult(Struct, frozen=True, omit_defaults=True):
    index: int
    """Position of the operation in the request, from 0."""
    op: str
    """add or remove, as sent; unknown if no text was sent."""
    ok: bool
    """Whether the operation succeeded."""
    affected: int | None = None
    data: list[Tagged] | None = None
    """The operation's posts with their labels; only if it succeeded."""
    # Ids of the operation's posts that are not in `data`, if any.
    further_ids: list[str] | None = None
    # Ids of the operation that are not in the library, if any.
    not_found: list[str] | None = None
    # Of earlier versions, which changed some posts later than others.
    not_changed: list[str] | None = None
    error: OperationError | None = None
    """Why it failed; only if it failed."""


class BatchResult(Struct, frozen=True):
    results: list[OperationResult]
    """One entry per operation, in the order of the request."""
    succeeded: int
    """Number of operations that succeeded."""
    failed: int
    """Number of operations that failed."""


class Labels(TimedService):
    def __init__(self, database: Database, clock: Clock, *, is_sandbox: bool = False) -> None:
        super().__init__(database, clock)
        self.database = database
        self._kept = KeptChanges(database, clock, is_off=is_sandbox)
        self.changes = BulkChanges(database, clock)
        self.listed = LabelList(database)

    async def change(
        self, transaction: Transaction, account: Account, op: Op, request: LabelRequest
    ) -> Labelled | BulkRow:
        """Adds a label to posts, or removes it from them. A job does it if they are very long."""
        plans.check_writes(account)
        # If both are sent, the name counts.
        label_id = None if request.label_name is not None else request.label_id
        change = Change(op, request.post_ids or [], request.label_name, label_id)
        changeset, sizes = await self._opened(transaction, account, [change])
        operations = Operations(changeset, sizes)
        if total_size(sizes, sizes) > limits.LABELLED_BYTES_MAX:
            label = operations.label_of(change)
            name = change.label_name if label is None else label.name
            found = [post_id for post_id in change.post_ids if post_id in sizes]
            new = NewChange(_ACTIONS[op], packed_parts(found), len(found), name, is_named=True)
            return await self.changes.start(transaction, account, new)
        outcome = await operations.run(change)
        if isinstance(outcome, Refusal):
            raise outcome
        row = await self._kept.finish(
            changeset, _ACTIONS[op], len(change.post_ids) - len(outcome.not_found)
        )
        return outcome if row is None else msgspec.structs.replace(outcome, change=row)

    async def batch(
        self,
        transaction: Transaction,
        account: Account,
        operations: Sequence[LabelOperation | InvalidOperation],
    ) -> tuple[BatchResult, BulkRow | None]:
        """Carries out each operation, or reports why it changed nothing.

        All of them together are one change; None if nothing has changed.
        """
        plans.check_writes(account)
        changes = {
            index: Change(one.op, one.post_ids, one.label_name)
            for index, one in enumerate(operations)
            if isinstance(one, LabelOperation)
        }
        outcomes: dict[int, Outcome] = {}
        row = None
        if changes:
            changeset, sizes = await self._opened(transaction, account, list(changes.values()))
            running = Operations(changeset, sizes)
            outcomes = {index: await running.run(one) for index, one in changes.items()}
            action = BulkAction.LABEL_BATCH
            row = await self._kept.finish(changeset, action, len(sizes))
        results = [
            _result(
                index, one, one.refusal if isinstance(one, InvalidOperation) else outcomes[index]
            )
            for index, one in enumerate(operations)
        ]
        failed = sum(not result.ok for result in results)
        return BatchResult(results, len(results) - failed, failed), row

    async def create(
        self, transaction: Transaction, account: Account, name: str
    ) -> tuple[LabelResponse, BulkRow | None]:
        """Creates a label without posts. None with the label if it existed before."""
        plans.check_writes(account)
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        changeset = await Changeset.open(self._database, library, [name], is_recorded=True)
        label = changeset.label(name)
        if label is not None:
            await self._stores.bulk.keep_label(library, label.label_id)
            return to_response(label), None
        created = await changeset.create_label(name)
        done = Done(BulkAction.CREATE_LABEL, [], changeset.changed_labels)
        await changeset.finish(self._clock())
        return to_response(created), await self._kept.keep(library, done)

    async def find(
        self, account: Account, label_id: str, reader: Reader | None = None
    ) -> tuple[Label, int]:
        """A label, and when it was last changed itself."""
        reader = reader or self.database
        found = None
        library = Readable(reader, account.account_id)
        if is_label_id(label_id):
            found = await self._stores.labels.by_id(library, int(label_id))
        if found is None:
            raise errors.not_found("label", label_id)
        return found, await self._stores.labels.changed_at(library, found.label_id)

    async def update(
        self, transaction: Transaction, account: Account, label_id: str, change: LabelChange
    ) -> tuple[LabelResponse, BulkRow | None]:
        """Renames a label, or changes its colour or metadata. None if nothing has changed."""
        plans.check_writes(account)
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        names = [change.label_name] if change.label_name else []
        changeset = await Changeset.open(
            self._database, library, names, [label_id], is_recorded=True
        )
        label = changeset.label_of_id(label_id)
        if label is None:
            raise errors.not_found("label", label_id)
        name = change.label_name or label.name
        other = changeset.label(name)
        if other is not None and other.label_id != label.label_id:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"label_name: a label named {errors.shown(name)} already exists.",
                advice=Advice.MERGE_LABELS,
            )
        changed = msgspec.structs.replace(
            label,
            metadata=change.metadata_json or label.metadata,
            color=label.color if change.color is UNSET else change.color,
        )
        if changed != label:
            await changeset.update_label(label, changed, self._clock())
            await changeset.finish(self._clock())
        row: BulkRow | None
        if name != label.name:
            row = await self.changes.rename(library, changed, name, changed=changeset.changed)
        else:
            about = [ChangedLabel(label.label_id, label.name)]
            done = Done(BulkAction.UPDATE_LABEL, changeset.changed, about)
            row = await self._kept.keep(library, done)
        renamed = msgspec.structs.replace(changed, name=name, name_key=name_key(name))
        return to_response(renamed), row

    async def changed(self, reader: Reader, account: Account, row: BulkRow) -> LabelResponse:
        """The label of a change: as it is now, or as it was if the change deletes it."""
        assert row.label is not None
        label_id = row.label.label_id if row.label.into_id is None else row.label.into_id
        label = None
        if row.action is not BulkAction.DELETE_LABEL:
            label = await self._stores.labels.by_id(Readable(reader, account.account_id), label_id)
        return to_response(label or row.label.as_it_was(row.matched))

    async def _opened(
        self, transaction: Transaction, account: Account, changes: Sequence[Change]
    ) -> tuple[Changeset, dict[str, int]]:
        """A changeset with the labels and posts of these, and the stored bytes of the posts."""
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        changeset = await Changeset.open(
            self._database,
            library,
            [one.label_name for one in changes if one.label_name is not None],
            [one.label_id for one in changes if one.label_id is not None],
            is_recorded=True,
        )
        sizes = await changeset.sizes(post_id for one in changes for post_id in one.post_ids)
        return changeset, sizes


def _result(
    index: int, operation: LabelOperation | InvalidOperation, outcome: Outcome
) -> OperationResult:
    if isinstance(outcome, Refusal):
        # An invalid operation already says where it is.
        place = "" if isinstance(operation, InvalidOperation) else f"operations[{index}]: "
        error = OperationError(outcome.code, f"{place}{outcome.sentence}")
        return OperationResult(index, operation.op, ok=False, error=error)
    return OperationResult(
        index,
        operation.op,
        ok=True,
        affected=outcome.affected,
        data=outcome.posts,
        further_ids=outcome.further_ids or None,
        not_found=outcome.not_found or None,
    )
