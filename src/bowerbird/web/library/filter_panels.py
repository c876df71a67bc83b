"""/library/panels/{kind}: the panel of a filter with counts, or with names like a typed one."""

from collections.abc import Sequence
from typing import Final

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.statistics import Facet
from bowerbird.model import languages
from bowerbird.model.posts import networks
from bowerbird.model.posts.networks import NETWORKS
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import CountQuery, FacetsQuery, ListQuery
from bowerbird.requests.limits import SUGGESTED_FOR_MAX, SUGGESTED_MAX
from bowerbird.web.library import filter_chips, post_parts
from bowerbird.web.library.addresses import LIBRARY, address_of
from bowerbird.web.library.filter_chips import (
    AUTHOR,
    COUNTED,
    LABEL,
    LANGUAGE,
    NETWORK,
    TYPE,
    FilterChips,
    Option,
)
from bowerbird.web.library.sidebar import Sidebar
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PANELS: Final = f"{LIBRARY}/panels"


class FilterPanels:
    def __init__(self, services: Services, sidebar: Sidebar, pages: VisitPages) -> None:
        self._facets = services.facets
        self._authors = services.authors
        self._labels = services.labels.listed
        self._sidebar = sidebar
        self._pages = pages
        self._clock = services.clock

    def routes(self) -> list[PageRoute]:
        return [PageRoute("GET", f"{PANELS}/{{kind}}", self.panel, page=LIBRARY, is_page=False)]

    async def panel(self, visit: Visit) -> Reply:
        kind = visit.named("kind").capitalize()
        if kind not in COUNTED:
            raise Refusal(Code.NOT_FOUND, "No such panel.")
        query = decoding.from_query(visit.request.scope["query_string"], ListQuery)
        address, times = address_of(LIBRARY, visit.query), visit.times
        today = times.local(self._clock()).date()
        chips = FilterChips(visit.account, query, address, times=times, today=today)
        typed = visit.asked("text").strip()
        find = self._named if typed else self._counted
        options = await find(visit, chips, kind, typed[:SUGGESTED_FOR_MAX], query)
        panel = chips.panel(kind, options)
        return self._pages.show(visit, "library_panel.html", panel=panel, typed=typed)

    async def _named(
        self, visit: Visit, chips: FilterChips, kind: str, text: str, _: ListQuery
    ) -> Sequence[Option]:
        """Without counts: those would be of all posts, not of this list."""
        account = visit.account
        if kind == AUTHOR:
            authors = await self._authors.matching(account, text, SUGGESTED_MAX)
            return [
                chips.option(kind, f"@{each.handle}", each.name or f"@{each.handle}")
                for each in authors
            ]
        if kind == LABEL:
            labels = await self._labels.matching(account, text, SUGGESTED_MAX)
            return [self._label(chips, each.label_name, each.color) for each in labels]
        if kind == LANGUAGE:
            codes = languages.named_like(text)[:SUGGESTED_MAX]
            return [chips.option(kind, code, languages.name_of(code)) for code in codes]
        if kind == NETWORK:
            found = [each for each in NETWORKS if each.startswith(text.lower())]
            return [chips.option(kind, each, networks.name_of(each)) for each in found]
        return []

    async def _counted(
        self, visit: Visit, chips: FilterChips, kind: str, _: str, query: ListQuery
    ) -> Sequence[Option]:
        """The values that most posts of the list have, whatever this filter is now."""
        account = visit.account
        values = {each: getattr(query, each) for each in CountQuery.__struct_fields__}
        values[filter_chips.PARAMETERS[kind]] = None
        asked = FacetsQuery(by=COUNTED[kind], limit=SUGGESTED_MAX, **values)
        found = (await self._facets.of(account, asked)).facets
        if kind == TYPE:
            return [chips.option(kind, each.value, _type(each), each.count) for each in found]
        if kind == AUTHOR:
            return [
                chips.option(kind, f"@{each.value}", each.name or f"@{each.value}", each.count)
                for each in found
                if each.value
            ]
        if kind == LANGUAGE:
            return [chips.option(kind, e.value, languages.name_of(e.value), e.count) for e in found]
        if kind == NETWORK:
            return [chips.option(kind, e.value, e.name or e.value, e.count) for e in found]
        colours = await self._sidebar.colours(account)
        return [self._label(chips, e.value, colours.get(e.value), e.count) for e in found]

    def _label(
        self, chips: FilterChips, name: str, colour: str | None, count: int | None = None
    ) -> Option:
        return chips.option(LABEL, name, name, count, post_parts.label(name, colour)["colour"])


def _type(facet: Facet) -> str:
    return filter_chips.TYPES[facet.value]
