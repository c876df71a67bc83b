"""What an account can do with labels."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Advice, Code, Refusal
from bowerbird.library.access import plans, turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.writing.changeset import Changeset, Changesets
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.labels.label_list import LabelList, LabelResponse, to_response
from bowerbird.library.labels.operations import Change, Labelled, Op, Operations, Outcome, Tagged
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Label, name_key
from bowerbird.requests.labels import InvalidOperation, LabelChange, LabelOperation, LabelRequest
from bowerbird.storage.bulk import BulkStore
from bowerbird.storage.database import Database, Transaction


class OperationError(Struct, frozen=True):
    code: str
    """An error code, as in a refused request."""
    message: str
    """The reason, in a sentence for people to read."""


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
    # Ids of the operation that could not get the label any more, if any.
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


class Labels:
    def __init__(self, database: Database, clock: Clock, posts_per_turn: int | None = None) -> None:
        """`posts_per_turn`: of the posts that a request names, each as often as it names it."""
        self._changesets = Changesets(database)
        self._renames = LabelRenames(database)
        self._operations = Operations(self._changesets, self._renames, clock, posts_per_turn)
        self._bulk = BulkStore(database)
        self._clock = clock
        self.listed = LabelList(database)

    async def change(
        self, transaction: Transaction, account: Account, op: Op, request: LabelRequest
    ) -> Labelled | Unfinished[Labelled]:
        """Adds a label to posts, or removes it from them."""
        plans.check_writes(account)
        # If both are sent, the name counts.
        label_id = None if request.label_name is not None else request.label_id
        change = Change(op, request.post_ids or [], request.label_name, label_id)

        return turns.then(
            await self._operations.run(transaction, account.account_id, [change]), _only
        )

    async def batch(
        self,
        transaction: Transaction,
        account: Account,
        operations: Sequence[LabelOperation | InvalidOperation],
    ) -> BatchResult | Unfinished[BatchResult]:
        """Carries out each operation, or reports why it changed nothing."""
        plans.check_writes(account)
        changes = [
            Change(one.op, one.post_ids, one.label_name)
            for one in operations
            if isinstance(one, LabelOperation)
        ]

        def all_results(outcomes: Sequence[Outcome]) -> BatchResult:
            left = iter(outcomes)
            results = [
                _result(
                    index, one, one.refusal if isinstance(one, InvalidOperation) else next(left)
                )
                for index, one in enumerate(operations)
            ]
            failed = sum(not result.ok for result in results)
            return BatchResult(results, len(results) - failed, failed)

        if not changes:
            return all_results([])
        return turns.then(
            await self._operations.run(transaction, account.account_id, changes), all_results
        )

    async def create(
        self, transaction: Transaction, account: Account, name: str
    ) -> tuple[LabelResponse, bool] | Unfinished[tuple[LabelResponse, bool]]:
        """Creates a label without posts. False with the label if it existed before."""
        plans.check_writes(account)

        async def work(later: Transaction) -> tuple[LabelResponse, bool]:
            changeset = await self._changesets.open(later, account.account_id, [name])
            label = changeset.label(name)
            if label is not None:
                await self._bulk.keep_label(later, account.account_id, label.label_id)
                return to_response(label), False
            created = await changeset.create_label(name)
            await changeset.finish(self._clock())
            return to_response(created), True

        return await self._renames.finished(transaction, account.account_id, work)

    async def update(
        self, transaction: Transaction, account: Account, label_id: str, change: LabelChange
    ) -> LabelResponse | Unfinished[LabelResponse]:
        """Renames a label, or changes its colour or metadata."""
        plans.check_writes(account)
        return await self._renames.finished(
            transaction,
            account.account_id,
            lambda later: self._update(later, account, label_id, change),
        )

    async def delete(
        self, transaction: Transaction, account: Account, label_id: str
    ) -> LabelResponse | Unfinished[LabelResponse]:
        """Deletes a label and returns it as it was. Its posts stay."""
        plans.check_writes(account)
        return await self._renames.finished(
            transaction, account.account_id, lambda later: self._delete(later, account, label_id)
        )

    async def merge(
        self, transaction: Transaction, account: Account, label_id: str, into_id: str
    ) -> LabelResponse | Unfinished[LabelResponse]:
        """Gives the posts of one label another label, and deletes the first."""
        plans.check_writes(account)
        return await self._renames.finished(
            transaction,
            account.account_id,
            lambda later: self._merge(later, account, label_id, into_id),
        )

    async def _update(
        self, transaction: Transaction, account: Account, label_id: str, change: LabelChange
    ) -> LabelResponse | Unfinished[LabelResponse]:
        names = [change.label_name] if change.label_name else []
        changeset = await self._changesets.open(transaction, account.account_id, names, [label_id])
        label = _by_id(changeset, label_id)
        name = change.label_name or label.name
        changed = msgspec.structs.replace(
            label,
            name=name,
            name_key=name_key(name),
            metadata=change.metadata_json or label.metadata,
            color=label.color if change.color is UNSET else change.color,
            former_name=label.name if name != label.name else None,
        )
        other = changeset.label(name)
        if other is not None and other.label_id != label.label_id:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"label_name: a label named {errors.shown(name)} already exists.",
                advice=Advice.MERGE_LABELS,
            )
        if changed != label:
            await changeset.update_label(label, changed)
            await changeset.finish(self._clock())

        async def answer(_: Transaction) -> LabelResponse:
            return to_response(changed)

        return await self._renames.start(transaction, account.account_id, answer)

    async def _delete(
        self,
        transaction: Transaction,
        account: Account,
        label_id: str,
        before: Label | None = None,
    ) -> LabelResponse | Unfinished[LabelResponse]:
        """`before` is the label as it was before the first turn."""
        changeset = await self._changesets.open(
            transaction, account.account_id, label_ids=[label_id]
        )
        if before is not None and changeset.label_of_id(label_id) is None:
            # Another request has deleted it between two turns of this one.
            return to_response(before)
        label = _by_id(changeset, label_id)
        deleted = before or label
        posts, is_all = await changeset.load_labelled(label)
        for post in posts:
            changeset.detach(post, label)
        if is_all:
            await changeset.delete_label(label)
        await changeset.finish(self._clock())
        if is_all:
            return to_response(deleted)
        return self._later(account, lambda t: self._delete(t, account, label_id, deleted))

    async def _merge(
        self,
        transaction: Transaction,
        account: Account,
        label_id: str,
        into_id: str,
        *,
        is_first: bool = True,
    ) -> LabelResponse | Unfinished[LabelResponse]:
        changeset = await self._changesets.open(
            transaction, account.account_id, label_ids=[label_id, into_id]
        )
        if not is_first and changeset.label_of_id(label_id) is None:
            # Another request has deleted it between two turns of this one.
            return to_response(_by_id(changeset, into_id))
        label, into = _by_id(changeset, label_id), _by_id(changeset, into_id)
        if label == into:
            raise errors.invalid("into", "must be a different label")
        posts, is_all = await changeset.load_labelled(label)
        gained = 0
        for post in posts:
            changeset.detach(post, label)
            gained += changeset.attach(post, into)
        if is_all:
            await changeset.delete_label(label)
        await changeset.finish(self._clock())
        if is_all:
            count = into.bookmark_count + gained
            return to_response(msgspec.structs.replace(into, bookmark_count=count))
        return self._later(
            account, lambda t: self._merge(t, account, label_id, into_id, is_first=False)
        )

    def _later(
        self,
        account: Account,
        work: Callable[[Transaction], Awaitable[LabelResponse | Unfinished[LabelResponse]]],
    ) -> Unfinished[LabelResponse]:
        """Another turn. A rename may have started since this one, and is finished first."""
        return Unfinished(lambda t: self._renames.finished(t, account.account_id, work))


def _only(outcomes: Sequence[Outcome]) -> Labelled:
    (outcome,) = outcomes
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome


def _by_id(changeset: Changeset, label_id: str) -> Label:
    label = changeset.label_of_id(label_id)
    if label is None:
        raise errors.not_found("label", label_id)
    return label


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
        not_changed=outcome.not_changed or None,
    )
