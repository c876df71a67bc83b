"""What the forms of a post do: read, archive, trash and labels. Each change offers its undo."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.labels.operations import Op
from bowerbird.library.labels.post_changes import PostChanges
from bowerbird.model.accounts import Account
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import FlagsRequest
from bowerbird.requests.labels import LabelRequest
from bowerbird.web.library.addresses import LIBRARY, of_post
from bowerbird.web.visits.messages import MESSAGES
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit, is_own_path
from bowerbird.wire.responses.replies import Reply

CHANGE: Final = "/library/change"
LABEL: Final = "/library/label"
_FLAGS: Final = {
    "read": FlagsRequest(is_read=True),
    "unread": FlagsRequest(is_read=False),
    "archive": FlagsRequest(is_archived=True),
    "unarchive": FlagsRequest(is_archived=False),
}
_TRASH, _RESTORE = "trash", "restore"
_ACTIONS: Final = (*_FLAGS, _TRASH, _RESTORE)
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
}
_LABEL_ACTIONS: Final[tuple[Op, ...]] = ("add", "remove")


class ChangePages:
    def __init__(self, changes: PostChanges, pages: VisitPages) -> None:
        self._changes = changes
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("POST", CHANGE, self.change, page=LIBRARY),
            PageRoute("POST", LABEL, self.label, page=LIBRARY),
        ]

    async def change(self, visit: Visit) -> Reply:
        """The name of the button is the action. Its value is the post, and the next one if any."""
        action = next((name for name in _ACTIONS if name in visit.form), "")
        post_id, _, next_id = visit.form.get(action, "").partition(" ")
        account = visit.signed_in.account
        change: Callable[[], Awaitable[None]]
        if action in _FLAGS:
            change = lambda: self._changes.mark(account, post_id, _FLAGS[action])  # noqa: E731
        elif action == _TRASH:
            change = lambda: self._changes.delete(account, post_id)  # noqa: E731
        elif action == _RESTORE:
            change = lambda: self._changes.restore(account, post_id)  # noqa: E731
        else:
            raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
        return await self._after(visit, change, _SAID[action], post_id, next_id=next_id)

    async def label(self, visit: Visit) -> Reply:
        op = next((each for each in _LABEL_ACTIONS if each in visit.form), None)
        if op is None:
            raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
        post_id, account = visit.form.get("post", ""), visit.signed_in.account
        sent = {"tweet_ids": [post_id], "label_name": visit.form[op]}
        said = "label-added" if op == "add" else "label-removed"
        return await self._after(
            visit, lambda: self._label(account, op, sent), said, post_id, fragment="labels"
        )

    async def _label(self, account: Account, op: Op, sent: Mapping[str, object]) -> None:
        await self._changes.label(
            account, op, decoding.decode(msgspec.json.encode(sent), LabelRequest)
        )

    async def _after(
        self,
        visit: Visit,
        change: Callable[[], Awaitable[None]],
        said: str,
        post_id: str,
        *,
        next_id: str = "",
        fragment: str = "",
    ) -> Reply:
        """Makes a change, and returns to the place in the page that sent the form.

        A script shows the change itself; the router answers its refusals.
        """
        if visit.is_of_script:
            await change()
            return self._pages.json({"said": MESSAGES[said], "undo": UNDO.get(said, "")})
        back = visit.form.get("back", "")
        path = back if is_own_path(back) and _is_ours(back) else LIBRARY
        try:
            await change()
        except Refusal as refused:
            heading = "Nothing was changed"
            return self._pages.problem(
                visit, refused.status, heading, refused.sentence, (path, "Back")
            )
        # A deleted post has no page to return to.
        if said == "post-deleted" and urlsplit(path).path == of_post(post_id):
            path = LIBRARY
        place = fragment or _place(path, said, post_id, next_id)
        return self._pages.go(f"{_saying(path, said, post_id)}#{place}")


def _is_ours(path: str) -> bool:
    return urlsplit(path).path.startswith((LIBRARY, "/p/", "/views/"))


def _saying(path: str, said: str, post_id: str) -> str:
    """The page with a message about the change."""
    parts = urlsplit(path)
    kept = [(n, v) for n, v in parse_qsl(parts.query) if n not in ("said", "post")]
    return f"{parts.path}?{urlencode([*kept, ('said', said), ('post', post_id)])}"


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
