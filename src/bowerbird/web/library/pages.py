"""The pages of a library that its account and the demo share."""

from collections.abc import Mapping
from typing import Any

from bowerbird.assembly import Services
from bowerbird.web.bulk.pages import BulkPages
from bowerbird.web.library.filter_panels import FilterPanels
from bowerbird.web.library.lists import ListPages
from bowerbird.web.library.reading import ReadingPage
from bowerbird.web.library.sidebar import Sidebar
from bowerbird.web.library.suggesting import SuggestingPages
from bowerbird.web.media.pages import ShownImages
from bowerbird.web.views.pages import ViewPages
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit


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
