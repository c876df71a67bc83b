"""/trash: what was deleted, restoring it, and deleting it for good."""

from typing import Any, Final
from urllib.parse import urlencode

from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.trash import TrashedPost
from bowerbird.requests.bookmarks import TrashQuery
from bowerbird.web.bulk.selection import TRASH, picked
from bowerbird.web.library import post_parts
from bowerbird.web.library.pages import LibraryPages
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

DELETE: Final = f"{TRASH}/delete"
PAGE: Final = 50


class TrashPages:
    def __init__(self, library: LibraryPages, pages: VisitPages) -> None:
        self._trash = library.trash
        self._bulk = library.many
        self._lists = library.lists
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", TRASH, self.shown),
            PageRoute("POST", DELETE, self.delete, page=TRASH),
        ]

    async def shown(self, visit: Visit) -> Reply:
        account = visit.signed_in.account
        query, cursor = visit.query.get("q", "").strip(), visit.query.get("cursor") or None
        asked = TrashQuery(q=query or None, cursor=cursor, limit=PAGE)
        page = await self._trash.page(account, asked)
        here = f"{TRASH}?{urlencode({'q': query})}" if query else TRASH
        parts = await self._lists.parts(visit)
        return self._pages.show(
            visit,
            "trash.html",
            **{
                "here": TRASH,
                "back": here,
                "query": query,
                "undo": None,
                "undo_post": "",
                "posts": [_row(one, parts, visit.times) for one in page.posts],
                "total": page.total,
                "older": "" if page.next_cursor is None else _next(here, page.next_cursor),
                **await self._bulk.values(visit),
            },
        )

    async def delete(self, visit: Visit) -> Reply:
        """Asks first. The form of the question has the same posts."""
        account = visit.signed_in.account
        one = visit.form.get("delete", "")
        is_all, ids = not one and "all" in visit.form, [one] if one else picked(visit.form)
        if not is_all and not ids:
            raise Refusal(Code.INVALID_REQUEST, "No post is selected.")
        if "sure" not in visit.form:
            count = (await self._trash.page(account)).total if is_all else len(ids)
            return self._pages.show(
                visit,
                "trash_delete.html",
                here=TRASH,
                count=count,
                post_ids=" ".join(ids),
                is_all=is_all,
            )
        if is_all:
            await self._trash.empty(account)
        else:
            await self._trash.delete(account, ids)
        return self._pages.go(f"{TRASH}?said=trash-deleted")


def _next(here: str, cursor: str) -> str:
    return f"{here}{'&' if '?' in here else '?'}cursor={cursor}"


def _row(one: TrashedPost, parts: PostParts, times: Times) -> dict[str, Any]:
    (bookmark,) = post_parts.bookmarks_in(one.bookmark)
    return {
        **parts.in_line(bookmark, "bookmarked_at"),
        "id": one.post_id,
        "deleted": times.day(one.trashed_at),
        "kept_until": times.day(one.kept_until),
    }
