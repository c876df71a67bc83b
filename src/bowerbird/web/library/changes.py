"""What the forms of posts do: read, archive, trash and labels. Each change offers its undo.

/library/many: changes of many posts, with their progress. The form of a selection names the posts
that are picked, or the list that all of them match.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk import summaries
from bowerbird.library.bulk.requests import BulkRequests
from bowerbird.library.labels.labels import Op
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.model.labels import name_key
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import UpdateRequest
from bowerbird.requests.bulk import BulkRequest, ChangeFilters
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import readers
from bowerbird.requests.labels import LabelRequest
from bowerbird.web.library.addresses import (
    LIBRARY,
    TRASH,
    of_post,
    returning,
    saying,
    sender,
    view_of,
)
from bowerbird.web.library.suggesting import in_words, name_problem
from bowerbird.web.visits.pages import MESSAGES, VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit, is_own_path
from bowerbird.wire.responses.replies import Reply

CHANGE: Final = "/library/change"
LABEL: Final = "/library/label"
_FLAGS: Final = {
    "read": UpdateRequest(is_read=True),
    "unread": UpdateRequest(is_read=False),
    "archive": UpdateRequest(is_archived=True),
    "unarchive": UpdateRequest(is_archived=False),
}
_TRASH, _RESTORE = "trash", "restore"
# The value of these two is the post and the label.
_ADD, _REMOVE = "label", "unlabel"
_ACTIONS: Final = (*_FLAGS, _TRASH, _RESTORE, _ADD, _REMOVE)
_SAID: Final = {
    "read": "post-read",
    "unread": "post-unread",
    "archive": "post-archived",
    "unarchive": "post-unarchived",
    _TRASH: "post-deleted",
    _RESTORE: "post-restored",
}
# Message -> the action that undoes its change.
UNDO: Final = {
    "post-read": "unread",
    "post-unread": "read",
    "post-archived": "unarchive",
    "post-unarchived": "archive",
    "post-deleted": _RESTORE,
    "link-saved": _TRASH,
    "label-added": _REMOVE,
    "label-removed": _ADD,
    "starred": _REMOVE,
    "unstarred": _ADD,
}
# A label that is removed from a post is not suggested for it again, also if it was not there.
_LABEL_ACTIONS: Final[dict[str, Op]] = {"add": "add", "remove": "remove", "refuse": "remove"}


class ChangePages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._write = services.write
        self._flags, self._trash, self._labels = services.flags, services.trash, services.labels
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("POST", CHANGE, self.change, page=LIBRARY),
            PageRoute("POST", LABEL, self.label, page=LIBRARY),
        ]

    async def change(self, visit: Visit) -> Reply:
        """The name of the button is the action. Its value is the post, and the next one if any."""
        action, value = visit.button(_ACTIONS)
        post_id, _, next_id = value.partition(" ")
        account = visit.account
        if action in (_ADD, _REMOVE):
            op: Op = "add" if action == _ADD else "remove"
            said = _said_of_label(visit, op, next_id)
            return await self._relabel(visit, op, post_id, next_id, said)
        change = partial(self._change, account, action, post_id)
        return await self._after(visit, change, _SAID[action], post_id, next_id=next_id)

    async def _change(self, account: Account, action: str, post_id: str) -> None:
        if action == _TRASH:
            await self._write(account, self._trash.delete, post_id)
        elif action == _RESTORE:
            await self._write(account, self._trash.restore, post_id)
        else:
            await self._write(account, self._flags.update_one, post_id, _FLAGS[action])

    async def label(self, visit: Visit) -> Reply:
        action, name = visit.button(_LABEL_ACTIONS)
        op = _LABEL_ACTIONS[action]
        said = "label-refused" if action == "refuse" else _said_of_label(visit, op, name)
        return await self._relabel(visit, op, visit.sent("post"), name, said)

    async def _relabel(self, visit: Visit, op: Op, post_id: str, name: str, said: str) -> Reply:
        """Adds a label to a post, or removes it. The undo needs the post and the label."""
        path = sender(visit.sent("back"))
        is_alone = urlsplit(path).path == of_post(post_id)
        sent = msgspec.json.encode({"tweet_ids": [post_id], "label_name": name})
        if visit.is_of_script:
            request = decoding.decode(sent, LabelRequest)
            await self._label(visit.account, op, request)
            return self._pages.json({"said": MESSAGES[said], "undo": UNDO.get(said, "")})
        try:
            request = decoding.decode(sent, LabelRequest)
            changed = await self._label(visit.account, op, request)
        except Refusal as refused:
            is_typed = is_alone and name and name_problem(name)
            if is_typed and visit.keep_unsent(of_post(post_id)):
                return self._pages.go(f"{path}#labels")
            return _unchanged(self._pages, visit, refused, name)
        if op == "add" and not changed:
            said = "label-there"
        place = "labels" if is_alone else _place(path, said, post_id, "")
        there = saying(path, said=said, post=f"{post_id} {name}")
        return self._pages.go(f"{there}#{place}")

    async def _label(self, account: Account, op: Op, request: LabelRequest) -> int:
        """Returns how many posts it changed."""
        changed = await self._write(account, self._labels.change, op, request)
        return changed.changed if isinstance(changed, BulkRow) else changed.affected

    async def _after(
        self,
        visit: Visit,
        change: Callable[[], Awaitable[None]],
        said: str,
        post_id: str,
        *,
        next_id: str = "",
    ) -> Reply:
        """Makes a change, and returns to the place in the page that sent the form.

        A script shows the change itself; the router answers its refusals.
        """
        if visit.is_of_script:
            await change()
            return self._pages.json({"said": MESSAGES[said], "undo": UNDO.get(said, "")})
        path = sender(visit.sent("back"))
        try:
            await change()
        except Refusal as refused:
            return _unchanged(self._pages, visit, refused)
        # A deleted post has no page to return to.
        if said == "post-deleted" and urlsplit(path).path == of_post(post_id):
            path = returning(dict(parse_qsl(urlsplit(path).query)).get("from", "")) or LIBRARY
        place = _place(path, said, post_id, next_id)
        return self._pages.go(f"{saying(path, said=said, post=post_id)}#{place}")


def _said_of_label(visit: Visit, op: Op, name: str) -> str:
    if name_key(name) == name_key(visit.signed_in.star):
        return "starred" if op == "add" else "unstarred"
    return "label-added" if op == "add" else "label-removed"


def _place(path: str, said: str, post_id: str, next_id: str) -> str:
    """The post itself, or the next one if the change takes it out of the list."""
    parts = urlsplit(path)
    query = dict(parse_qsl(parts.query))
    leaves = {
        "post-read": query.get("is_unread_only") != "false",
        "post-archived": query.get("hide_archived") != "false",
        "post-deleted": True,
    }.get(said, False)
    post = next_id if leaves and next_id else post_id
    return f"p-{post}" if post.isascii() and post.isdigit() else "content"


MANY_ACTIONS: Final = (
    *("read", "unread", "archive", "unarchive", "trash", "restore"),
    *("add_label", "remove_label"),
)
# A checkbox has the post in its name, because a form has no name twice.
PICKED: Final = "p-"
# The value of any other checkbox.
_CHECKED: Final = "on"


def action_of(form: Mapping[str, str]) -> str:
    """The name of the button. Enter in the field for a label adds it."""
    action = next((name for name in MANY_ACTIONS if name in form), "")
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
    return decoding.convert(body, BulkRequest)


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


MANY: Final = "/library/many"
MANY_UNDO: Final = f"{MANY}/undo"
_ONE: Final = f"{MANY}/{{change_id}}"
# Most changes are finished by then, and need no page that shows their progress.
_WAIT_S: Final = 1.5
_LOOK_EVERY_S: Final = 0.05
_TOP: Final = "content"


class BulkPages:
    def __init__(self, bulk: BulkRequests, pages: VisitPages, wait_s: float = _WAIT_S) -> None:
        self._bulk = bulk
        self.changes = bulk.changes
        self._pages = pages
        self._wait_s = wait_s

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("POST", MANY, self.change, page=LIBRARY),
            PageRoute("POST", MANY_UNDO, self.undo, page=LIBRARY, back=_back),
            PageRoute("GET", _ONE, self.progress, page=LIBRARY),
            PageRoute("GET", f"{_ONE}/state", self.state, page=LIBRARY),
        ]

    async def change(self, visit: Visit) -> Reply:
        account = visit.account
        try:
            row = await self._bulk.run(account, request_of(account, visit.form))
        except Refusal as refused:
            return _unchanged(self._pages, visit, refused, visit.sent("label"))
        if visit.is_of_script:
            return self._pages.json({"said": summaries.sentence(row)})
        # The button of a thread has its posts; their row is named after the first.
        first = visit.form.get(action_of(visit.form), "").partition(" ")[0]
        place = f"p-{first}" if first.isascii() and first.isdigit() else _TOP
        return await self.after(visit, row, place=place)

    async def undo(self, visit: Visit) -> Reply:
        """Undoes a change of many posts or of a label. A script shows the result itself."""
        row = await self.changes.run_undo(visit.account, visit.sent("change"))
        if visit.is_of_script:
            return self._pages.json({"said": summaries.of_undo(row)})
        return await self.after(visit, row)

    async def progress(self, visit: Visit) -> Reply:
        """Follows a large change, and returns to the list when it is finished."""
        account, back = visit.account, sender(visit.asked("back"))
        row = await self.changes.get(account, visit.named("change_id"))
        if row.is_finished:
            return self._pages.go(_told(back, row))
        return self._pages.show(
            visit,
            "library_many.html",
            title=summaries.heading(row),
            job=_progress(row),
            mark=row.state.value,
            back=back,
            problem=await self.changes.problem(account, row) or "",
            can_stop=row.state.value == "working",
        )

    async def state(self, visit: Visit) -> Reply:
        """The progress for a script, which opens the page again when `mark` changes."""
        account = visit.account
        row = await self.changes.get(account, visit.named("change_id"))
        return self._pages.json({"mark": row.state.value, "jobs": [_progress(row)]})

    async def values(self, visit: Visit) -> dict[str, Any]:
        """The message about a change on the page that it returns to."""
        change_id = visit.query.get("change")
        if change_id is None:
            return {}
        try:
            row = await self.changes.get(visit.account, change_id)
        except Refusal as refused:
            # It happened more than an hour ago.
            if refused.code is Code.NOT_FOUND:
                return {}
            raise
        if not row.is_finished:
            return {}
        undo = row.change_id if summaries.can_be_undone(row) else ""
        said = {} if visit.query.get("said") else {"message": summaries.sentence(row)}
        return {**said, "undo_change": undo}

    async def after(
        self, visit: Visit, row: BulkRow, page: str = LIBRARY, *, place: str = _TOP
    ) -> Reply:
        """Returns to the page that sent the form, which says what was changed."""
        back = sender(visit.sent("back"), page)
        row = await self._settled(visit.account, row)
        if row.is_finished:
            return self._pages.go(_told(back, row, place))
        return self._pages.go(f"{MANY}/{row.change_id}?{urlencode({'back': back})}")

    async def _settled(self, account: Account, row: BulkRow) -> BulkRow:
        """The change when its job has finished it, or after a moment."""
        end = asyncio.get_running_loop().time() + self._wait_s
        while not row.is_finished and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(_LOOK_EVERY_S)
            row = await self.changes.get(account, row.change_id)
        return row


def _unchanged(pages: VisitPages, visit: Visit, refused: Refusal, label: str = "") -> Reply:
    heading, sentence = "Nothing was changed", in_words(refused, label)
    return pages.problem(visit, refused.status, heading, sentence, _back(visit))


def _back(visit: Visit) -> tuple[str, str]:
    return sender(visit.sent("back")), "Back"


def _progress(row: BulkRow) -> dict[str, Any]:
    done, total, text = summaries.progress(row)
    return {"id": row.change_id, "done": done, "total": total, "text": text}


def _told(path: str, row: BulkRow, place: str = _TOP) -> str:
    """The page with a message about the change."""
    return f"{saying(path, change=row.change_id)}#{place}"
