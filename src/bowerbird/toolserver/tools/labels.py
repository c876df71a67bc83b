"""The tools that read and change labels."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from bowerbird.errors import Refusal
from bowerbird.library.access import plans
from bowerbird.library.labels.labels import BatchResult, Labelled, Labels, Tagged
from bowerbird.requests import decoding, limits
from bowerbird.requests.fields import ToolPostIds, about, unique
from bowerbird.requests.labels import InvalidOperation, LabelOperation, LabelRequest
from bowerbird.requests.scalars import LabelName
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, response_size, writes
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES_AGAIN,
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
    about("Name of the label, 1 to 100 characters. Names that differ only in case are one label."),
]


class LabelArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: ToolPostIds
    label_name: Name

    def __post_init__(self) -> None:
        unique(self, "post_ids")

    def request(self) -> LabelRequest:
        return LabelRequest(post_ids=self.post_ids, label_name=self.label_name)


class OperationArguments(LabelArguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    op: Annotated[Literal["add", "remove"], about("add or remove the label.")]


class BatchArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    operations: Annotated[
        list[dict[str, Any]],
        Meta(
            min_length=1,
            max_length=limits.OPERATIONS_MAX,
            description="The changes, in the order in which they are carried out.",
            extra={"items": OperationArguments},
        ),
    ]
    idempotency_key: writes.IdempotencyKey = None

    def parsed(self) -> list[LabelOperation | InvalidOperation]:
        """Each change by itself, so that one can fail alone."""
        return [_operation(index, one) for index, one in enumerate(self.operations)]


_TAGGED: Final = json_schemas.record(
    "A post and the labels it has now.",
    {
        "post_id": json_schemas.said("Id of the post."),
        "labels": json_schemas.many({"type": "string"}, "Names of its labels."),
    },
)
_NOT_FOUND: Final = json_schemas.many({"type": "string"}, "Ids not in the library.")
_CHANGED: Final = json_schemas.record(
    "What changed.",
    {
        "affected": json_schemas.count("Posts whose labels changed."),
        "posts": json_schemas.many(_TAGGED, "The labels of each post now."),
        "not_found": _NOT_FOUND,
        **json_schemas.CUT,
    },
    optional=("advice",),
)

LIST: Final = Tool(
    name="list_labels",
    title="List labels",
    description=(
        "Lists the user's labels with the number of posts that have each. Call it before you "
        "add a label: reusing an existing name keeps the library tidy."
    ),
    answer=json_schemas.record(
        "The account's labels.",
        {
            "labels": json_schemas.many(
                json_schemas.record(
                    "A label.",
                    {
                        "label_name": json_schemas.said("Its name."),
                        "count": json_schemas.count("Posts that have it."),
                    },
                ),
                "The labels by name, or the most used ones where not all fit.",
            ),
            "total_count": json_schemas.count("How many labels there are."),
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("advice",),
    ),
    hints=READS,
)
ADD: Final = Tool(
    name="add_label",
    title="Label saved posts",
    description=(
        "Adds a label to up to 100 saved posts. The label is created if it does not exist. "
        "Posts that already have it do not change. Needs a paid plan."
    ),
    takes=LabelArguments,
    answer=_CHANGED,
    hints=WRITES_AGAIN,
)
REMOVE: Final = Tool(
    name="remove_label",
    title="Remove a label from saved posts",
    description=(
        "Removes a label from up to 100 saved posts. The posts and the label itself stay. Needs a "
        "paid plan."
    ),
    takes=LabelArguments,
    answer=_CHANGED,
    hints=DESTROYS,
)
BATCH: Final = Tool(
    name="batch_label",
    title="Change many labels in one call",
    description=(
        "Carries out up to 50 label changes in order. A change that fails is reported with its "
        "reason, and the others are still carried out. Use it instead of many add_label and "
        "remove_label calls. Needs a paid plan."
    ),
    takes=BatchArguments,
    answer=json_schemas.record(
        "What each change did.",
        {
            "results": json_schemas.many(
                json_schemas.record(
                    "The outcome of one change.",
                    {
                        "index": json_schemas.count("Place of the change in operations, from 0."),
                        "ok": {"type": "boolean", "description": "Whether it was done."},
                        "affected": json_schemas.count("Posts whose labels changed."),
                        "not_found": _NOT_FOUND,
                        "error": json_schemas.said("Why it was not done."),
                    },
                    optional=("affected", "not_found", "error"),
                ),
                "One outcome per change, in the same order.",
            ),
            "succeeded": json_schemas.count("Changes that were done."),
            "failed": json_schemas.count("Changes that were not."),
            "truncated": json_schemas.TRUNCATED,
            "advice": json_schemas.ADVICE,
        },
        optional=("advice",),
    ),
    hints=DESTROYS,
)
TOOLS: Final = (LIST, ADD, REMOVE, BATCH)


def offered(labels: Labels, idempotency: Idempotency) -> list[BoundTool]:
    gate = plans.check_writes

    async def list_labels(call: ToolCall) -> ToolResult:
        arguments.read(LIST, call, NoArguments)
        found = await labels.all(call.account)
        return ToolResult(
            _listed([{"label_name": one.label_name, "count": one.count} for one in found])
        )

    async def add_label(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: LabelArguments) -> Json:
            request = values.request()
            return _changed(await labels.change(transaction, call.account, "add", request))

        return await writes.run(idempotency, call, ADD, LabelArguments, effect, gate=gate)

    async def remove_label(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: LabelArguments) -> Json:
            request = values.request()
            return _changed(await labels.change(transaction, call.account, "remove", request))

        return await writes.run(idempotency, call, REMOVE, LabelArguments, effect, gate=gate)

    async def batch_label(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: BatchArguments) -> Json:
            return _outcome(await labels.batch(transaction, call.account, values.parsed()))

        return await writes.run(idempotency, call, BATCH, BatchArguments, effect, gate=gate)

    return [
        BoundTool(LIST, list_labels),
        BoundTool(ADD, add_label),
        BoundTool(REMOVE, remove_label),
        BoundTool(BATCH, batch_label),
    ]


def _listed(held: list[Json]) -> Json:
    most = response_size.MOST_BYTES - response_size.AROUND
    shown = response_size.fitting(held, most)
    made: Json = {
        "labels": shown.records,
        "total_count": len(held),
        "truncated": not shown.is_all,
    }
    if not shown.is_all:
        most_used = sorted(held, key=lambda one: one["count"], reverse=True)
        made["labels"] = response_size.fitting(most_used, most).records
        made["advice"] = (
            f"Only the {len(made['labels'])} most used of {len(held)} labels fit; the others can "
            "be used by their names all the same."
        )
    return made


def _operation(index: int, one: dict[str, Any]) -> LabelOperation | InvalidOperation:
    try:
        read = decoding.convert(one, OperationArguments)
    except Refusal as refused:
        op = one.get("op")
        place = f"operations[{index}]"
        return InvalidOperation(
            op if isinstance(op, str) else None, decoding.within(place, refused)
        )
    return LabelOperation(op=read.op, post_ids=read.post_ids, label_name=read.label_name)


def _changed(done: Labelled) -> Json:
    named = response_size.size(done.not_found)
    posts = [_tagged(post) for post in done.posts]
    shown = response_size.fitting(
        posts, response_size.MOST_BYTES - response_size.AROUND // 2 - named
    )
    made: Json = {
        "affected": done.affected,
        "posts": shown.records,
        "not_found": done.not_found,
        "truncated": not shown.is_whole,
    }
    if not shown.is_whole:
        made["advice"] = (
            f"All {done.affected} changes were made; only the labels of {len(shown.records)} of "
            f"{len(posts)} posts fit here. get_bookmarks shows those of the others."
        )
    return made


def _tagged(post: Tagged) -> Json:
    return {"post_id": post.post_id, "labels": post.tags or []}


def _outcome(done: BatchResult) -> Json:
    results: list[Json] = []
    for result in done.results:
        shown: Json = msgspec.to_builtins(result)
        shown.pop("op", None)
        # Fifty changes of a hundred posts each would be a long answer of little use.
        shown.pop("data", None)
        if result.error is not None:
            shown["error"] = f"{result.error.code}: {result.error.message}"
        results.append(shown)
    return {**_fitted(results), "succeeded": done.succeeded, "failed": done.failed}


def _fitted(results: list[Json]) -> Json:
    """Every outcome stays; of the ids that were not found, only the first of each where it must."""
    shown, most = results, limits.TOOL_POST_IDS_MAX
    while most and response_size.size(shown) > response_size.MOST_BYTES - response_size.AROUND:
        most //= 2
        shown = [response_size.cut(result, _ERROR_CHARS, most) for result in results]
    if shown is results:
        return {"results": results, "truncated": False}
    advice = f"Of the ids that were not found, only the first {most} of each change are named."
    return {"results": shown, "truncated": True, "advice": advice}
