"""Changes in words, and the list of those that can be undone with those who made them."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import (
    FAILED,
    VALUE_ACTIONS,
    WHOLE_LABEL_ACTIONS,
    BulkAction,
    BulkRow,
    BulkState,
    Maker,
)
from bowerbird.model.instants import with_offset
from bowerbird.requests.bookmarks import ChangesQuery
from bowerbird.requests.limits import KEPT_CHANGES_MAX, PAGE_DEFAULT
from bowerbird.storage.database import Database
from bowerbird.storage.stores import TimedService

_DONE: Final = {
    BulkAction.READ: "Marked {posts} read.",
    BulkAction.UNREAD: "Marked {posts} unread.",
    BulkAction.ARCHIVE: "Archived {posts}.",
    BulkAction.UNARCHIVE: "Took {posts} out of the archive.",
    BulkAction.TRASH: "Moved {posts} to the trash.",
    BulkAction.RESTORE: "Restored {posts}.",
    BulkAction.READ_AND_ARCHIVE: "Marked {posts} read and archived.",
    BulkAction.READ_AND_UNARCHIVE: "Marked {posts} read, and not archived.",
    BulkAction.UNREAD_AND_ARCHIVE: "Marked {posts} unread and archived.",
    BulkAction.UNREAD_AND_UNARCHIVE: "Marked {posts} unread, and not archived.",
    BulkAction.ADD_LABEL: "Added the label “{name}” to {posts}.",
    BulkAction.REMOVE_LABEL: "Removed the label “{name}” from {posts}.",
    BulkAction.LABEL_BATCH: "Changed the labels of {posts}.",
    BulkAction.DELETE_LABEL: "Deleted the label “{name}”, which {posts} had.",
    BulkAction.MERGE_LABELS: "Merged the label “{name}”, which {posts} had{into}.",
    BulkAction.RENAME_LABEL: "Renamed the label “{name}”, which {posts} had.",
    BulkAction.UPDATE_NOTE: "Changed the note of {posts}.",
    BulkAction.ADD_HIGHLIGHT: "Marked a passage of {posts}.",
    BulkAction.UPDATE_HIGHLIGHT: "Changed the comment on a passage of {posts}.",
    BulkAction.DELETE_HIGHLIGHT: "Removed a highlight from {posts}.",
    BulkAction.CREATE_LABEL: "Created the label “{name}”.",
    BulkAction.UPDATE_LABEL: "Changed the colour or metadata of the label “{name}”.",
    BulkAction.CREATE_VIEW: "Created the Smart View “{name}”.",
    BulkAction.UPDATE_VIEW: "Changed the Smart View “{name}”.",
    BulkAction.DELETE_VIEW: "Deleted the Smart View “{name}”. Its posts stay.",
    BulkAction.SAVE: "Saved {posts}.",
}
_WORKING: Final = {
    BulkAction.READ: "Marking posts read",
    BulkAction.UNREAD: "Marking posts unread",
    BulkAction.ARCHIVE: "Archiving posts",
    BulkAction.UNARCHIVE: "Taking posts out of the archive",
    BulkAction.TRASH: "Moving posts to the trash",
    BulkAction.RESTORE: "Restoring posts",
    BulkAction.READ_AND_ARCHIVE: "Archiving posts and marking them read",
    BulkAction.READ_AND_UNARCHIVE: "Marking posts read and not archived",
    BulkAction.UNREAD_AND_ARCHIVE: "Archiving posts and marking them unread",
    BulkAction.UNREAD_AND_UNARCHIVE: "Marking posts unread and not archived",
    BulkAction.ADD_LABEL: "Adding a label",
    BulkAction.REMOVE_LABEL: "Removing a label",
    BulkAction.LABEL_BATCH: "Changing labels",
    BulkAction.DELETE_LABEL: "Deleting a label",
    BulkAction.MERGE_LABELS: "Merging labels",
    BulkAction.RENAME_LABEL: "Renaming a label",
}


def summary(row: BulkRow) -> str:
    """About a change in any state."""
    if row.state is BulkState.WORKING:
        return f"{_WORKING[row.action]}: {progress(row)[2]}."
    if row.state is BulkState.DONE:
        return _done(row)
    return f"{_done(row)} {of_undo(row)}"


def sentence(row: BulkRow) -> str:
    """About a change that is finished."""
    if row.state is BulkState.UNDONE:
        return of_undo(row)
    return _done(row)


def _done(row: BulkRow) -> str:
    if not _has_changed(row):
        return "Nothing changed: the posts were so already."
    # Not `format`: the name of a label may contain braces.
    # A post that gets the labels of its duplicates is changed, but was not one of the posts.
    text = _DONE[row.action].replace("{posts}", _posts(min(row.changed, row.matched)))
    # Changes of earlier releases do not know the other label.
    other = row.label.new_name if row.label else ""
    text = text.replace("{into}", f", into “{_isolated(other)}”" if other else "")
    return text.replace("{name}", _isolated(row.name))


def of_undo(row: BulkRow) -> str:
    """About an undo that is finished, or that a job finishes."""
    if row.state is BulkState.UNDOING:
        return "The change is being undone."
    if row.action in WHOLE_LABEL_ACTIONS:
        return f"Undone: {_posts(row.restored)} got the label “{_isolated(row.name)}” back."
    if row.action in VALUE_ACTIONS:
        is_back = row.restored > 0
        return "Undone." if is_back else "Nothing was undone: it has been changed since."
    return f"Undone: {_posts(row.restored)} changed back."


def heading(row: BulkRow) -> str:
    """About a change that is running."""
    return "Undoing the change" if row.state is BulkState.UNDOING else _WORKING[row.action]


def can_be_undone(row: BulkRow) -> bool:
    return row.state is BulkState.DONE and _has_changed(row)


def progress(row: BulkRow) -> tuple[int, int, str]:
    """The progress: done, total, and both in words."""
    if row.state is BulkState.UNDOING:
        done, total = row.restored, row.changed
    else:
        done, total = row.done, row.matched
    return done, total, f"{done:,} of {total:,}"


def _has_changed(row: BulkRow) -> bool:
    """Renaming or deleting a label changes the library even if no post has it."""
    is_of_label = row.action in WHOLE_LABEL_ACTIONS or row.action is BulkAction.RENAME_LABEL
    return row.changed > 0 or is_of_label


def _isolated(name: str) -> str:
    """The sentence is not markup: a name from right to left must not reorder it."""
    return name if name.isascii() else f"\u2068{name}\u2069"


def _posts(count: int) -> str:
    return "1 post" if count == 1 else f"{count:,} posts"


_LAST: Final = 2**63 - 1
_SERVER: Final = "server"


class RecentChange(Struct, frozen=True, kw_only=True):
    """A change that can be undone or is not finished."""

    change_id: str
    """Identifier of the change, for its progress and its undo."""
    summary: str
    """What was done, in words."""
    action: str
    """What was done."""
    label_name: str | None
    """The label that it is about, or null."""
    state: str
    """working, done, undoing, undone or failed."""
    count: int
    """Number of bookmarks that matched when the change started; 1 for a label or Smart View."""
    changed: int
    """Number of bookmarks that were changed."""
    restored: int
    """Number of bookmarks that the undo gave something back; for a label or Smart View 1, or 0
    if it was changed since."""
    made_by: str
    """Who made it: key, agent (by a tool), page (on the website), rule, or server (a command on
    it)."""
    key_name: str | None
    """Name of the API key that was used, or null."""
    rule_name: str | None
    """Name of the rule, or null."""
    created_at: str
    """When the change started: ISO 8601 with an offset."""
    finished_at: str | None
    """When the change or its undo finished, or null."""
    undo_until: str | None
    """Until when the change can be undone; null if it is undone or has not finished."""


class ChangePage(Struct, frozen=True):
    changes: list[RecentChange]
    next_cursor: str | None
    limit: int
    total_count: int


class RecentChanges(TimedService):
    def __init__(self, database: Database, clock: Clock, changes: BulkChanges) -> None:
        super().__init__(database, clock)
        self._changes = changes

    async def list(self, account: Account, asked: ChangesQuery) -> ChangePage:
        """The latest first. Those that can no longer be undone are left out."""
        limit, now = asked.limit or PAGE_DEFAULT, self._clock()
        query = cursors.query_of(account.account_id, "changes")
        before = cursors.read_number(asked.cursor, query) if asked.cursor else _LAST
        found = await self._stores.bulk.recent(
            account.account_id, now=now, before=before, limit=limit + 1
        )
        end = found[limit - 1] if len(found) > limit else None
        names = await self._stores.keys.names(account.account_id) if found else {}
        return ChangePage(
            changes=[await self._shown(account, row, names) for row in found[:limit]],
            next_cursor=None
            if end is None
            else cursors.write(cursors.Named(str(end.number)), query),
            limit=limit,
            total_count=await self._stores.bulk.count_recent(account.account_id, now),
        )

    async def of_action(self, account: Account, action: BulkAction) -> Sequence[BulkRow]:
        """Those of one kind that can be undone, latest first."""
        found = await self._stores.bulk.recent(
            account.account_id,
            now=self._clock(),
            before=_LAST,
            limit=KEPT_CHANGES_MAX,
            action=action,
        )
        return [row for row in found if row.state is BulkState.DONE]

    async def _shown(self, account: Account, row: BulkRow, names: dict[str, str]) -> RecentChange:
        maker, _, name = row.made_by.partition(":")
        is_rule = maker == Maker.RULE
        problem = await self._changes.problem(account, row)
        return RecentChange(
            change_id=row.change_id,
            summary=summary(row),
            action=row.action,
            label_name=row.label_name,
            state=FAILED if problem else row.state,
            count=row.matched,
            changed=row.changed,
            restored=row.restored,
            made_by=maker or _SERVER,
            key_name=None if is_rule else names.get(name),
            rule_name=name if is_rule else None,
            created_at=with_offset(row.created_at),
            finished_at=None if row.finished_at is None else with_offset(row.finished_at),
            undo_until=with_offset(row.undo_until) if row.state is BulkState.DONE else None,
        )
