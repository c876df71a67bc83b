"""The tools that read and change labels."""

from functools import cached_property
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from bowerbird.errors import Refusal
from bowerbird.library.access import plans, turns
from bowerbird.library.labels.labels import BatchResult, Labels
from bowerbird.library.labels.operations import Labelled, Op, Tagged
from bowerbird.model.bulk import BulkAction
from bowerbird.requests import decoding, limits
from bowerbird.requests.bulk import BulkRequest
from bowerbird.requests.fields import InvalidField, ToolPostIds, about, unique
from bowerbird.requests.labels import (
    InvalidOperation,
    LabelOperation,
    LabelRequest,
    check_posts,
    invalid_operation,
)
from bowerbird.requests.scalars import LabelName
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading, writes
from bowerbird.toolserver.tools.arguments.selection import Selection
from bowerbird.toolserver.tools.bulk import CHANGE_FIELDS, OPTIONAL, BulkCalls, Step
from bowerbird.toolserver.tools.results import json_schemas, near_labels, response_size
from bowerbird.toolserver.tools.results.quoted_text import CONTENT_IS, HIDDEN, has_hidden
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES_IDEMPOTENTLY,
    BoundTool,
    Json,
    NoArguments,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.idempotency import Idempotency

_ERROR_CHARS: Final = 280

Name = Annotated[
    LabelName,
    about("Name of the label. Names that differ only in case are the same label."),
]


