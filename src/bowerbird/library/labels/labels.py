"""What an account can do with labels."""

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Advice, Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.changeset import Changeset, Changesets
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Label, name_key
from bowerbird.requests import limits
from bowerbird.requests.labels import InvalidOperation, LabelChange, LabelOperation, LabelRequest
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore

Op = Literal["add", "remove"]


class LabelResponse(Struct, frozen=True):
    """A label as the API returns it."""

    id: str
    label_name: str
    metadata: dict[str, Any]
    count: int


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


class OperationError(Struct, frozen=True):
    code: str
    message: str


class OperationResult(Struct, frozen=True, omit_defaults=True):
    index: int
    op: str | None
    ok: bool
    affected: int | None = None
    data: list[Tagged] | None = None
    # Ids of the operation's posts that are not in `data`, if any.
    further_ids: list[str] | None = None
    # Ids of the operation that are not in the library, if any.
    not_found: list[str] | None = None
    error: OperationError | None = None


class BatchResult(Struct, frozen=True):
    results: list[OperationResult]
    succeeded: int
    failed: int


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
            self._characters_left -= sum(map(len, post.tags))
            tagged.append(Tagged(post.post_id, list(post.tags) or None))
        return tagged, [post.post_id for post in posts[len(tagged) :]]


class Labels:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._store = LabelStore(database)
        self._clock = clock

    async def all(self, account: Account) -> list[LabelResponse]:
        return [to_response(label) for label in await self._store.list(account.account_id)]

    async def change(
        self, transaction: Transaction, account: Account, op: Op, request: LabelRequest
    ) -> Labelled:
        """Adds a label to posts, or removes it from them."""
        plans.check_writes(account)
        names = None if request.label_name is None else [request.label_name]
        changeset = await self._changesets.open(transaction, account.account_id, names)
        await changeset.load(request.post_ids)
        done = _APPLY[op](changeset, request, Echo())
        await changeset.finish(self._clock())
        return done

    async def batch(
        self,
        transaction: Transaction,
        account: Account,
        operations: Sequence[LabelOperation | InvalidOperation],
    ) -> BatchResult:
        """Carries out each operation wholly, or reports why it changed nothing."""
        plans.check_writes(account)
        valid = [one for one in operations if isinstance(one, LabelOperation)]
        names = [operation.label_name for operation in valid]
        changeset = await self._changesets.open(transaction, account.account_id, names)
        await changeset.load(post_id for operation in valid for post_id in operation.post_ids)
        echo = Echo()
        results = [_result(changeset, index, one, echo) for index, one in enumerate(operations)]
        await changeset.finish(self._clock())
        failed = sum(not result.ok for result in results)
        return BatchResult(results, len(results) - failed, failed)

    async def update(
        self, transaction: Transaction, account: Account, label_id: str, change: LabelChange
    ) -> LabelResponse:
        """Renames a label, or changes its metadata."""
        plans.check_writes(account)
        changeset = await self._changesets.open(transaction, account.account_id)
        label = _by_id(changeset, label_id)
        name = change.label_name or label.name
        changed = msgspec.structs.replace(
            label,
            name=name,
            name_key=name_key(name),
            metadata=change.metadata_json or label.metadata,
        )
        other = changeset.label(name)
        if other is not None and other.label_id != label.label_id:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"label_name: a label named {errors.shown(name)} already exists.",
                advice=Advice.MERGE_LABELS,
            )
        if changed != label:
            await changeset.rename(label, changed)
            await changeset.finish(self._clock())
        return to_response(changed)

    async def delete(
        self, transaction: Transaction, account: Account, label_id: str
    ) -> LabelResponse:
        """Deletes a label and returns it as it was. Its posts stay."""
        plans.check_writes(account)
        changeset = await self._changesets.open(transaction, account.account_id)
        label = _by_id(changeset, label_id)
        await changeset.remove_label(label)
        await changeset.finish(self._clock())
        return to_response(label)

    async def merge(
        self, transaction: Transaction, account: Account, label_id: str, into_id: str
    ) -> LabelResponse:
        """Gives the posts of one label another label, and deletes the first."""
        plans.check_writes(account)
        changeset = await self._changesets.open(transaction, account.account_id)
        label, into = _by_id(changeset, label_id), _by_id(changeset, into_id)
        if label == into:
            raise errors.invalid("into", "must be a different label")
        gained = sum(changeset.attach(post, into) for post in await changeset.load_labelled(label))
        await changeset.remove_label(label)
        await changeset.finish(self._clock())
        count = into.bookmark_count + gained
        return to_response(msgspec.structs.replace(into, bookmark_count=count))


def to_response(label: Label) -> LabelResponse:
    return LabelResponse(
        id=str(label.label_id),
        label_name=label.name,
        metadata=msgspec.json.decode(label.metadata, type=dict[str, Any]),
        count=label.bookmark_count,
    )


def _add(changeset: Changeset, request: LabelRequest | LabelOperation, echo: Echo) -> Labelled:
    posts, not_found = _posts(changeset, request.post_ids)
    label = _label_of(changeset, request)
    if label is None:
        assert request.label_name is not None
        label = changeset.create_label(request.label_name)
    affected = sum(changeset.attach(post, label) for post in posts)
    tagged, further_ids = echo.split(posts)
    return Labelled(tagged, affected, not_found, further_ids)


def _remove(changeset: Changeset, request: LabelRequest | LabelOperation, echo: Echo) -> Labelled:
    label = _label_of(changeset, request)
    if label is None:
        assert request.label_name is not None
        raise errors.not_found("label", request.label_name)
    posts, not_found = _posts(changeset, request.post_ids)
    affected = sum(changeset.detach(post, label) for post in posts)
    tagged, further_ids = echo.split(posts)
    return Labelled(tagged, affected, not_found, further_ids)


_APPLY: Final = {"add": _add, "remove": _remove}


def _label_of(changeset: Changeset, request: LabelRequest | LabelOperation) -> Label | None:
    """The label of a request; None if no label has that name yet."""
    if request.label_name is not None:
        return changeset.label(request.label_name)
    assert isinstance(request, LabelRequest)
    assert request.label_id is not None
    return _by_id(changeset, request.label_id)


def _posts(changeset: Changeset, post_ids: Sequence[str]) -> tuple[list[EditablePost], list[str]]:
    found = [post for post_id in post_ids if (post := changeset.post(post_id)) is not None]
    if not found:
        raise errors.not_found("bookmark", ", ".join(post_ids[:3]))
    return found, [post_id for post_id in post_ids if changeset.post(post_id) is None]


def _by_id(changeset: Changeset, label_id: str) -> Label:
    label = changeset.label_of_id(label_id)
    if label is None:
        raise errors.not_found("label", label_id)
    return label


def _result(
    changeset: Changeset, index: int, operation: LabelOperation | InvalidOperation, echo: Echo
) -> OperationResult:
    op = operation.op
    if isinstance(operation, InvalidOperation):
        return _failed(index, op, operation.refusal.code, operation.refusal.sentence)
    try:
        done = _APPLY[operation.op](changeset, operation, echo)
    except Refusal as refused:
        return _failed(index, op, refused.code, f"operations[{index}]: {refused.sentence}")
    return OperationResult(
        index,
        op,
        ok=True,
        affected=done.affected,
        data=done.posts,
        further_ids=done.further_ids or None,
        not_found=done.not_found or None,
    )


def _failed(index: int, op: str | None, code: str, message: str) -> OperationResult:
    return OperationResult(index, op, ok=False, error=OperationError(code, message))
