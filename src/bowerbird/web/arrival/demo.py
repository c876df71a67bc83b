"""The forms that fill in the demo library and remove it."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.demo.demo import Demo
from bowerbird.web.library.addresses import LIBRARY
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

FILL: Final = "/library/demo"
REMOVE: Final = "/library/demo/remove"


def routes(demo: Demo, pages: VisitPages) -> list[PageRoute]:
    async def fill(visit: Visit) -> Reply:
        try:
            await demo.fill(visit.signed_in.account)
        except Refusal as refused:
            return pages.problem(
                visit,
                refused.status,
                "Nothing was changed",
                refused.sentence,
                (LIBRARY, "To the library"),
            )
        return pages.go(f"{LIBRARY}?said=demo-filled")

    async def remove(visit: Visit) -> Reply:
        await demo.remove(visit.signed_in.account)
        return pages.go(f"{LIBRARY}?said=demo-removed")

    return [
        PageRoute("POST", FILL, fill, page=LIBRARY),
        PageRoute("POST", REMOVE, remove, page=LIBRARY),
    ]
