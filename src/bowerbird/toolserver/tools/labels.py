"""The tools that read and change labels."""

from typing import Any, Final

import msgspec

from bowerbird.errors import Refusal
from bowerbird.library.access.bodies import Body
from bowerbird.library.labels.labels import MOST_OPERATIONS, BatchResult, Labelled, Labels, Tagged
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas, response_size
from bowerbird.toolserver.tools.bookmarks import renamed
from bowerbird.toolserver.tools.refusals import in_our_words
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES_AGAIN,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.toolserver.tools.writes import written
from bowerbird.wire.idempotency import IdempotentWrites

_MOST_LABELLED: Final = 100
_ERROR_CHARS: Final = 280
_NAME: Final = json_schemas.text(
    "Name of the label, 1 to 100 characters. Names that differ only in case are the same label.",
    100,
)
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
_OPERATION: Final[Json] = {
    "type": "object",
    "properties": {
        "op": json_schemas.choice("What to do with the label.", "add", "remove"),
        "post_ids": json_schemas.ids("Ids of the posts.", _MOST_LABELLED),
        "label_name": _NAME,
    },
    "required": ["op", "post_ids", "label_name"],
    "additionalProperties": False,
}

LIST: Final = Tool(
    name="list_labels",
    title="List labels",
    description=(
        "Lists the user's labels with the number of posts that have each. Look here before you "
        "label: using an existing name keeps the library tidy."
    ),
    arguments={},
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
        "Gives a label to up to 100 saved posts. The label is made if there is none of that name. "
        "Posts that have it already stay as they are. Needs a paid plan."
    ),
    arguments={
        "post_ids": json_schemas.ids("Ids of the posts to label.", _MOST_LABELLED),
        "label_name": _NAME,
    },
    required=("post_ids", "label_name"),
    answer=_CHANGED,
    hints=WRITES_AGAIN,
)
REMOVE: Final = Tool(
    name="remove_label",
    title="Take a label off saved posts",
    description=(
        "Takes a label off up to 100 saved posts. The posts and the label itself stay. Needs a "
        "paid plan."
    ),
    arguments={
        "post_ids": json_schemas.ids("Ids of the posts.", _MOST_LABELLED),
        "label_name": _NAME,
    },
    required=("post_ids", "label_name"),
    answer=_CHANGED,
    hints=DESTROYS,
)
BATCH: Final = Tool(
    name="batch_label",
    title="Change many labels at once",
    description=(
        "Carries out up to 50 label changes in order. Each stands for itself: one that fails is "
        "reported with its reason and the others are done. Use it instead of many add_label and "
        "remove_label calls. Needs a paid plan."
    ),
    arguments={
        "operations": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_OPERATIONS,
            "description": "The changes, in the order in which they are carried out.",
            "items": _OPERATION,
        },
        "idempotency_key": json_schemas.IDEMPOTENCY_KEY,
    },
    required=("operations",),
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
                "One outcome a change, in the same order.",
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


def offered(labels: Labels, writes: IdempotentWrites) -> list[BoundTool]:
    return [*_reading(labels), *_changing(labels, writes)]


def _reading(labels: Labels) -> list[BoundTool]:
    async def list_labels(asked: ToolCall) -> ToolResult:
        arguments.read(LIST, asked.sent)
        held = await labels.all(asked.account)
        return ToolResult(
            _listed([{"label_name": one.label_name, "count": one.count} for one in held])
        )

    return [BoundTool(LIST, list_labels)]


def _changing(labels: Labels, writes: IdempotentWrites) -> list[BoundTool]:
    async def add_label(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            return _changed(
                await labels.change(transaction, asked.account, lambda: renamed(body()), "add")
            )

        return await written(writes, asked, ADD, effect)

    async def remove_label(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            return _changed(
                await labels.change(transaction, asked.account, lambda: renamed(body()), "remove")
            )

        return await written(writes, asked, REMOVE, effect)

    async def batch_label(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            def operations() -> Json:
                sent = enumerate(body()["operations"])
                return {"operations": [_operation(index, one) for index, one in sent]}

            return _outcome(await labels.batch(transaction, asked.account, operations))

        return await written(writes, asked, BATCH, effect)

    return [
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


def _operation(index: int, one: Any) -> Any:
    """Under the library's names; a refusal where it is not what this tool declares."""
    if not isinstance(one, dict):
        return one
    place = f"operations[{index}]"
    try:
        arguments.check_names(place, _OPERATION, one)
        arguments.check_ids(f"{place}.post_ids", _OPERATION["properties"]["post_ids"], one)
    except Refusal as refused:
        return refused
    return renamed(one)


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
            shown["error"] = f"{result.error.code}: {in_our_words(result.error.message)}"
        results.append(shown)
    return {**_fitted(results), "succeeded": done.succeeded, "failed": done.failed}


def _fitted(results: list[Json]) -> Json:
    """Every outcome stays; of the ids that were not found, only the first of each where it must."""
    shown, most = results, _MOST_LABELLED
    while most and response_size.size(shown) > response_size.MOST_BYTES - response_size.AROUND:
        most //= 2
        shown = [response_size.cut(result, _ERROR_CHARS, most) for result in results]
    if shown is results:
        return {"results": results, "truncated": False}
    advice = f"Of the ids that were not found, only the first {most} of each change are named."
    return {"results": shown, "truncated": True, "advice": advice}
