"""What scripts of the library ask for: suggestions while somebody types, and places to go to."""

from typing import Any, Final

from bowerbird.assembly import Services
from bowerbird.requests.limits import SUGGESTED_FOR_MAX, SUGGESTED_MAX
from bowerbird.web import navigation
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY, of_view
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

SUGGEST: Final = f"{LIBRARY}/suggest"
PLACES: Final = f"{LIBRARY}/places"
HELP: Final = "/help/keys"
_MARKS: Final = ("#", "@")


class SuggestingPages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._labels = services.labels
        self._views = services.views
        self._authors = services.authors
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", SUGGEST, self.suggest, is_json=True, page=LIBRARY),
            PageRoute("GET", PLACES, self.places, is_json=True, page=LIBRARY),
            PageRoute("GET", HELP, self.help),
        ]

    async def suggest(self, visit: Visit) -> Reply:
        """Labels and authors for a word. `#` asks for labels only, and `@` for authors only."""
        account, text = visit.signed_in.account, visit.query.get("text", "").strip()
        name = text[1:] if text.startswith(_MARKS) else text
        if not name or len(text) > SUGGESTED_FOR_MAX:
            return self._pages.json({"labels": [], "authors": []})
        labels, authors = [], []
        # The filter by label needs a paid plan.
        if not text.startswith("@") and not account.is_free:
            labels = await self._labels.listed.matching(account, name, SUGGESTED_MAX)
        if not text.startswith("#"):
            authors = await self._authors.matching(account, text, SUGGESTED_MAX)
        return self._pages.json(
            {
                "filters": not account.is_free,
                "labels": [_label(each.label_name, each.count, each.color) for each in labels],
                "authors": [{"handle": each.handle, "name": each.name} for each in authors],
            }
        )

    async def places(self, visit: Visit) -> Reply:
        """Settings, Smart Views and labels for the palette. It has the links of the sidebar."""
        account = visit.signed_in.account
        views = await self._views.all(account)
        uses, _ = await self._labels.listed.uses(account)
        colors = await self._labels.listed.colors(account)
        tabs = navigation.settings(is_owner=visit.signed_in.is_owner)
        return self._pages.json(
            {
                "pages": [
                    {"name": place.name, "url": place.path} for place in (*tabs, navigation.DOCS)
                ],
                "views": [{"name": view.name, "url": of_view(view.slug)} for view in views],
                "labels": [
                    _label(use.label_name, use.count, colors.get(use.label_name)) for use in uses
                ],
            }
        )

    async def help(self, visit: Visit) -> Reply:
        return self._pages.show(visit, "help_keys.html", title="Keyboard", here=HELP)


def _label(name: str, count: int, color: str | None) -> dict[str, Any]:
    return {**post_parts.label(name, color), "count": count}
