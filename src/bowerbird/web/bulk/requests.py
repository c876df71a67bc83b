"""Reads the form of a selection: the posts that are picked, or the list that all of them match.

Also what pages say about a change of many posts.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import WHOLE_LABEL_ACTIONS, BulkAction, BulkRow, BulkState
from bowerbird.requests import decoding
from bowerbird.requests.bulk import BulkRequest, ChangeFilters
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import readers
from bowerbird.web.library.addresses import LIBRARY, view_of
from bowerbird.web.visits.visit import is_own_path

ACTIONS: Final = (
    *("read", "unread", "archive", "unarchive", "trash", "restore"),
    *("add_label", "remove_label"),
)
# A checkbox has the post in its name, because a form has no name twice.
PICKED: Final = "p-"
# The value of any other checkbox.
_CHECKED: Final = "on"
TRASH: Final = "/trash"


def action_of(form: Mapping[str, str]) -> str:
    """The name of the button. Enter in the field for a label adds it."""
    action = next((name for name in ACTIONS if name in form), "")
    if not action and form.get("label", "").strip():
        return "add_label"
    if not action:
        raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
    return action


def picked(form: Mapping[str, str]) -> list[str]:
    """The ids of the posts. A script sends all of them in one field."""
    sent = form.get("posts", "").split()
    for name, value in form.items():
        if name.startswith(PICKED):
            # The value of a thread is its other posts.
            sent += [name.removeprefix(PICKED), *([] if value == _CHECKED else value.split())]
    return sent


def request_of(account: Account, form: Mapping[str, str]) -> BulkRequest:
    action = action_of(form)
    body: dict[str, Any] = {"action": action}
    if action in ("add_label", "remove_label"):
        plans.check_writes(account)
        body["label_name"] = form.get("label", "")
    one = form.get(action, "")
    if "all" in form and not one:
        body |= _list_of(account, form.get("list", ""), action)
    else:
        # A button on a post or a thread has its ids, whatever else is picked.
        body["tweet_ids"] = one.split() or picked(form)
        if not body["tweet_ids"]:
            raise Refusal(Code.INVALID_REQUEST, "No post is selected.")
    return decoding.decode(msgspec.json.encode(body), BulkRequest)


def _list_of(account: Account, path: str, action: str) -> dict[str, Any]:
    """What selects the posts of a list, by its address."""
    if not is_own_path(path):
        raise Refusal(Code.INVALID_REQUEST, "The form names no list.")
    parts = urlsplit(path)
    sent = dict(parse_qsl(parts.query))
    if view := view_of(parts.path):
        bucket = {"bucket": sent["bucket"]} if sent.get("bucket") else {}
        return {"view": view, **bucket}
    # Without filters, any other action would change the library instead of the trash.
    if parts.path == TRASH and action == "restore":
        return {"filters": {}}
    if parts.path != LIBRARY:
        raise Refusal(Code.INVALID_REQUEST, "The form names no list.")
    filters = {name: sent[name] for name in readers(ChangeFilters) if sent.get(name)}
    plans.check_fields(account, gates_for(ChangeFilters, filters))
    return {"filters": filters}


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
    BulkAction.ADD_LABEL: "Added the label “{label}” to {posts}.",
    BulkAction.REMOVE_LABEL: "Removed the label “{label}” from {posts}.",
    BulkAction.LABEL_BATCH: "Changed the labels of {posts}.",
    BulkAction.DELETE_LABEL: "Deleted the label “{label}”, which {posts} had.",
    BulkAction.MERGE_LABELS: "Merged the label “{label}”, which {posts} had.",
    BulkAction.RENAME_LABEL: "Renamed the label “{label}”, which {posts} had.",
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


def sentence(row: BulkRow) -> str:
    """About a change that is finished."""
    if row.state is BulkState.UNDONE:
        return of_undo(row)
    if not _has_changed(row):
        return "Nothing changed: the posts were so already."
    # Not `format`: the name of a label may contain braces.
    text = _DONE[row.action].replace("{posts}", _posts(row.changed))
    return text.replace("{label}", _isolated(row.label_name or ""))


def of_undo(row: BulkRow) -> str:
    """About an undo that is finished, or that a job finishes."""
    if row.state is BulkState.UNDOING:
        return "The change is being undone."
    if row.action in WHOLE_LABEL_ACTIONS:
        name = _isolated(row.label_name or "")
        return f"Undone: {_posts(row.restored)} got the label “{name}” back."
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
