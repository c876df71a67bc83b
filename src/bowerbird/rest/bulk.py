"""/v1/bookmarks/changes, the trash and duplicates: changes of many bookmarks and their undo."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.duplicates import (
    DuplicateGroup,
    DuplicatePage,
    KeptPost,
    Resolved,
)
from bowerbird.library.bookmarks.trash import TrashedBookmark
from bowerbird.library.bookmarks.trash import shown as trashed
from bowerbird.library.bulk.requests import BulkChange, Prepared, shown
from bowerbird.library.bulk.summaries import RecentChange
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow
from bowerbird.requests.bookmarks import ChangesQuery, DuplicatesQuery, ResolveRequest, TrashQuery
from bowerbird.requests.bulk import BulkRequest, RestoreRequest, TrashRequest, change_of
from bowerbird.rest.serving import Rest, paged
from bowerbird.storage.database import Transaction
from bowerbird.wire.idempotency import Replay
from bowerbird.wire.responses.envelope import (
    ChangeListMeta,
    ChangeMeta,
    DuplicatesMeta,
    TrashListMeta,
    UndoMeta,
)
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Gate, done

_ACCEPTED: Final = 202
_RETRY_AFTER: Final = (b"retry-after", b"1")
_PATH: Final = "/v1/bookmarks/changes"

CREATE: Final = Operation(
    route=f"POST {_PATH}",
    name="changeBookmarks",
    summary="Change every bookmark that matches. Can be undone as a whole for an hour.",
    data=BulkChange,
    body=BulkRequest,
    may_continue=True,
    refusals=(
        Code.NOT_FOUND,
        Code.COUNT_MISMATCH,
        Code.FILTER_NOT_ALLOWED,
        Code.VECTOR_SEARCH_NOT_ALLOWED,
    ),
)
LIST: Final = Operation(
    route=f"GET {_PATH}",
    name="listChanges",
    summary="List the changes that can be undone, latest first, with who made them.",
    data=RecentChange,
    is_many=True,
    meta=ChangeListMeta,
    query=ChangesQuery,
    # A job goes on with a change without a new version of the library.
    is_tagged=False,
    counts=lambda _: False,
)
GET: Final = Operation(
    route=f"GET {_PATH}/{{change_id}}",
    name="getChange",
    summary="Get the progress of a change of many bookmarks.",
    data=BulkChange,
    headers={"Retry-After": False},
    is_tagged=False,
    counts=lambda _: False,
)
UNDO: Final = Operation(
    route=f"POST {_PATH}/{{change_id}}/undo",
    name="undoChange",
    summary="Undo a change until its `undo_until`. What was changed since stays.",
    data=BulkChange,
    may_continue=True,
)
DELETE: Final = Operation(
    route="POST /v1/bookmarks/delete",
    name="deleteBookmarks",
    summary="Move bookmarks to the trash: some, or every one that matches.",
    data=BulkChange,
    body=TrashRequest,
    may_continue=True,
    refusals=CREATE.refusals,
)
RESTORE: Final = Operation(
    route="POST /v1/bookmarks/restore",
    name="restoreBookmarks",
    summary="Take bookmarks out of the trash: some, or all of them.",
    data=BulkChange,
    body=RestoreRequest,
    may_continue=True,
    refusals=(Code.NOT_FOUND, Code.COUNT_MISMATCH, Code.FILTER_NOT_ALLOWED),
)
# Of requests that name bookmarks or filter them.
MATCHING_REFUSALS: Final = (
    Code.NOT_FOUND,
    Code.FILTER_NOT_ALLOWED,
    Code.VECTOR_SEARCH_NOT_ALLOWED,
)
TRASH: Final = Operation(
    route="GET /v1/bookmarks/trash",
    name="listTrash",
    summary="List or search the deleted bookmarks that can be restored, the latest first.",
    data=TrashedBookmark,
    is_many=True,
    meta=TrashListMeta,
    query=TrashQuery,
    refusals=(Code.FILTER_NOT_ALLOWED,),
    # Posts leave the trash without a new version of the library.
    is_tagged=False,
)


_DUPLICATES: Final = "/v1/bookmarks/duplicates"
LIST_DUPLICATES: Final = Operation(
    route=f"GET {_DUPLICATES}",
    name="listDuplicates",
    summary="List groups of bookmarks that have the same links, text or pictures.",
    data=DuplicateGroup,
    is_many=True,
    meta=DuplicatesMeta,
    query=DuplicatesQuery,
    refusals=(Code.FILTER_NOT_ALLOWED,),
)
RESOLVE: Final = Operation(
    route=f"POST {_DUPLICATES}/resolve",
    name="resolveDuplicates",
    summary="Keep one bookmark of each group: it gets the labels of the others, which go to the "
    "trash.",
    data=KeptPost,
    is_many=True,
    meta=ChangeMeta,
    body=ResolveRequest,
    refusals=(Code.NOT_FOUND, Code.SUBSCRIPTION_REQUIRED),
)


def changing(
    rest: Rest,
    operation: Operation,
    change_of: Callable[[Any], BulkRequest | None],
    reply: Callable[[BulkChange], Reply],
    *,
    by_ids: Callable[[Transaction, Account, Any], Awaitable[Reply]] | None = None,
    gate: Gate = lambda _: None,
) -> ApiRoute:
    """The route of requests that may change every bookmark that matches.

    `by_ids` serves requests that `change_of` returns None for.
    """
    bulk = rest.services.bulk

    async def prepare(account: Account, request: Struct) -> Prepared | None:
        change = change_of(request)
        if change is None:
            return None
        ready = await bulk.prepare(account, change)
        return ready if by_ids is None else _without_409(ready)

    async def start(
        transaction: Transaction, account: Account, request: Struct, ready: Prepared | None = None
    ) -> Reply:
        change = change_of(request)
        if change is None or ready is None:
            assert by_ids is not None
            return await by_ids(transaction, account, request)
        started = await bulk.start(transaction, account, change, ready)
        return located(started, reply(started))

    def after(ready: object) -> None:
        # Only a change of all that match is a job.
        if ready is not None:
            rest.wake(ready)

    return rest.write(operation, start, gate, prepare=prepare, after=after)


def routes(rest: Rest) -> list[ApiRoute]:
    bulk, duplicates = rest.services.bulk, rest.services.duplicates

    async def get(call: Call) -> Reply:
        change = await bulk.get(call.account, call.path_params["change_id"])
        reply = done(change)
        return reply.with_headers(_RETRY_AFTER) if change.is_open else reply

    def groups_meta(page: DuplicatePage) -> DuplicatesMeta:
        return DuplicatesMeta(
            next_cursor=page.next_cursor,
            limit=page.limit,
            count=len(page.groups),
            hint=page.hint or UNSET,
        )

    def resolved(found: Resolved) -> Reply:
        moved = f"Moved {found.removed} {'post' if found.removed == 1 else 'posts'} to the trash."
        meta = ChangeMeta(
            moved,
            found.removed,
            found.not_found,
            not_changed=found.not_removed or UNSET,
            change=kept(found.change),
        )
        return done(found.kept, meta)

    return [
        rest.read(
            TRASH,
            rest.services.trash_list.page,
            data=lambda page: [trashed(one) for one in page.posts],
            meta=paged(TrashListMeta, lambda page: page.posts),
        ),
        rest.read(
            LIST,
            bulk.recent.list,
            data=lambda page: page.changes,
            meta=paged(ChangeListMeta, lambda page: page.changes),
        ),
        changing(rest, CREATE, lambda one: one, done),
        GET.served_by(get),
        rest.write(UNDO, bulk.undo, reply=lambda row: located(row, done(row)), after=rest.wake),
        changing(rest, DELETE, lambda one: change_of(one, BulkAction.TRASH), done),
        changing(rest, RESTORE, lambda one: change_of(one, BulkAction.RESTORE), done),
        rest.read(
            LIST_DUPLICATES, duplicates.page, data=lambda page: page.groups, meta=groups_meta
        ),
        rest.write(RESOLVE, duplicates.resolve, plans.check_writes, reply=resolved),
    ]


async def finished(rest: Rest, call: Call, answer: Reply | Replay) -> BulkRow | None:
    """The change that a job was left to do, if it is finished within some time."""
    if answer.status != _ACCEPTED:
        return None
    change_id = dict(answer.headers)[b"location"].decode().rpartition("/")[2]
    return await rest.services.bulk.changes.finish_soon(call.account, change_id)


def kept(row: BulkRow | None) -> BulkChange | UnsetType:
    """A change that is made at once; absent if nothing has changed."""
    return UNSET if row is None else shown(row)


def changed(done_with: tuple[Struct, BulkRow | None]) -> Reply:
    """The answer to a change that is made at once."""
    data, row = done_with
    return done(data, UndoMeta(kept(row)))


def located(change: BulkChange, reply: Reply) -> Reply:
    """The answer to a change: 202 and its address if a job does the rest."""
    if not change.is_open:
        return reply
    location = (b"location", f"{_PATH}/{change.change_id}".encode())
    reply = msgspec.structs.replace(reply, status=_ACCEPTED)
    return reply.with_headers(location, _RETRY_AFTER)


def _without_409(prepared: Prepared) -> Prepared:
    """For older endpoints, whose 409 always means that a key is in use, with Retry-After."""
    refused = prepared.chosen
    if not isinstance(refused, Refusal):
        return msgspec.structs.replace(prepared, mismatch=Code.INVALID_REQUEST)
    if refused.code is not Code.COUNT_MISMATCH:
        return prepared
    return Prepared(Refusal(Code.INVALID_REQUEST, refused.sentence))
