"""The tools that rename, colour, merge and delete labels."""

from typing import Annotated, Any, Final

from msgspec import UNSET, Struct, UnsetType, field

from bowerbird.errors import Advice, Refusal
from bowerbird.library.access import plans
from bowerbird.library.labels.label_list import LabelResponse
from bowerbird.library.labels.labels import Labels
from bowerbird.model.labels import COLORS, Color
from bowerbird.requests.fields import InvalidField, LabelName, about
from bowerbird.requests.labels import LabelChange
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.bulk import BulkCalls, Change, Undoable, shown, undoable
from bowerbird.toolserver.tools.labels import find_label
from bowerbird.toolserver.tools.results.quoted_text import HIDDEN, has_hidden
from bowerbird.toolserver.tools.results.refusals import Advised
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    BoundTool,
    Tool,
    ToolCall,
    ToolResult,
)

_Name = Annotated[LabelName, about("Name of the label. Case is ignored.")]


class UpdateArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: _Name
    new_name: Annotated[LabelName | None, about("Its new name.")] = None
    color: Annotated[
        Color | UnsetType | None,
        about("Its colour on the website.", argument={"enum": list(COLORS)}),
    ] = UNSET
    metadata: Annotated[
        dict[str, Any] | None,
        # An object without fixed fields, which not every client can send. Still accepted.
        about("The user's own notes on it; replaces all.", argument=None),
    ] = None

    def __post_init__(self) -> None:
        if self.new_name is None and self.color is UNSET and self.metadata is None:
            raise InvalidField("new_name", "is required, unless color or metadata is sent")
        if self.new_name is not None and has_hidden(self.new_name):
            raise InvalidField("new_name", HIDDEN)
        _ = self.change

    @property
    def change(self) -> LabelChange:
        return LabelChange(
            label_name=UNSET if self.new_name is None else self.new_name,
            metadata=UNSET if self.metadata is None else self.metadata,
            color=self.color,
        )


class MergeArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: Annotated[LabelName, about("The label to delete.")] = field(name="from")
    into: Annotated[LabelName, about("The label to add to its posts.")]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.source, self.into)


class DeleteArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: _Name

    @property
    def names(self) -> tuple[str, ...]:
        return (self.label,)


class Label(Undoable, kw_only=True, omit_defaults=True):
    label: str
    count: int
    color: str | None = None


UPDATE: Final = Tool(
    name="update_label",
    title="Rename or colour a label",
    description=(
        "Renames a label on all its posts, or changes its colour. If another label has the new "
        "name, use merge_labels instead."
    ),
    takes=UpdateArguments,
    returns=Label,
    # The colour before is not kept.
    hints=DESTROYS,
)
MERGE: Final = Tool(
    name="merge_labels",
    title="Merge two labels",
    description=(
        "Moves every post from the label from to the label into, then deletes from. undo_change "
        "undoes it for an hour."
    ),
    takes=MergeArguments,
    returns=Change,
    hints=DESTROYS,
)
DELETE: Final = Tool(
    name="delete_label",
    title="Delete a label",
    description=(
        "Removes a label from all its posts and deletes it; the posts stay. undo_change undoes it "
        "for an hour."
    ),
    takes=DeleteArguments,
    returns=Change,
    hints=DESTROYS,
)
TOOLS: Final = (UPDATE, MERGE, DELETE)


def bind(labels: Labels, calls: BulkCalls) -> list[BoundTool]:
    return [
        _updating(labels, calls),
        _ending(labels, calls, MERGE, MergeArguments),
        _ending(labels, calls, DELETE, DeleteArguments),
    ]


def _updating(labels: Labels, calls: BulkCalls) -> BoundTool:
    async def update_label(call: ToolCall) -> ToolResult:
        found: list[str] = []
        left: list[str] = []

        async def prepare(values: UpdateArguments) -> None:
            found.append(await find_label(labels, call.account, values.label))

        async def effect(transaction: Transaction, values: UpdateArguments) -> Struct:
            try:
                label, row = await labels.update(transaction, call.account, found[0], values.change)
            except Refusal as refused:
                raise _renaming(refused) from None
            left[:] = [] if row is None or row.is_finished else [row.change_id]
            return undoable(_label(label), row)

        gate = plans.check_writes
        result = await calls.write(
            call, UPDATE, UpdateArguments, effect, gate=gate, prepare=prepare
        )
        for change_id in left:
            await calls.requests.changes.finish_soon(call.account, change_id)
        return result

    return BoundTool(UPDATE, update_label)


def _ending(
    labels: Labels, calls: BulkCalls, tool: Tool, takes: type[MergeArguments | DeleteArguments]
) -> BoundTool:
    """A tool after which a label does not exist any more."""

    async def end_label(call: ToolCall) -> ToolResult:
        found: list[str] = []

        async def prepare(values: MergeArguments | DeleteArguments) -> None:
            ids = [await find_label(labels, call.account, name) for name in values.names]
            found.extend(ids)

        async def effect(transaction: Transaction, _: MergeArguments | DeleteArguments) -> Struct:
            return shown(await calls.requests.start_label(transaction, call.account, *found))

        gate = plans.check_writes
        return await calls.write(call, tool, takes, effect, gate=gate, prepare=prepare)

    return BoundTool(tool, end_label)


def _renaming(refused: Refusal) -> Refusal:
    """The refusal in the words of this tool."""
    if refused.advice is not Advice.MERGE_LABELS:
        return refused
    problem = refused.sentence.replace("label_name:", "new_name:", 1)
    return Advised(refused.code, problem, "merge_labels moves all posts to that label.")


def _label(label: LabelResponse) -> Label:
    return Label(label=label.label_name, count=label.count, color=label.color)