class LabelArguments(Selection, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label_name: Name

    @property
    def request(self) -> LabelRequest:
        return LabelRequest(post_ids=self.post_ids or [], label_name=self.label_name)


class OperationArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    op: Annotated[Literal["add", "remove"], about("Whether to add or remove the label.")]
    post_ids: ToolPostIds
    label_name: Name

    def __post_init__(self) -> None:
        unique(self, "post_ids")
        if self.op == "add" and has_hidden(self.label_name):
            raise InvalidField("label_name", HIDDEN)


class BatchArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    operations: Annotated[
        list[Any],
        Meta(
            min_length=1,
            max_length=limits.OPERATIONS_MAX,
            description="The changes, in the order in which to make them.",
            extra={"items": OperationArguments},
        ),
    ]
    idempotency_key: writes.IdempotencyKey = None

    def __post_init__(self) -> None:
        check_posts(self.parsed)

    @cached_property
    def parsed(self) -> list[LabelOperation | InvalidOperation]:
        """Each change read on its own, so that an invalid one does not stop the others."""
        return [_operation(index, one) for index, one in enumerate(self.operations)]


_TAGGED: Final = json_schemas.record(
    "A post after the change.",
    {
        "post_id": json_schemas.text("Id of the post."),
        "labels": json_schemas.array({"type": "string"}, "Names of its labels now."),
    },
)
_NOT_FOUND: Final = json_schemas.array({"type": "string"}, "Ids not in the library.")
_NOT_CHANGED: Final = json_schemas.array(
    {"type": "string"},
    "Posts that could not get the label.",
)
_CHANGED: Final = json_schemas.record(
    "The posts that were changed.",
    {
        **CHANGE_FIELDS,
        "affected": json_schemas.count("Posts whose labels changed."),
        "posts": json_schemas.array(_TAGGED, "The posts after the change."),
        "not_found": _NOT_FOUND,
        "not_changed": _NOT_CHANGED,
        **json_schemas.SHORT_TRUNCATED,
    },
    optional=("posts", "not_found", "not_changed", "truncated", *OPTIONAL, "count", "state"),
)

LIST: Final = Tool(
    name="list_labels",
    title="List labels",
    description=(
        "Lists the user's labels and the number of posts with each. Call it before you add a "
        "label, and use an existing name if one fits."
    ),
    returns=json_schemas.record(
        "The account's labels.",
        {
            "labels": json_schemas.array(
                json_schemas.record(
                    "A label.",
                    {
                        "label": json_schemas.text("Name of the label."),
                        "count": json_schemas.count("Posts with this label."),
                    },
                ),
                "Sorted by name; only the most used ones if not all fit.",
            ),
            "total_count": json_schemas.count("Labels in total."),
            "truncated": json_schemas.TRUNCATED,
            "content_is": {"type": "string"},
            "advice": json_schemas.ADVICE,
        },
        optional=("content_is", "advice"),
    ),
    hints=READS,
)
ADD: Final = Tool(
    name="add_label",
    title="Label saved posts",
    description=(
        "Adds a label to saved posts, by post_ids or filter as in update_bookmarks, and creates "
        "the label if it does not exist. Needs a paid plan."
    ),
    takes=LabelArguments,
    returns=_CHANGED,
    hints=WRITES_IDEMPOTENTLY,
)
REMOVE: Final = Tool(
    name="remove_label",
    title="Remove a label from saved posts",
    description=(
        "Removes a label from saved posts, by post_ids or filter as in update_bookmarks. Neither "
        "the posts nor the label is deleted. Needs a paid plan."
    ),
    takes=LabelArguments,
    returns=_CHANGED,
    hints=DESTROYS,
)
BATCH: Final = Tool(
    name="batch_label",
    title="Change many labels in one call",
    description=(
        "Makes up to 50 label changes in order. If a change fails, the result gives the reason, "
        "and the others are still made. Use it instead of many add_label and remove_label calls. "
        "Needs a paid plan."
    ),
    takes=BatchArguments,
    returns=json_schemas.record(
        "The outcome of every change.",
        {
            "results": json_schemas.array(
                json_schemas.record(
                    "The outcome of one change.",
                    {
                        "index": json_schemas.count("Index of the change in operations, from 0."),
                        "ok": {"type": "boolean", "description": "Whether it was made."},
                        "affected": json_schemas.count("Posts whose labels changed."),
                        "not_found": _NOT_FOUND,
                        "not_changed": _NOT_CHANGED,
                        "error": json_schemas.text("Why it failed."),
                    },
                    optional=("affected", "not_found", "not_changed", "error"),
                ),
                "One per change, in the same order.",
            ),
            "succeeded": json_schemas.count("Changes that were made."),
            "failed": json_schemas.count("Changes that failed."),
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("advice",),
    ),
    hints=DESTROYS,
)
TOOLS: Final = (LIST, ADD, REMOVE, BATCH)


def bind(labels: Labels, calls: BulkCalls, idempotency: Idempotency) -> list[BoundTool]:
    gate = plans.check_writes

    async def list_labels(call: ToolCall) -> ToolResult:
        reading.read(LIST, call, NoArguments)
        found, total = await labels.listed.uses(call.account)
        used: list[Json] = [{"label": one.label_name, "count": one.count} for one in found]
        return ToolResult(_listed(used, total))

    async def batch_label(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: BatchArguments) -> Step:
            result = await labels.batch(transaction, call.account, values.parsed)
            return turns.then(result, _outcome)

        return await writes.run(idempotency, call, BATCH, BatchArguments, effect, gate=gate)

    return [
        BoundTool(LIST, list_labels),
        _labelling(labels, calls, ADD, "add"),
        _labelling(labels, calls, REMOVE, "remove"),
        BoundTool(BATCH, batch_label),
    ]


def _labelling(labels: Labels, calls: BulkCalls, tool: Tool, op: Op) -> BoundTool:
    action = BulkAction.ADD_LABEL if op == "add" else BulkAction.REMOVE_LABEL

    async def run(call: ToolCall) -> ToolResult:
        async def by_ids(transaction: Transaction, values: LabelArguments) -> Step:
            changed = await labels.change(transaction, call.account, op, values.request)
            return turns.then(changed, _changed)

        def change(values: LabelArguments) -> BulkRequest:
            if op == "remove" and values.filter is not None:
                # Only posts that have the label, so that the count of a dry run is that of changes.
                narrowed = msgspec.structs.replace(values.filter, tag=values.label_name)
                values = msgspec.structs.replace(values, filter=narrowed)
            return values.change(action, values.label_name)

        async def check(values: LabelArguments) -> None:
            if op == "remove" or has_hidden(values.label_name):
                await near_labels.id_of(labels, call.account, values.label_name)

        gate = plans.check_writes
        return await calls.run(
            call, tool, LabelArguments, change, by_ids=by_ids, gate=gate, check=check
        )

    return BoundTool(tool, run)


def _listed(labels: list[Json], total: int) -> Json:
    max_bytes = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES
    fitted = response_size.fit(labels, max_bytes)
    is_all = fitted.is_all and len(labels) == total
    content: Json = {
        # Some names are those of folders in imported files.
        **(CONTENT_IS if labels else {}),
        "labels": fitted.records,
        "total_count": total,
        "truncated": not is_all,
    }
    if not total:
        content["advice"] = "There are no labels yet. add_label creates the first one."
    elif not is_all:
        most_used = sorted(labels, key=lambda label: label["count"], reverse=True)
        content["labels"] = response_size.fit(most_used, max_bytes).records
        content["advice"] = (
            f"Only the {len(content['labels'])} most used of {total} labels fit. The others "
            "can still be used by name."
        )
    return content


def _operation(index: int, sent: Any) -> LabelOperation | InvalidOperation:
    try:
        values = decoding.convert(sent, OperationArguments)
    except Refusal as refused:
        return invalid_operation(index, sent, refused)
    return LabelOperation(op=values.op, post_ids=values.post_ids, label_name=values.label_name)


def _changed(labelled: Labelled) -> Json:
    ids_size = response_size.size([*labelled.not_found, *labelled.not_changed])
    posts = [_post(post) for post in labelled.posts]
    total = len(posts) + len(labelled.further_ids)
    fitted = response_size.fit(
        posts, response_size.MAX_BYTES - response_size.OVERHEAD_BYTES // 2 - ids_size
    )
    content: Json = {
        "affected": labelled.affected,
        "posts": fitted.records,
        "not_found": labelled.not_found,
        "truncated": not fitted.is_complete or len(posts) < total,
    }
    if labelled.not_changed:
        content["not_changed"] = labelled.not_changed
    if content["truncated"]:
        content["advice"] = (
            f"All {labelled.affected} posts were changed, but only {len(fitted.records)} of "
            f"{total} fit here. get_bookmarks returns the labels of the others."
        )
    return content


def _post(post: Tagged) -> Json:
    return {"post_id": post.post_id, "labels": post.tags or []}


def _outcome(batch: BatchResult) -> Json:
    results: list[Json] = []
    for result in batch.results:
        content: Json = msgspec.to_builtins(result)
        content.pop("op", None)
        # The posts of 50 changes would make the result long, and the model rarely needs them.
        content.pop("data", None)
        content.pop("further_ids", None)
        if result.error is not None:
            content["error"] = f"{result.error.code}: {result.error.message}"
        results.append(content)
    return {**_fit(results), "succeeded": batch.succeeded, "failed": batch.failed}


def _fit(results: list[Json]) -> Json:
    """Keeps every outcome, and fewer of the ids that were not found if they do not fit."""
    short, max_ids = results, limits.TOOL_POST_IDS_MAX
    max_bytes = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES
    while max_ids and response_size.size(short) > max_bytes:
        max_ids //= 2
        short = [response_size.truncate_all(one, _ERROR_CHARS, max_ids) for one in results]
    if short is results:
        return {"results": results, "truncated": False}
    advice = f"not_found has only the first {max_ids} ids per change."
    return {"results": short, "truncated": True, "advice": advice}
