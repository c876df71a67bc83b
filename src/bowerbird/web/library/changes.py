"""What the forms of a post do: read, archive, trash and labels. Each change offers its undo."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.labels.labels import Op
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.model.labels import name_key
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import UpdateRequest
from bowerbird.requests.labels import LabelRequest
from bowerbird.web.library.addresses import LIBRARY, of_post, returning, saying, sender
from bowerbird.web.library.suggesting import in_words, name_problem
from bowerbird.web.visits.pages import MESSAGES, VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
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
            return self._unchanged(visit, refused, path, name)
        if op == "add" and not changed:
            said = "label-there"
        place = "labels" if is_alone else _place(path, said, post_id, "")
        there = saying(path, said=said, post=f"{post_id} {name}")
        return self._pages.go(f"{there}#{place}")

    async def _label(self, account: Account, op: Op, request: LabelRequest) -> int:
        """Returns how many posts it changed."""
        changed = await self._write(account, self._labels.change, op, request)
        return changed.changed if isinstance(changed, BulkRow) else changed.affected

    def _unchanged(self, visit: Visit, refused: Refusal, path: str, label: str = "") -> Reply:
        heading, sentence = "Nothing was changed", in_words(refused, label)
        return self._pages.problem(visit, refused.status, heading, sentence, (path, "Back"))

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
            return self._unchanged(visit, refused, path)
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
