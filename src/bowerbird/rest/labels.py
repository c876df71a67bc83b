"""/v1/labels."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import UNSET

from bowerbird.errors import Code
from bowerbird.library.access import plans, turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.labels.label_list import LabelResponse
from bowerbird.library.labels.labels import BatchResult, Labels
from bowerbird.library.labels.operations import Labelled, Op, Tagged
from bowerbird.requests import limits
from bowerbird.requests.labels import (
    BatchRequest,
    LabelChange,
    LabelRequest,
    LabelsQuery,
    MergeRequest,
)
from bowerbird.rest import bulk
from bowerbird.rest.bulk import Changing
from bowerbird.storage.database import Transaction
from bowerbird.wire import query_strings
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.metas import ChangeMeta, LabelListMeta, MessageMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Handler, Operation
from bowerbird.wire.writes import Writes, done

_Step = Reply | Unfinished[Reply]

LIST: Final = Operation(
    method="GET",
    path="/v1/labels",
    name="listLabels",
    summary="List the account's labels by name: all of them, or page by page.",
    data=LabelResponse,
    is_many=True,
    meta=LabelListMeta,
    query=LabelsQuery,
    is_in_sandbox=True,
)
ADD: Final = Operation(
    method="POST",
    path="/v1/labels/add",
    name="addLabel",
    summary="Add a label to posts. A new label is created.",
    data=Tagged,
    is_many=True,
    meta=ChangeMeta,
    body=LabelRequest,
    statuses=bulk.CREATE.statuses,
    headers=bulk.CREATE.headers,
    refusals=bulk.MATCHING_REFUSALS,
    is_in_sandbox=True,
)
REMOVE: Final = Operation(
    method="POST",
    path="/v1/labels/remove",
    name="removeLabel",
    summary="Remove a label from posts.",
    data=Tagged,
    is_many=True,
    meta=ChangeMeta,
    body=LabelRequest,
    statuses=bulk.CREATE.statuses,
    headers=bulk.CREATE.headers,
    refusals=bulk.MATCHING_REFUSALS,
    is_in_sandbox=True,
)
BATCH: Final = Operation(
    method="POST",
    path="/v1/labels/batch",
    name="batchLabels",
    summary=(
        f"Up to {limits.OPERATIONS_MAX} additions and removals, each with its own result; "
        "207 if any failed."
    ),
    data=BatchResult,
    meta=MessageMeta,
    body=BatchRequest,
    statuses=(200, 207),
    is_in_sandbox=True,
)
UPDATE: Final = Operation(
    method="PATCH",
    path="/v1/labels/{label_id}",
    name="updateLabel",
    summary="Rename a label, or change its colour or metadata.",
    data=LabelResponse,
    body=LabelChange,
    refusals=(Code.NOT_FOUND,),
)
DELETE: Final = Operation(
    method="DELETE",
    path="/v1/labels/{label_id}",
    name="deleteLabel",
    summary="Remove a label from every post and delete it.",
    data=LabelResponse,
    refusals=(Code.NOT_FOUND,),
)
MERGE: Final = Operation(
    method="POST",
    path="/v1/labels/{label_id}/merge",
    name="mergeLabel",
    summary="Move the posts of a label to another label, and delete the first.",
    data=LabelResponse,
    body=MergeRequest,
    refusals=(Code.NOT_FOUND,),
)
OPERATIONS: Final = (LIST, ADD, REMOVE, BATCH, UPDATE, DELETE, MERGE)


def routes(labels: Labels, answers: AnswerCache) -> list[ApiRoute]:
    async def list_labels(call: Call) -> Reply:
        async def build() -> bytes:
            query = query_strings.read(call.target.query_string, LabelsQuery)
            if query.limit is None and query.cursor is None:
                return envelope.success_of_many(
                    await labels.listed.all(call.account), LabelListMeta()
                )
            page = await labels.listed.page(call.account, query)
            meta = LabelListMeta(
                next_cursor=page.next_cursor,
                limit=page.limit,
                total_count=page.total_count,
                count=page.count,
            )
            return envelope.success_of_many(page.body, meta)

        return await answers.answer(call.account, call.target, build)

    return [LIST.served_by(list_labels)]


def write_routes(labels: Labels, writes: Writes, changing: Changing) -> list[ApiRoute]:
    gate = plans.check_writes

    async def add(transaction: Transaction, call: Call, request: LabelRequest) -> _Step:
        changed = await labels.change(transaction, call.account, "add", request)
        return turns.then(changed, lambda result: done(result.posts, _meta("add", result)))

    async def remove(transaction: Transaction, call: Call, request: LabelRequest) -> _Step:
        changed = await labels.change(transaction, call.account, "remove", request)
        return turns.then(changed, lambda result: done(result.posts, _meta("remove", result)))

    async def batch(transaction: Transaction, call: Call, request: BatchRequest) -> _Step:
        result = await labels.batch(transaction, call.account, request.parsed)
        return turns.then(result, _batch_reply)

    async def update(transaction: Transaction, call: Call, request: LabelChange) -> _Step:
        label_id = call.path_params["label_id"]
        return turns.then(await labels.update(transaction, call.account, label_id, request), done)

    async def delete(transaction: Transaction, call: Call) -> _Step:
        label_id = call.path_params["label_id"]
        return turns.then(await labels.delete(transaction, call.account, label_id), done)

    async def merge(transaction: Transaction, call: Call, request: MergeRequest) -> _Step:
        label_id = call.path_params["label_id"]
        merged = await labels.merge(transaction, call.account, label_id, request.into)
        return turns.then(merged, done)

    return [
        ADD.served_by(_labelling(changing, "add", add)),
        REMOVE.served_by(_labelling(changing, "remove", remove)),
        BATCH.served_by(writes.handler_of(BatchRequest, batch, gate)),
        UPDATE.served_by(writes.handler_of(LabelChange, update, gate)),
        DELETE.served_by(writes.handler(delete)),
        MERGE.served_by(writes.handler_of(MergeRequest, merge, gate)),
    ]


def _labelling(
    changing: Changing,
    op: Op,
    by_ids: Callable[[Transaction, Call, LabelRequest], Awaitable[_Step]],
) -> Handler:
    def matching(change: BulkChange) -> Reply:
        meta = ChangeMeta(_message(op, change.changed), change.changed, [], change=change)
        return done([], meta)

    return changing.handler_of(
        LabelRequest, lambda one: one.change(op), matching, by_ids, plans.check_writes
    )


def _batch_reply(result: BatchResult) -> Reply:
    total = len(result.results)
    if not result.failed:
        return done(result, MessageMeta(f"All {total} operations succeeded."))
    return done(result, MessageMeta(f"{result.failed} of {total} operations failed."), 207)


def _meta(op: Op, changed: Labelled) -> ChangeMeta:
    return ChangeMeta(
        _message(op, changed.affected),
        changed.affected,
        changed.not_found,
        changed.further_ids or UNSET,
        changed.not_changed or UNSET,
    )


def _message(op: Op, affected: int) -> str:
    verb = "Labelled" if op == "add" else "Unlabelled"
    return f"{verb} {affected} {'post' if affected == 1 else 'posts'}."
