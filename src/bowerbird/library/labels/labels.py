"""What a caller may do with labels."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.access import bodies, plans
from bowerbird.library.access.bodies import Body
from bowerbird.library.bookmarks.changeset import Changeset, Changesets
from bowerbird.model.accounts import Account
from bowerbird.model.labels import MAX_NAME_CHARACTERS, Label, clean_name, name_key
from bowerbird.storage.bookmarks.changeset import HeldPost
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore

MOST_OPERATIONS: Final = 50
_MOST_METADATA: Final = 4_096


class LabelResponse(Struct, frozen=True):
    """A label as the API shows it."""

    id: str
    label_name: str
    metadata: dict[str, Any]
    count: int


class Tagged(Struct, frozen=True):
    post_id: str
    tags: list[str] | None


class Labelled(Struct, frozen=True):
    """What one add or remove did."""

    posts: list[Tagged]
    affected: int
    not_found: list[str]


class OperationError(Struct, frozen=True):
    code: str
    message: str


class OperationResult(Struct, frozen=True, omit_defaults=True):
    index: int
    op: str | None
    ok: bool
    affected: int | None = None
    data: list[Tagged] | None = None
    # Ids of the operation that are not in the library, where there are any.
    not_found: list[str] | None = None
    error: OperationError | None = None


class BatchResult(Struct, frozen=True):
    results: list[OperationResult]
    succeeded: int
    failed: int


class Labels:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._store = LabelStore(database)
        self._clock = clock

    async def all(self, account: Account) -> list[LabelResponse]:
        return [shown(label) for label in await self._store.list(account.account_id)]

    async def change(
        self, transaction: Transaction, account: Account, body: Body, op: str
    ) -> Labelled:
        """Adds a label to posts, or removes it from them."""
        plans.check_writes(account)
        request = _request(bodies.as_object(body()), takes_id=True)
        names = None if request.name is None else [request.name]
        changeset = await self._changesets.open(transaction, account.account_id, names)
        await changeset.load(request.post_ids)
        done = _APPLY[op](changeset, request)
        await changeset.finish(self._clock())
        return done

    async def batch(self, transaction: Transaction, account: Account, body: Body) -> BatchResult:
        """Each operation by itself: it applies wholly, or is reported and leaves nothing."""
        plans.check_writes(account)
        operations = _operations(bodies.as_object(body()))
        requests = [_parsed(index, operation) for index, operation in enumerate(operations)]
        sound = [request for request in requests if isinstance(request, _Request)]
        names = [request.name for request in sound if request.name is not None]
        changeset = await self._changesets.open(transaction, account.account_id, names)
        await changeset.load(post_id for request in sound for post_id in request.post_ids)
        results = [
            _result(changeset, index, _op(operations[index]), request)
            for index, request in enumerate(requests)
        ]
        await changeset.finish(self._clock())
        failed = sum(not result.ok for result in results)
        return BatchResult(results, len(results) - failed, failed)

    async def update(
        self, transaction: Transaction, account: Account, label_id: str, body: Body
    ) -> LabelResponse:
        """Renames a label, or changes what is noted of it."""
        plans.check_writes(account)
        fields = bodies.as_object(body())
        bodies.only(fields, ("label_name", "metadata"))
        new_name = _name(fields) if "label_name" in fields else None
        metadata = _metadata(fields)
        changeset = await self._changesets.open(transaction, account.account_id)
        label = _by_id(changeset, label_id)
        name = new_name or label.name
        changed = msgspec.structs.replace(
            label, name=name, name_key=name_key(name), metadata=metadata or label.metadata
        )
        other = changeset.label(name)
        if other is not None and other.label_id != label.label_id:
            raise errors.invalid(
                "label_name",
                f"{errors.shown(name)} is another label; "
                f"POST /v1/labels/{label_id}/merge joins the two",
            )
        if changed != label:
            await changeset.rename(label, changed)
            await changeset.finish(self._clock())
        return shown(changed)

    async def delete(
        self, transaction: Transaction, account: Account, label_id: str
    ) -> LabelResponse:
        """The label as it was; its posts stay."""
        plans.check_writes(account)
        changeset = await self._changesets.open(transaction, account.account_id)
        label = _by_id(changeset, label_id)
        await changeset.remove_label(label)
        await changeset.finish(self._clock())
        return shown(label)

    async def merge(
        self, transaction: Transaction, account: Account, label_id: str, body: Body
    ) -> LabelResponse:
        """Gives the posts of one label another one, and removes the first."""
        plans.check_writes(account)
        fields = bodies.as_object(body())
        bodies.only(fields, ("into",))
        into_id = bodies.text(fields, "into", most=MAX_NAME_CHARACTERS)
        if into_id is None:
            raise errors.invalid("into", "must be the id of the label to keep")
        changeset = await self._changesets.open(transaction, account.account_id)
        label, into = _by_id(changeset, label_id), _by_id(changeset, into_id)
        if label == into:
            raise errors.invalid("into", "must be another label than the one that goes")
        gained = sum(changeset.attach(post, into) for post in await changeset.load_labelled(label))
        await changeset.remove_label(label)
        await changeset.finish(self._clock())
        return shown(msgspec.structs.replace(into, bookmark_count=into.bookmark_count + gained))


class _Request(Struct, frozen=True):
    post_ids: list[str]
    name: str | None
    label_id: str | None


def shown(label: Label) -> LabelResponse:
    return LabelResponse(
        id=str(label.label_id),
        label_name=label.name,
        metadata=msgspec.json.decode(label.metadata, type=dict[str, Any]),
        count=label.bookmark_count,
    )


def _add(changeset: Changeset, request: _Request) -> Labelled:
    posts, not_found = _posts(changeset, request.post_ids)
    if request.label_id is not None:
        label = _by_id(changeset, request.label_id)
    else:
        assert request.name is not None
        label = changeset.label(request.name) or changeset.make_label(request.name)
    affected = sum(changeset.attach(post, label) for post in posts)
    return Labelled(_tagged(posts), affected, not_found)


def _remove(changeset: Changeset, request: _Request) -> Labelled:
    if request.label_id is not None:
        label = _by_id(changeset, request.label_id)
    else:
        assert request.name is not None
        found = changeset.label(request.name)
        if found is None:
            raise errors.not_found("label", request.name)
        label = found
    posts, not_found = _posts(changeset, request.post_ids)
    affected = sum(changeset.detach(post, label) for post in posts)
    return Labelled(_tagged(posts), affected, not_found)


_APPLY: Final = {"add": _add, "remove": _remove}


def _posts(changeset: Changeset, post_ids: Sequence[str]) -> tuple[list[HeldPost], list[str]]:
    found = [post for post_id in post_ids if (post := changeset.post(post_id)) is not None]
    if not found:
        raise errors.not_found("bookmark", ", ".join(post_ids[:3]))
    return found, [post_id for post_id in post_ids if changeset.post(post_id) is None]


def _tagged(posts: Sequence[HeldPost]) -> list[Tagged]:
    return [Tagged(post.post_id, list(post.tags) or None) for post in posts]


def _request(body: Mapping[str, Any], *, takes_id: bool) -> _Request:
    post_ids = bodies.post_ids(body)
    label_id = bodies.text(body, "label_id", most=40) if takes_id else None
    if label_id is not None and "label_name" not in body:
        return _Request(post_ids, None, label_id)
    return _Request(post_ids, _name(body), None)


def _name(body: Mapping[str, Any]) -> str:
    text = bodies.text(body, "label_name", most=1_000)
    if text is None:
        raise errors.invalid("label_name", "is missing")
    name = clean_name(text)
    if name is None:
        raise errors.invalid(
            "label_name",
            f"must have 1 to {MAX_NAME_CHARACTERS} characters and no control characters, "
            f"got {errors.shown(text)}",
        )
    return name


def _metadata(fields: Mapping[str, Any]) -> str | None:
    if "metadata" not in fields:
        return None
    if not isinstance(fields["metadata"], dict):
        raise errors.invalid("metadata", "must be a JSON object")
    text = msgspec.json.encode(fields["metadata"]).decode()
    if len(text) > _MOST_METADATA:
        raise errors.invalid("metadata", f"must be at most {_MOST_METADATA:,} characters of JSON")
    return text


def _by_id(changeset: Changeset, label_id: str) -> Label:
    label = changeset.label_of_id(label_id)
    if label is None:
        raise errors.not_found("label", label_id)
    return label


def _operations(body: Mapping[str, Any]) -> list[Any]:
    operations = body.get("operations")
    if not isinstance(operations, list) or not 1 <= len(operations) <= MOST_OPERATIONS:
        raise errors.invalid("operations", f"must be an array of 1 to {MOST_OPERATIONS} operations")
    return operations


def _op(operation: Any) -> str | None:
    op = operation.get("op") if isinstance(operation, dict) else None
    return op if isinstance(op, str) else None


def _parsed(index: int, operation: Any) -> _Request | Refusal:
    place = f"operations[{index}]"
    if isinstance(operation, Refusal):
        # Whoever calls takes less than the library does, and has said so.
        return operation
    if not isinstance(operation, dict):
        return errors.invalid(place, "must be an object with op, tweet_ids and label_name")
    if _op(operation) not in _APPLY:
        return errors.invalid(f"{place}.op", "must be add or remove")
    try:
        return _request(operation, takes_id=False)
    except Refusal as refused:
        return Refusal(refused.code, f"{place}.{refused.sentence}")


def _result(
    changeset: Changeset, index: int, op: str | None, request: _Request | Refusal
) -> OperationResult:
    if isinstance(request, Refusal):
        return _failed(index, op, request.code, request.sentence)
    try:
        done = _APPLY[op or ""](changeset, request)
    except Refusal as refused:
        return _failed(index, op, refused.code, f"operations[{index}]: {refused.sentence}")
    return OperationResult(
        index,
        op,
        ok=True,
        affected=done.affected,
        data=done.posts,
        not_found=done.not_found or None,
    )


def _failed(index: int, op: str | None, code: str, message: str) -> OperationResult:
    return OperationResult(index, op, ok=False, error=OperationError(code, message))
