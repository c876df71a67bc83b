"""Reads the form of a selection: the posts that are picked, or the list that all of them match."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.model.accounts import Account
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
        return {"filters": {"q": sent["q"]} if sent.get("q") else {}}
    if parts.path != LIBRARY:
        raise Refusal(Code.INVALID_REQUEST, "The form names no list.")
    filters = {name: sent[name] for name in readers(ChangeFilters) if sent.get(name)}
    plans.check_fields(account, gates_for(ChangeFilters, filters))
    # Of a list, everything that it shows.
    return {"filters": {**filters, "text_only": False}}
