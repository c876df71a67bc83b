"""Changes in words."""

from typing import Final

from bowerbird.model.bulk import (
    VALUE_ACTIONS,
    WHOLE_LABEL_ACTIONS,
    BulkAction,
    BulkRow,
    BulkState,
)

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
    BulkAction.MERGE_LABELS: "Merged the label “{name}”, which {posts} had.",
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
    """Deleting a label changes the library even if no post has it."""
    return row.changed > 0 or row.action in WHOLE_LABEL_ACTIONS


def _isolated(name: str) -> str:
    """The sentence is not markup: a name from right to left must not reorder it."""
    return name if name.isascii() else f"\u2068{name}\u2069"


def _posts(count: int) -> str:
    return "1 post" if count == 1 else f"{count:,} posts"
