"""The tools that list changes of posts and the trash, and undo changes."""

from collections.abc import Awaitable
from typing import Annotated, Final

from msgspec import Meta, Struct

from bowerbird.assembly import Services
from bowerbird.library.bookmarks.trash import TrashPage
from bowerbird.library.bulk.recent import RecentChange
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.model.accounts import Account
from bowerbird.model.instants import with_offset
from bowerbird.requests.bookmarks import ChangesQuery, TrashQuery
from bowerbird.requests.fields import about
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading, writes
from bowerbird.toolserver.tools.bulk import Change, shown
from bowerbird.toolserver.tools.results import posts, quoted_text, response_size
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import DESTROYS, READS, BoundTool, Json, Tool

_CHANGE_ID_MAX: Final = 64


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
        "Undoes a change by its change_id. Posts that were changed again since "
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
        "Lists the latest changes in words, latest first: who made each, how many posts "
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


def bind(services: Services) -> list[BoundTool]:
    bulk = services.bulk

    def undo(
        transaction: Transaction, account: Account, sent: ChangeArguments, _: None
    ) -> Awaitable[BulkChange]:
        return bulk.undo(transaction, account, sent.change_id)

    async def get_change(account: Account, values: ChangeArguments) -> Change:
        return shown(await bulk.get(account, values.change_id))

    async def list_changes(account: Account, asked: ListArguments) -> ChangeList:
        page, listed = await response_size.fitting_page(
            lambda values: bulk.recent.list(account, values),
            asked,
            lambda page: [_listed(one) for one in page.changes],
        )
        return ChangeList(
            changes=listed, total_count=page.total_count, next_cursor=page.next_cursor
        )

    async def list_trash(account: Account, asked: TrashArguments) -> TrashPosts:
        zone = await services.bookmarks.zone(account)

        def found_in(page: TrashPage) -> list[Json]:
            body = b",".join(one.bookmark for one in page.posts)
            return [
                {**post, "deleted_at": response_size.second(with_offset(one.trashed_at))}
                for post, one in zip(posts.concise(b"[%b]" % body, zone), page.posts, strict=True)
            ]

        page, found = await response_size.fitting_page(
            lambda values: services.trash_list.page(account, values), asked, found_in
        )
        return TrashPosts(
            bookmarks=found,
            total_count=page.total,
            next_cursor=page.next_cursor,
            content_is=QUOTED_POSTS if found else "",
        )

    return [
        writes.bound(
            services,
            UNDO,
            undo,
            prepare=lambda account, sent: bulk.changes.prepare_undo(account, sent.change_id),
            shown=shown,
            wakes=True,
        ),
        reading.bound(GET, get_change, counts=lambda _: False),
        reading.bound(LIST, list_changes, counts=lambda _: False),
        reading.bound(TRASH, list_trash),
    ]


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
