"""The start page: signed-in people go to their own pages, strangers see what this is."""

from bowerbird.web.site import ShowPublished
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply


def routes(pages: VisitPages, show_published: ShowPublished) -> list[PageRoute]:
    async def start(visit: Visit) -> Reply:
        if visit.visitor is None:
            return await show_published(visit.request)
        return pages.go("/library")

    return [PageRoute("GET", "/", start, Access.ANYONE)]
