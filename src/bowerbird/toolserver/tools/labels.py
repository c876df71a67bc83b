"""The tools that read and change labels."""

from functools import cached_property
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk.requests import shown as change_shown
from bowerbird.library.labels.labels import BatchResult, Labelled, Labels, Op, OperationResult
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow
from bowerbird.requests import decoding, limits
from bowerbird.requests.bulk import BulkRequest
from bowerbird.requests.fields import InvalidField, LabelName, ToolPostIds, about, unique
from bowerbird.requests.labels import (
    InvalidOperation,
    LabelOperation,
    LabelRequest,
    check_posts,
    invalid_operation,
)
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.bulk import BulkCalls, Change, Undoable, shown, undoable
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.quoted_text import (
    HIDDEN,
    QUOTED_POSTS,
    has_hidden,
    shown_name,
)
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES_IDEMPOTENTLY,
    BoundTool,
    Json,
    NoArguments,
    Tool,
)
from bowerbird.toolserver.tools.vocabulary import Selection

_ERROR_CHARS: Final = 280

Name = Annotated[
    LabelName,
    about("Name of the label. Case is ignored."),
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
    idempotency_key: binding.IdempotencyKey = None

    def __post_init__(self) -> None:
        check_posts(self.parsed)

    @cached_property
    def parsed(self) -> list[LabelOperation | InvalidOperation]:
        """Each change read on its own, so that an invalid one does not stop the others."""
        return [_operation(index, one) for index, one in enumerate(self.operations)]


class LabelCount(Struct, kw_only=True, omit_defaults=True):
    label: str
    count: int


class LabelCounts(Struct, kw_only=True, omit_defaults=True):
    """Labels by name; only the most used ones if not all fit."""

    content_is: str = ""
    labels: Annotated[list[Json], Meta(extra={"items": LabelCount})]
    total_count: int
    truncated: bool
    advice: str = ""


class LabelledPost(Struct, kw_only=True, omit_defaults=True):
    post_id: str
    labels: list[str]


class LabelledPosts(Undoable, kw_only=True, omit_defaults=True):
    affected: int
    posts: Annotated[list[Json], Meta(extra={"items": LabelledPost})]
    not_found: list[str]
    truncated: bool
    # Posts that could not get the label.
    not_changed: list[str] = msgspec.field(default_factory=list)
    advice: str = ""


class Outcome(Struct, kw_only=True, omit_defaults=True):
    """The outcome of one change of a batch."""

    index: int
    ok: bool
    affected: int | None = None
    not_found: list[str] | None = None
    not_changed: list[str] | None = None
    error: str = ""


class Outcomes(Undoable, kw_only=True, omit_defaults=True):
    results: Annotated[list[Json], Meta(extra={"items": Outcome})]
    truncated: bool
    succeeded: int
    failed: int
    advice: str = ""


LIST: Final = Tool(
    name="list_labels",
    title="List labels",
    description=(
        "Lists the user's labels and the number of posts with each. Call it before you add a "
        "label, and use an existing name if one fits."
    ),
    returns=LabelCounts,
    hints=READS,
)
ADD: Final = Tool(
    name="add_label",
    title="Label saved posts",
    description=(
        "Adds a label to saved posts, by post_ids or filter, and creates the label if it does "
        "not exist."
    ),
    takes=LabelArguments,
    returns=Change,
    returns_by_ids=LabelledPosts,
    hints=WRITES_IDEMPOTENTLY,
)
REMOVE: Final = Tool(
    name="remove_label",
    title="Remove a label from saved posts",
    description=(
        "Removes a label from saved posts, by post_ids or filter; both stay. It is not suggested "
        "for post_ids again."
    ),
    takes=LabelArguments,
    returns=Change,
    returns_by_ids=LabelledPosts,
    hints=DESTROYS,
)
BATCH: Final = Tool(
    name="batch_label",
    title="Change many labels in one call",
    description=(
        "Adds and removes different labels in one call. If a change fails, the result gives the "
        "reason, and the others are still made."
    ),
    takes=BatchArguments,
    returns=Outcomes,
    hints=DESTROYS,
)


def bind(services: Services) -> list[BoundTool]:
    labels, calls = services.labels, BulkCalls(services)

    async def list_labels(account: Account, _: NoArguments) -> LabelCounts:
        found, total = await labels.listed.uses(account)
        used = [LabelCount(label=one.label_name, count=one.count) for one in found]
        return _listed(msgspec.to_builtins(used), total)

    return [
        binding.reads(LIST, list_labels),
        _labelling(labels, calls, ADD, "add"),
        _labelling(labels, calls, REMOVE, "remove"),
        binding.writes(
            *(services, BATCH, labels.batch),
            gate=plans.check_writes,
            given=lambda sent: (sent.parsed,),
            shown=lambda made: _outcomes(*made),
        ),
    ]


def _labelling(labels: Labels, calls: BulkCalls, tool: Tool, op: Op) -> BoundTool:
    action = BulkAction.ADD_LABEL if op == "add" else BulkAction.REMOVE_LABEL

    async def by_ids(transaction: Transaction, account: Account, values: LabelArguments) -> Struct:
        changed = await labels.change(transaction, account, op, values.request)
        return shown(change_shown(changed)) if isinstance(changed, BulkRow) else _changed(changed)

    def change(values: LabelArguments) -> BulkRequest:
        if op == "remove" and values.filter is not None:
            # Only posts that have the label, so that the count of a dry run is that of changes.
            narrowed = msgspec.structs.replace(values.filter, tag=values.label_name)
            values = msgspec.structs.replace(values, filter=narrowed)
        return values.change(action, values.label_name)

    async def check(account: Account, values: LabelArguments) -> None:
        if op == "remove" or has_hidden(values.label_name):
            await find_label(labels, account, values.label_name)

    return calls.tool(tool, change, by_ids=by_ids, gate=plans.check_writes, check=check)


def _listed(labels: list[Json], total: int) -> LabelCounts:
    max_bytes = response_size.RECORDS_BYTES
    fitted = response_size.fit(labels, max_bytes)
    is_cut = not fitted.is_all or len(labels) < total
    advice = "" if total else "There are no labels yet. add_label creates the first one."
    if is_cut:
        most_used = sorted(labels, key=lambda label: label["count"], reverse=True)
        fitted = response_size.fit(most_used, max_bytes)
        advice = (
            f"Only the {len(fitted.records)} most used of {total} labels fit. The others "
            "can still be used by name."
        )
    return LabelCounts(
        # Some names are those of folders in imported files.
        content_is=QUOTED_POSTS if labels else "",
        labels=fitted.records,
        total_count=total,
        truncated=is_cut,
        advice=advice,
    )


def _operation(index: int, sent: Any) -> LabelOperation | InvalidOperation:
    try:
        values = decoding.convert(sent, OperationArguments)
    except Refusal as refused:
        return invalid_operation(index, sent, refused)
    return LabelOperation(op=values.op, post_ids=values.post_ids, label_name=values.label_name)


def _changed(labelled: Labelled) -> LabelledPosts:
    ids_size = response_size.size(labelled.not_found)
    posts: list[Json] = [
        {"post_id": post.post_id, "labels": post.tags or []} for post in labelled.posts
    ]
    total = len(posts) + len(labelled.further_ids)
    fitted = response_size.fit(
        posts, response_size.MAX_BYTES - response_size.OVERHEAD_BYTES // 2 - ids_size
    )
    content = LabelledPosts(
        affected=labelled.affected,
        posts=fitted.records,
        not_found=labelled.not_found,
        truncated=not fitted.is_complete or len(posts) < total,
    )
    if content.truncated:
        content.advice = (
            f"All {labelled.affected} posts were changed, but only {len(fitted.records)} of "
            f"{total} fit here. get_bookmarks returns the labels of the others."
        )
    return undoable(content, labelled.change)


def _outcomes(batch: BatchResult, row: BulkRow | None) -> Outcomes:
    results: list[Json] = msgspec.to_builtins([_outcome(one) for one in batch.results])
    short, max_ids = _fit(results)
    outcomes = Outcomes(
        results=short,
        truncated=short is not results,
        succeeded=batch.succeeded,
        failed=batch.failed,
        advice=""
        if short is results
        else f"not_found has only the first {max_ids} ids per change.",
    )
    return undoable(outcomes, row)


def _outcome(result: OperationResult) -> Outcome:
    """Without the posts: those of 50 changes are long, and a model rarely needs them."""
    return Outcome(
        index=result.index,
        ok=result.ok,
        affected=result.affected,
        not_found=result.not_found,
        not_changed=result.not_changed,
        error=f"{result.error.code}: {result.error.message}" if result.error else "",
    )


def _fit(results: list[Json]) -> tuple[list[Json], int]:
    """Keeps every outcome, and fewer of the ids that were not found if they do not fit."""
    short, max_ids = results, limits.TOOL_POST_IDS_MAX
    max_bytes = response_size.RECORDS_BYTES
    while max_ids and response_size.size(short) > max_bytes:
        max_ids //= 2
        short = [response_size.truncate_all(one, _ERROR_CHARS, max_ids) for one in results]
    return short, max_ids


async def find_label(labels: Labels, account: Account, name: str) -> str:
    """The id of a label, or a refusal that names the nearest one."""
    try:
        return await labels.listed.id_of(account, name)
    except Refusal as refused:
        if refused.code is not Code.NOT_FOUND:
            raise
        meant = await labels.listed.nearest(account, name)
        hint = f" Did you mean '{shown_name(meant)}'?" if meant else ""
        problem = f"No label '{shown_name(name)}' on this account.{hint}"
        raise Refusal(Code.NOT_FOUND, problem) from None
