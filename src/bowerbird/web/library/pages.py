"""The pages of a library that its account and the demo share, and /trash, which the demo lacks."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.trash import TrashedPost
from bowerbird.requests.bookmarks import TrashQuery
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import TRASH, Sidebar
from bowerbird.web.library.changes import BulkPages, picked
from bowerbird.web.library.filter_chips import FilterPanels
from bowerbird.web.library.lists import ListPages
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.reading import ReadingPage
from bowerbird.web.library.suggesting import SuggestingPages
from bowerbird.web.media import ShownImages
from bowerbird.web.views.pages import ViewPages
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply


class LibraryPages:
    def __init__(self, services: Services, pages: VisitPages, *, has_images: bool) -> None:
        views, labels = services.views, services.labels
        self._sessions = services.sessions
        self.trash = services.trash_list
        self.sidebar = Sidebar(labels, views, self.trash)
        self.many = BulkPages(services.bulk, pages)
        images = ShownImages(services.kept_images, is_offered=has_images)
        self.lists = ListPages(services, self.sidebar, pages, bulk=self.many, images=images)
        self._reading = ReadingPage(
            services, self.lists, pages, many=self.many, images=images, counted=self._counted
        )
        self._views = ViewPages(services, self.many, pages)
        self._panels = FilterPanels(services, self.sidebar, pages)
        self._suggesting = SuggestingPages(services, pages)

    def routes(self) -> list[PageRoute]:
        parts = (self.lists, self._reading, self._views, self._panels, self._suggesting)
        return [route for part in parts for route in part.routes()]

    async def _counted(self, visit: Visit) -> Mapping[str, Any]:
        """The sidebar as it is after a change. A visitor of the demo has no session."""
        visitor = await self._sessions.visitor(visit.secret)
        return await self.sidebar.values(visitor or visit.signed_in)


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
        account = visit.account
        query, cursor = visit.asked("q").strip(), visit.query.get("cursor") or None
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
                "posts": [_row(one, parts, visit.times) for one in page.posts],
                "total": page.total_count,
                "older": "" if page.next_cursor is None else _next(here, page.next_cursor),
                **await self._bulk.values(visit),
            },
        )

    async def delete(self, visit: Visit) -> Reply:
        """Asks first. The form of the question has the same posts."""
        account = visit.account
        one = visit.sent("delete")
        is_all, ids = not one and "all" in visit.form, [one] if one else picked(visit.form)
        if not is_all and not ids:
            raise Refusal(Code.INVALID_REQUEST, "No post is selected.")
        if "sure" not in visit.form:
            count = (await self._trash.page(account)).total_count if is_all else len(ids)
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
