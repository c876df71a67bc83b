"""/v1/labels, and labels that are suggested for a post."""

from typing import Final

import msgspec
from msgspec import UNSET

from bowerbird.errors import Code
from bowerbird.library.access import plans
from bowerbird.library.bulk.requests import BulkChange, shown
from bowerbird.library.labels.label_list import LabelResponse, to_response
from bowerbird.library.labels.labels import BatchResult, Labelled, Op, Tagged
from bowerbird.library.labels.suggestions import (
    NewLabel,
    RefusedLabel,
    SuggestedLabel,
)
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.model.labels import Label
from bowerbird.requests import decoding, limits
from bowerbird.requests.labels import (
    BatchRequest,
    LabelChange,
    LabelRequest,
    LabelsQuery,
    MergeRequest,
)
from bowerbird.rest import bulk
from bowerbird.rest.bulk import changing, kept, located
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.idempotency import Replay
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import One
from bowerbird.wire.responses.envelope import (
    BatchMeta,
    ChangeMeta,
    LabelListMeta,
    LabelMeta,
    QueryMeta,
)
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import current_of, done, what_was_prepared

LIST: Final = Operation(
    route="GET /v1/labels",
    name="listLabels",
    summary="List the account's labels by name: all of them, or page by page.",
    data=LabelResponse,
    is_many=True,
    meta=LabelListMeta,
    query=LabelsQuery,
    is_in_sandbox=True,
)
ADD: Final = Operation(
    route="POST /v1/labels/add",
    name="addLabel",
    summary="Add a label to posts. A new label is created.",
    data=Tagged,
    is_many=True,
    meta=ChangeMeta,
    body=LabelRequest,
    may_continue=True,
    refusals=bulk.MATCHING_REFUSALS,
    is_in_sandbox=True,
)
REMOVE: Final = Operation(
    route="POST /v1/labels/remove",
    name="removeLabel",
    summary="Remove a label from posts.",
    data=Tagged,
    is_many=True,
    meta=ChangeMeta,
    body=LabelRequest,
    may_continue=True,
    refusals=bulk.MATCHING_REFUSALS,
    is_in_sandbox=True,
)
BATCH: Final = Operation(
    route="POST /v1/labels/batch",
    name="batchLabels",
    summary=(
        f"Up to {limits.OPERATIONS_MAX} additions and removals, each with its own result; "
        "207 if any failed."
    ),
    data=BatchResult,
    meta=BatchMeta,
    body=BatchRequest,
    statuses=(200, 207),
    is_in_sandbox=True,
)
GET: Final = Operation(
    route="GET /v1/labels/{label_id}",
    name="getLabel",
    summary="Get one label.",
    data=LabelResponse,
    is_conditional=True,
)
UPDATE: Final = Operation(
    route="PATCH /v1/labels/{label_id}",
    name="updateLabel",
    summary="Rename a label, or change its colour or metadata.",
    data=LabelResponse,
    meta=LabelMeta,
    body=LabelChange,
    is_conditional=True,
    may_continue=True,
)
DELETE: Final = Operation(
    route="DELETE /v1/labels/{label_id}",
    name="deleteLabel",
    summary="Remove a label from every post and delete it.",
    data=LabelResponse,
    is_conditional=True,
    meta=LabelMeta,
    may_continue=True,
)
MERGE: Final = Operation(
    route="POST /v1/labels/{label_id}/merge",
    name="mergeLabel",
    summary="Move the posts of a label to another label, and delete the first.",
    data=LabelResponse,
    meta=LabelMeta,
    body=MergeRequest,
    may_continue=True,
)
SUGGEST: Final = Operation(
    route="GET /v1/bookmarks/{post_id}/suggested_labels",
    name="listSuggestedLabels",
    summary="List up to three of the account's labels that fit a post and that it does not have.",
    data=SuggestedLabel,
    is_many=True,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
NEW: Final = Operation(
    route="POST /v1/bookmarks/{post_id}/new_labels",
    name="proposeNewLabels",
    summary="Ask the language model of the service for up to three labels that you do not have "
    "yet; none if there is no model.",
    data=NewLabel,
    is_many=True,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
REFUSE: Final = Operation(
    route="DELETE /v1/bookmarks/{post_id}/suggested_labels/{label_id}",
    name="refuseSuggestedLabel",
    summary="Do not suggest a label for a post again while the post is in the library. Its labels "
    "stay as they are.",
    data=RefusedLabel,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)


def routes(rest: Rest) -> list[ApiRoute]:
    return [*_reads(rest), *_writes(rest)]


def _reads(rest: Rest) -> list[ApiRoute]:
    services, answers = rest.services, rest.answers
    labels = services.labels

    async def list_labels(call: Call) -> Reply:
        async def build() -> bytes:
            query = decoding.from_query(call.target.query_string, LabelsQuery)
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

    async def get_label(call: Call) -> Reply:
        async def build() -> One:
            label, changed_at = await labels.find(call.account, call.path_params["label_id"])
            return One(envelope.success(to_response(label)), _state(label, changed_at))

        return await answers.answer_one(call.account, call.target, build)

    async def suggest_labels(call: Call) -> Reply:
        plans.check_writes(call.account)
        vectors = await services.bookmarks.vector_state(call.account)

        async def build() -> bytes:
            post_id = call.path_params["post_id"]
            found = await services.suggestions.of_post(call.account, post_id)
            return envelope.success(found, QueryMeta())

        # Vectors change without a new version of the library, so they are part of the ETag.
        target = msgspec.structs.replace(call.target, vectors=vectors.tag)
        return await answers.answer(call.account, target, build)

    return [
        LIST.served_by(list_labels),
        GET.served_by(get_label),
        SUGGEST.served_by(suggest_labels),
    ]


def _writes(rest: Rest) -> list[ApiRoute]:
    services, gate = rest.services, plans.check_writes
    labels, changes = services.labels, services.bulk.changes

    async def batch(transaction: Transaction, account: Account, request: BatchRequest) -> Reply:
        return _batch_reply(*await labels.batch(transaction, account, request.parsed))

    def updated(made: tuple[LabelResponse, BulkRow | None]) -> Reply:
        label, row = made
        return done(label, LabelMeta()) if row is None else _changed(label, row)

    async def end(
        transaction: Transaction, account: Account, label_id: str, *request: MergeRequest
    ) -> Reply:
        ids = (label_id, *(one.into for one in request))
        row = await changes.start_label(transaction, account, *ids)
        return _changed(await labels.changed(transaction, account, row), row)

    async def wait(call: Call, answer: Reply | Replay) -> Reply | None:
        row = await bulk.finished(rest, call, answer)
        if row is None:
            return None
        return _changed(await labels.changed(labels.database, call.account, row), row)

    async def find(account: Account, post_id: str) -> list[NewLabel]:
        return list(map(NewLabel, await services.new_labels.of_post(account, post_id)))

    current = current_of(labels.find, lambda found: _state(*found), gate)
    return [
        _labelling(rest, ADD, "add"),
        _labelling(rest, REMOVE, "remove"),
        rest.write(BATCH, batch, gate),
        rest.write(UPDATE, labels.update, gate, reply=updated, wait=wait, current=current),
        rest.write(DELETE, end, wait=wait, current=current),
        rest.write(MERGE, end, gate, wait=wait),
        rest.write(REFUSE, services.suggestions.refuse),
        rest.write(NEW, what_was_prepared, prepare=find),
    ]


def _state(label: Label, changed_at: int) -> State:
    """Without the number of its posts."""
    return state_of((label.name, label.metadata, label.color), changed_at)


def _changed(label: LabelResponse, row: BulkRow) -> Reply:
    change = shown(row)
    return located(change, done(label, LabelMeta(change)))


def _labelling(rest: Rest, operation: Operation, op: Op) -> ApiRoute:
    def matching(change: BulkChange) -> Reply:
        meta = ChangeMeta(_message(op, change.changed), change.changed, [], change=change)
        return done([], meta)

    async def by_ids(transaction: Transaction, account: Account, request: LabelRequest) -> Reply:
        changed = await rest.services.labels.change(transaction, account, op, request)
        if isinstance(changed, BulkRow):
            return located(shown(changed), matching(shown(changed)))
        return done(changed.posts, _meta(op, changed))

    return changing(
        *(rest, operation, lambda one: one.change(op), matching),
        by_ids=by_ids,
        gate=plans.check_writes,
    )


def _batch_reply(result: BatchResult, row: BulkRow | None) -> Reply:
    total = len(result.results)
    if not result.failed:
        return done(result, BatchMeta(f"All {total} operations succeeded.", kept(row)))
    return done(result, BatchMeta(f"{result.failed} of {total} operations failed.", kept(row)), 207)


def _meta(op: Op, changed: Labelled) -> ChangeMeta:
    return ChangeMeta(
        _message(op, changed.affected),
        changed.affected,
        changed.not_found,
        changed.further_ids or UNSET,
        change=kept(changed.change),
    )


def _message(op: Op, affected: int) -> str:
    verb = "Labelled" if op == "add" else "Unlabelled"
    return f"{verb} {affected} {'post' if affected == 1 else 'posts'}."
