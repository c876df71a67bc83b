"""The tools that rename, colour, merge, delete and suggest labels."""

from collections.abc import Awaitable
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Advice, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.labels.label_list import LabelResponse
from bowerbird.model.accounts import Account
from bowerbird.model.labels import COLORS, Color
from bowerbird.requests.fields import InvalidField, LabelName, ToolPostIds, about, unique
from bowerbird.requests.labels import LabelChange
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.bulk import Change, Undoable, shown, undoable
from bowerbird.toolserver.tools.labels import find_label
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.guidance import Advised
from bowerbird.toolserver.tools.results.quoted_text import HIDDEN, QUOTED_POSTS, has_hidden
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    BoundTool,
    Json,
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


def bind(services: Services) -> list[BoundTool]:
    labels, gate = services.labels, plans.check_writes

    async def find(account: Account, sent: MergeArguments | DeleteArguments) -> list[str]:
        return [await find_label(labels, account, name) for name in sent.names]

    def end(
        transaction: Transaction, account: Account, _: object, found: list[str]
    ) -> Awaitable[BulkChange]:
        return services.bulk.start_label(transaction, account, *found)

    ending = [
        binding.writes(services, tool, end, gate=gate, prepare=find, shown=shown, wakes=True)
        for tool in (MERGE, DELETE)
    ]
    return [_updating(services), *ending, *_bind_suggesting(services)]


def _updating(services: Services) -> BoundTool:
    labels = services.labels

    def find(account: Account, values: UpdateArguments) -> Awaitable[str]:
        return find_label(labels, account, values.label)

    async def update(
        transaction: Transaction, account: Account, values: UpdateArguments, label_id: str
    ) -> Label:
        try:
            label, row = await labels.update(transaction, account, label_id, values.change)
        except Refusal as refused:
            raise _renaming(refused) from None
        return undoable(_label(label), row)

    bound = binding.writes(
        services, UPDATE, update, gate=plans.check_writes, prepare=find, wakes=True
    )

    async def update_label(call: ToolCall) -> ToolResult:
        """Waits for the job that renames it on many posts: only then it has an undo."""
        result = await bound.run(call)
        assert isinstance(result.content, dict)
        change_id = result.content.get("change_id")
        if change_id and "undo_until" not in result.content:
            await services.bulk.changes.finish_soon(call.account, change_id)
        return result

    return BoundTool(UPDATE, update_label)


def _renaming(refused: Refusal) -> Refusal:
    """The refusal in the words of this tool."""
    if refused.advice is not Advice.MERGE_LABELS:
        return refused
    problem = refused.sentence.replace("label_name:", "new_name:", 1)
    return Advised(refused.code, problem, "merge_labels moves all posts to that label.")


def _label(label: LabelResponse) -> Label:
    return Label(label=label.label_name, count=label.count, color=label.color)


class SuggestArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: ToolPostIds

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class Suggested(Struct, kw_only=True):
    label: str
    score: float
    reason: str


class PostSuggestions(Struct, kw_only=True):
    post_id: str
    labels: list[Suggested]


class Suggestions(Struct, kw_only=True):
    content_is: str
    posts: Annotated[list[Json], Meta(extra={"items": PostSuggestions})]
    not_found: list[str]
    truncated: bool


SUGGEST: Final = Tool(
    name="suggest_labels",
    title="Suggest labels",
    description=(
        "Suggests up to three of the user's labels per post; lists no post that none clearly "
        "fits. Changes nothing."
    ),
    takes=SuggestArguments,
    returns=Suggestions,
    hints=READS,
)


def _bind_suggesting(services: Services) -> list[BoundTool]:
    async def suggest_labels(account: Account, values: SuggestArguments) -> Suggestions:
        found = await services.suggestions.of_posts(account, values.post_ids)
        if not found:
            raise errors.not_found("post", ", ".join(values.post_ids[:3]))
        not_found = [each for each in values.post_ids if each not in found]
        posts = [
            PostSuggestions(
                post_id=post_id,
                labels=[
                    Suggested(label=one.label_name, score=one.score, reason=one.reason)
                    for one in found[post_id]
                ],
            )
            for post_id in values.post_ids
            if found.get(post_id)
        ]
        room = response_size.RECORDS_BYTES - response_size.size(not_found)
        fitted = response_size.fit(msgspec.to_builtins(posts), room)
        return Suggestions(
            content_is=QUOTED_POSTS,
            posts=fitted.records,
            not_found=not_found,
            truncated=not fitted.is_complete,
        )

    return [binding.reads(SUGGEST, suggest_labels)]
