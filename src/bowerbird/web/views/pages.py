"""/views: all Smart Views in their order, and what the buttons on them do."""

from typing import Any, Final
from urllib.parse import quote, urlencode

from bowerbird.assembly import Services
from bowerbird.library.views.views import ChangedView, ViewResponse
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow
from bowerbird.model.labels import Query
from bowerbird.requests.limits import VIEWS_MAX
from bowerbird.requests.views import ViewChange
from bowerbird.web.library.addresses import of_view
from bowerbird.web.library.bulk import BulkPages
from bowerbird.web.library.sidebar import shown_count
from bowerbird.web.views.drafts import LABELS, text_of
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/views"
# The name of the button -> the message about it.
_SAID: Final = {
    "up": "view-moved",
    "down": "view-moved",
    "pin": "view-pinned",
    "unpin": "view-unpinned",
    "delete": "view-deleted",
}
_FLAG_WORDS: Final = {
    ("is_unread_only", "true"): "unread only",
    ("hide_archived", "false"): "with archived posts",
    ("is_archived_only", "true"): "archived only",
    ("unlabelled", "true"): "without labels",
    ("unlabelled", "false"): "with labels",
    ("has_note", "true"): "with a note",
    ("has_note", "false"): "without a note",
    ("is_gone", "true"): "gone",
    ("is_gone", "false"): "not gone",
    ("is_reply", "true"): "replies",
    ("is_reply", "false"): "without replies",
    ("is_thread", "true"): "threads",
    ("is_thread", "false"): "without threads",
    ("is_duplicate", "true"): "duplicates",
    ("is_duplicate", "false"): "without duplicates",
}
_FLAGS: Final = frozenset(name for name, _ in _FLAG_WORDS)


class ViewPages:
    def __init__(self, services: Services, many: BulkPages, pages: VisitPages) -> None:
        self._views = services.views
        self._recent = services.bulk.recent
        self._many = many
        self._write = services.write
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.shown),
            PageRoute("POST", PATH, self.change, page=PATH, back=(PATH, "Back")),
        ]

    async def shown(self, visit: Visit) -> Reply:
        account = visit.account
        views = await self._views.responses(account, await self._views.all(account))
        deleted = await self._recent.of_action(account, BulkAction.DELETE_VIEW)
        return self._pages.show(
            visit,
            "views.html",
            title="Smart Views",
            here=PATH,
            back=PATH,
            views=[_row(view) for view in views],
            deleted=[_deleted(each, visit.times) for each in deleted],
            moved=(visit.asked("view"), visit.asked("by")),
            **await self._many.values(visit),
        )

    async def change(self, visit: Visit) -> Reply:
        """The name of the button is the action, and its value the view."""
        action, slug = visit.button(_SAID)
        view, row = await self._change(visit.account, action, slug)
        values = {"said": _SAID[action], "view": view.slug}
        if row is not None:
            values["change"] = row.change_id
        if action in ("up", "down"):
            values["by"] = action
        return self._pages.go(f"{PATH}?{urlencode(values)}")

    async def _change(self, account: Account, action: str, slug: str) -> ChangedView:
        views, write = self._views, self._write
        if action == "delete":
            return await write(account, views.delete, slug)
        if action in ("pin", "unpin"):
            change = ViewChange(is_pinned=action == "pin")
        else:
            place = (await views.find(account, slug)).position + (-1 if action == "up" else 1)
            change = ViewChange(position=min(max(place, 1), VIEWS_MAX))
        return await write(account, views.update, slug, change)


def _row(view: ViewResponse) -> dict[str, Any]:
    return {
        "slug": view.slug,
        "name": view.name,
        "description": view.description,
        "url": of_view(view.slug),
        "edit_url": f"{PATH}/{quote(view.slug, safe='')}/edit",
        "count": shown_count(view),
        "filters": words(view.base_query),
        "buckets": [bucket.name for bucket in view.triage_buckets],
        "is_pinned": view.is_pinned,
    }


def _deleted(row: BulkRow, times: Times) -> dict[str, Any]:
    return {"change": row.change_id, "name": row.name, "at": times.moment(row.created_at)}


def words(query: Query) -> list[tuple[str, str]]:
    """The filters of a view as pairs of a name and a value."""
    texts = {name: text_of(value) for name, value in query.items()}
    found = [(LABELS[name].lower(), text) for name, text in texts.items() if name not in _FLAGS]
    return [*found, *((_FLAG_WORDS[flag], "") for flag in texts.items() if flag in _FLAG_WORDS)]
