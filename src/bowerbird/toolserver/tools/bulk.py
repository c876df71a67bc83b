"""The tools that change many posts at once."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, ClassVar, Final, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.bookmarks.annotations import BookmarkState
from bowerbird.library.bulk.requests import DRY_RUN, BulkChange, Prepared
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FLAG_ACTIONS, BulkAction, BulkRow
from bowerbird.model.instants import with_offset
from bowerbird.model.posts.bookmarks import Note
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import UpdateRequest
from bowerbird.requests.bulk import BulkRequest, given
from bowerbird.requests.fields import InvalidField, about
from bowerbird.requests.filters import flags_of, sent
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.guidance import EmptyLists
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import DESTROYS, WRITES_IDEMPOTENTLY, BoundTool, Json, Tool
from bowerbird.toolserver.tools.vocabulary import WHOLE, Selection, TrashFilter

_STUCK: Final = "Tell the user if the number does not grow."
_MISSING: Final[dict[str, str]] = {
    BulkAction.TRASH: "The ids in not_found are not in the library.",
    BulkAction.RESTORE: "The ids in not_found are not in the trash.",
}


class UpdateArguments(Selection, frozen=True, kw_only=True, forbid_unknown_fields=True):
    is_read: Annotated[bool | None, about("true marks posts read, false unread.")] = None
    is_archived: Annotated[bool | None, about("true archives posts, false brings them back.")] = (
        None
    )
    note: Annotated[
        Note | UnsetType | None,
        about(
            "Markdown note for a single post. Empty removes it.",
            argument={"type": "string", "maxLength": limits.NOTE_MAX},
        ),
    ] = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.flags
        if self.note is not UNSET and len(self.post_ids or ()) != 1:
            raise InvalidField("note", "can be set on one post at a time; send one id in post_ids")

    @property
    def flags(self) -> UpdateRequest:
        return UpdateRequest(is_read=self.is_read, is_archived=self.is_archived, note=self.note)


class RestoreArguments(Selection, frozen=True, kw_only=True, forbid_unknown_fields=True):
    IS_RESTORE: ClassVar[bool] = True

    filter: TrashFilter = None


class Change(Struct, kw_only=True, omit_defaults=True):
    """A change of all posts that match."""

    affected: int
    count: int
    state: str
    change_id: str | None = None
    undo_until: str = ""
    examples: list[Json] = []
    not_found: list[str] = []
    content_is: str = ""
    advice: str = ""


class Undoable(Struct, kw_only=True, omit_defaults=True):
    """A result of a change that undo_change undoes, if it has changed something."""

    change_id: str = ""
    undo_until: str = ""


class Marked(Undoable, kw_only=True, omit_defaults=True):
    posts: list[BookmarkState]
    affected: int
    not_found: list[str]


U = TypeVar("U", bound=Undoable)

UPDATE: Final = Tool(
    name="update_bookmarks",
    title="Mark saved posts, or change a note",
    description=(
        "Marks saved posts as read or unread, archived or not: by post_ids, or all that match "
        "filter. Also replaces the note of one post. A field that is not sent does not change. "
        "undo_change undoes it for an hour."
    ),
    takes=UpdateArguments,
    returns=Change,
    returns_by_ids=Marked,
    hints=DESTROYS,
)
DELETE: Final = Tool(
    name="delete_bookmarks",
    title="Delete saved posts",
    description=(
        "Moves saved posts to the trash, by post_ids or filter. "
        "undo_change brings them back for an hour, restore_bookmarks for 30 days."
    ),
    takes=Selection,
    returns=Change,
    hints=DESTROYS,
)
RESTORE: Final = Tool(
    name="restore_bookmarks",
    title="Restore deleted posts",
    description=(
        "Takes posts out of the trash, by post_ids or filter. list_trash shows them. They are "
        "deleted for good after 30 days."
    ),
    takes=RestoreArguments,
    returns=Change,
    hints=WRITES_IDEMPOTENTLY,
)


class BulkCalls:
    """Makes the tools that change posts."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._bulk = services.bulk
        self._empty = EmptyLists(services.bookmarks)

    def tool(
        self,
        tool: Tool,
        request_of: Callable[[Any], BulkRequest],
        *,
        by_ids: Callable[[Transaction, Account, Any], Awaitable[Struct]] | None = None,
        gate: Callable[[Account], None] = lambda _: None,
        check: Callable[[Account, Any], Awaitable[None]] | None = None,
    ) -> BoundTool:
        """`by_ids` is how the tool changes posts that are named, if it has a shorter way.

        `check` refuses arguments that the database does not allow.
        """

        async def prepare(account: Account, values: Selection) -> tuple[Prepared, Json] | None:
            if check is not None:
                await check(account, values)
            if by_ids is not None and values.post_ids is not None:
                return None
            request = request_of(values)
            prepared = await self._bulk.prepare(account, request)
            return prepared, await self._further(account, request, prepared)

        async def effect(
            transaction: Transaction,
            account: Account,
            values: Selection,
            ready: tuple[Prepared, Json] | None = None,
        ) -> Struct:
            if ready is None:
                assert by_ids is not None
                return await by_ids(transaction, account, values)
            prepared, further = ready
            change = await self._bulk.start(transaction, account, request_of(values), prepared)
            content = replace(shown(change), **further)
            filters = values.filter
            if values.dry_run and change.count and filters is not None and not values.IS_RESTORE:
                whole = "" if given(filters) else f"{WHOLE}. "
                content.advice = f"{whole}{content.advice}"
            return content

        return binding.writes(self._services, tool, effect, gate=gate, prepare=prepare, wakes=True)

    async def _further(self, account: Account, request: BulkRequest, prepared: Prepared) -> Json:
        """The ids that were not found, or why no post matches."""
        chosen = prepared.chosen
        if isinstance(chosen, Refusal):
            return {}
        if prepared.not_found:
            missing = list(prepared.not_found)
            return {"not_found": missing, "advice": _MISSING[request.action]}
        if chosen.count or not request.dry_run or request.filters is None:
            return {}
        if request.action == "restore":
            if not given(request.filters):
                return {"advice": "The trash is empty."}
            return {"advice": "No post in the trash matches. list_trash shows what is there."}
        filters = {**flags_of(request.filters), **sent(request.filters)}
        reason = await self._empty.of_filters(account, filters)
        return {"advice": f"There is nothing to change. {reason}"}


