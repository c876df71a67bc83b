"""The tools that list changes of posts and the trash, and undo changes."""

from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.trash import TrashList
from bowerbird.library.bulk.recent import RecentChange
from bowerbird.model.instants import with_offset
from bowerbird.requests.bookmarks import ChangesQuery, TrashQuery
from bowerbird.requests.fields import about
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.bulk import BulkCalls, Change, shown
from bowerbird.toolserver.tools.results import posts, quoted_text, response_size
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)

_CHANGE_ID_MAX: Final = 64
_MOST: Final = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES


class ChangeArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    change_id: Annotated[
        Annotated[str, Meta(max_length=_CHANGE_ID_MAX)], about("change_id of an earlier result.")
    ]


class ListArguments(ChangesQuery, frozen=True, forbid_unknown_fields=True):
    pass


class TrashArguments(TrashQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class TrashPosts(Struct, kw_only=True, omit_defaults=True):
    bookmarks: list[Json]
    total_count: int
    next_cursor: str | None
    content_is: str = ""


class ChangeList(Struct, kw_only=True, omit_defaults=True):
    changes: list[Json]
    total_count: int
    next_cursor: str | None


UNDO: Final = Tool(
    name="undo_change",
    title="Undo a change",
    description=(
        "Undoes a change by its change_id, within an hour. Posts that were changed again since "
        "stay as they are; affected counts those that got their state back."
    ),
    takes=ChangeArguments,
    returns=Change,
    # Undoing the restoration of posts deletes them again, and nothing undoes an undoing.
    hints=DESTROYS,
)
GET: Final = Tool(
    name="get_change",
    title="Show the progress of a change",
    description="Shows how far a change is whose state is working or undoing, by its change_id.",
    takes=ChangeArguments,
    returns=Change,
    hints=READS,
)
LIST: Final = Tool(
    name="list_changes",
    title="List recent changes",
    description=(
        "Lists the changes of the last hour in words, latest first: who made each, how many posts "
        "it changed, and until when undo_change can undo it."
    ),
    takes=ListArguments,
    returns=ChangeList,
    hints=READS,
)
TRASH: Final = Tool(
    name="list_trash",
    title="List or search the trash",
    description=(
        "Lists the deleted posts that restore_bookmarks can restore, the latest first: all, or by "
        "words, author, label and when they were deleted."
    ),
    takes=TrashArguments,
    returns=TrashPosts,
    hints=READS,
)
TOOLS: Final = (UNDO, GET, LIST, TRASH)


def bind(calls: BulkCalls, trash: TrashList, bookmarks: Bookmarks) -> list[BoundTool]:
    async def undo_change(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: ChangeArguments) -> Struct:
            return shown(await calls.requests.undo(transaction, call.account, values.change_id))

        changes, account = calls.requests.changes, call.account
        return await calls.write(
            call,
            UNDO,
            ChangeArguments,
            effect,
            prepare=lambda values: changes.prepare_undo(account, values.change_id),
        )

    async def get_change(call: ToolCall) -> ToolResult:
        values = reading.read(GET, call, ChangeArguments)
        return ToolResult(shown(await calls.requests.get(call.account, values.change_id)))

    async def list_changes(call: ToolCall) -> ToolResult:
        asked = reading.read(LIST, call, ListArguments)
        page = await calls.requests.recent.list(call.account, asked)
        while response_size.size(listed := [_listed(one) for one in page.changes]) > _MOST:
            half = replace(asked, limit=len(page.changes) // 2)
            page = await calls.requests.recent.list(call.account, half)
        return ToolResult(
            ChangeList(changes=listed, total_count=page.total_count, next_cursor=page.next_cursor)
        )

    return [
        BoundTool(UNDO, undo_change),
        BoundTool(GET, get_change, counts=lambda _: False),
        BoundTool(LIST, list_changes, counts=lambda _: False),
        _trash(trash, bookmarks),
    ]


def _trash(trash: TrashList, bookmarks: Bookmarks) -> BoundTool:
    async def list_trash(call: ToolCall) -> ToolResult:
        asked = reading.read(TRASH, call, TrashArguments)
        page = await trash.page(call.account, asked)
        zone = await bookmarks.zone(call.account)
        while True:
            body = b",".join(one.bookmark for one in page.posts)
            found = [
                {**post, "deleted_at": response_size.second(with_offset(one.trashed_at))}
                for post, one in zip(posts.concise(b"[%b]" % body, zone), page.posts, strict=True)
            ]
            if response_size.size(found) <= _MOST:
                break
            if len(found) == 1:
                found = [response_size.shrink(found[0], _MOST)]
                break
            page = await trash.page(call.account, replace(asked, limit=len(found) // 2))
        return ToolResult(
            TrashPosts(
                bookmarks=found,
                total_count=page.total,
                next_cursor=page.next_cursor,
                content_is=QUOTED_POSTS if found else "",
            )
        )

    return BoundTool(TRASH, list_trash)


def _listed(change: RecentChange) -> Json:
    """A change of the list, without what its summary says."""
    found: Json = {
        "change_id": change.change_id,
        "summary": quoted_text.shown_text(change.summary),
        "made_by": change.made_by,
        "at": response_size.second(change.created_at),
    }
    if change.key_name is not None:
        found["key"] = quoted_text.shown_text(change.key_name)
    if change.rule_name is not None:
        found["rule"] = quoted_text.shown_text(change.rule_name)
    if change.undo_until is not None:
        found["undo_until"] = response_size.second(change.undo_until)
    else:
        found["state"] = change.state
    return found