def bind(services: Services) -> list[BoundTool]:
    calls, flags = BulkCalls(services), services.flags

    async def mark(transaction: Transaction, account: Account, values: UpdateArguments) -> Struct:
        asked = values.flags
        result = await flags.update(transaction, account, values.post_ids or [], asked, asked.note)
        marked = Marked(posts=result.posts, affected=result.affected, not_found=result.not_found)
        return undoable(marked, result.change)

    return [
        calls.tool(UPDATE, _marking, by_ids=mark),
        calls.tool(DELETE, lambda values: values.change(BulkAction.TRASH)),
        calls.tool(RESTORE, lambda values: values.change(BulkAction.RESTORE)),
    ]


def _marking(values: UpdateArguments) -> BulkRequest:
    action = FLAG_ACTIONS.get((values.is_read, values.is_archived), BulkAction.READ)
    return values.change(action)


def undoable(result: U, row: BulkRow | None) -> U:
    """The result of a change of posts that were named, with the way to undo it."""
    if row is not None:
        result.change_id = row.change_id
        if row.is_finished:
            result.undo_until = response_size.second(with_offset(row.undo_until))
    return result


def shown(change: BulkChange) -> Change:
    """A change as a model sees it."""
    is_undo = change.state in ("undoing", "undone")
    content = Change(
        affected=change.restored if is_undo else change.changed,
        count=change.count,
        state=change.state,
        change_id=change.change_id,
    )
    if change.state == DRY_RUN:
        content.examples = [
            {
                "post_id": one.post_id,
                "author": one.author_username,
                # The words around the hit say more than the beginning of the text.
                **({"text": one.text} if one.why is None else {"why": one.why}),
            }
            for one in change.examples
        ]
        content.content_is = QUOTED_POSTS if content.examples else ""
        content.advice = _next_step(change)
        return content
    if change.undo_until is not None and not is_undo:
        content.undo_until = response_size.second(change.undo_until)
    if change.error is not None:
        content.advice = f"The rest was not changed: {change.error}"
    elif change.is_open:
        done = change.restored if is_undo else change.done
        so_far = f"{done} of {change.count} posts are done"
        since = f"The change was started at {response_size.second(change.created_at or '')}"
        content.advice = f"{so_far}. {since}; get_change shows the progress. {_STUCK}"
    return content


def _next_step(change: BulkChange) -> str:
    if not change.count:
        return "There is nothing to change."
    more = (
        f" {change.left_out} more have the words only in names, link titles or alt texts, or match "
        "only by an abbreviation that a post explains; text_only false includes them."
        if change.left_out
        else ""
    )
    return (
        "Nothing was changed yet. To go on, send the same call with expected_count "
        f"{change.count} and without dry_run.{more}"
    )
