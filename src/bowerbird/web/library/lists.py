"""/library and /views: lists of posts. The rules of lists are those of the API."""

from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.list_request import BookmarkList
from bowerbird.model.accounts import Account
from bowerbird.model.labels import View
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filters import DATES, MEANING
from bowerbird.requests.limits import PAGE_MAX
from bowerbird.requests.views import ViewBookmarksQuery
from bowerbird.search.queries import query_language
from bowerbird.web.library import filters
from bowerbird.web.library.addresses import (
    COMPACT,
    DENSITY,
    GRID,
    LIBRARY,
    NAMES,
    TRASH,
    Address,
    Sidebar,
    address_of,
    everything,
    of_view,
    returning,
    sharing,
    shown_count,
    view_of,
)
from bowerbird.web.library.changes import UNDO, BulkPages
from bowerbird.web.library.filter_chips import PANELS, FilterChips
from bowerbird.web.library.filters import hidden_list
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.rows import Look, Rows
from bowerbird.web.library.suggesting import NoHits
from bowerbird.web.library.texts import LinkedTexts
from bowerbird.web.media import ShownImages, shows_images
from bowerbird.web.visits.formats import Dates
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

VIEWS: Final = ("/views/{slug}", "/views/{slug}/posts")
# A search is sent as a text and a mode; a list has the parameters of the API.
_SEARCH, _MODE = "search", "by"
WORDS, BY_MEANING, BOTH = "words", "meaning", "both"
# The mode that was chosen last in a browser.
_COOKIE, _COOKIE_DAYS = "search", 365
# Of a browser that shows lists without the headings of days.
_DAYS_COOKIE, _OFF = "days", "off"
_PER_PAGE: Final = {"": 30, COMPACT: 40, GRID: 36}
# Density -> its icon and its name.
_DENSITIES: Final = {
    "": ("cards", "Comfortable"),
    COMPACT: ("rows", "Compact"),
    GRID: ("grid", "Grid"),
}
_MISTAKES: Final = 500
_MEANING_STATE: Final = f"{LIBRARY}/meaning"
_FAVOURITES: Final = f"{LIBRARY}/favourites"
_DAYS: Final = f"{LIBRARY}/days"


class Shown(Struct, frozen=True):
    """One list: what was asked, and the page that was found."""

    query: ListQuery
    address: Address
    found: BookmarkList
    view: View | None = None


class ListPages:
    def __init__(
        self,
        services: Services,
        sidebar: Sidebar,
        pages: VisitPages,
        *,
        bulk: BulkPages,
        images: ShownImages,
    ) -> None:
        self._no_hits = NoHits(services.bookmarks, services.labels, services.authors)
        self._images = images
        self._bookmarks = services.bookmarks
        self._views = services.views
        self._sidebar = sidebar
        self._pages = pages
        self._bulk = bulk
        self._clock = services.clock
        self._demo = services.demo
        self._base_path = urlsplit(services.settings.site_origin).path.rstrip("/")
        self._texts = LinkedTexts(self._base_path)
        self._rows = Rows(pages)

    def routes(self) -> list[PageRoute]:
        views = [PageRoute("GET", path, self.view) for path in VIEWS]
        meaning = PageRoute("GET", _MEANING_STATE, self.meaning, is_json=True)
        favourites = PageRoute("GET", _FAVOURITES, self.favourites)
        days = PageRoute("POST", _DAYS, self.days, page=LIBRARY)
        return [PageRoute("GET", LIBRARY, self.library), meaning, favourites, days, *views]

    async def parts(self, visit: Visit) -> PostParts:
        colours = await self._sidebar.colours(visit.account)
        dates = Dates(visit.times, self._clock())
        # Everybody can search for a handle; the filter needs a paid plan.
        by_author = "q" if visit.account.is_free else "author"
        parts = PostParts(
            self._texts, dates, self._base_path, by_author, colours, star=visit.signed_in.star
        )
        parts.images = {} if shows_images(visit) else None
        parts.awaits_images = self._images.is_offered
        return parts

    async def meaning(self, visit: Visit) -> Reply:
        """How many posts have no vector yet, for a script that follows the number."""
        account = visit.account
        store = (await self._bookmarks.vector_state(account)).store
        missing = store.missing(account.total) if store else None
        return self._pages.json(filters.meaning_state(missing))

    async def favourites(self, visit: Visit) -> Reply:
        """An address for every account, whatever its label is called."""
        return self._pages.go(everything(tag=visit.signed_in.reading.favourite))

    async def days(self, visit: Visit) -> Reply:
        is_off = visit.form.get(_DAYS_COOKIE) == _OFF
        chosen = visit.jar.write(_DAYS_COOKIE, _OFF, _COOKIE_DAYS) if is_off else None
        visit.cookies.append(chosen or visit.jar.remove(_DAYS_COOKIE))
        return self._pages.go(returning(visit.sent("back")) or LIBRARY)

    async def library(self, visit: Visit) -> Reply:
        account = visit.account
        address = address_of(LIBRARY, visit.query)
        if _SEARCH in visit.query or any(visit.query.get(name) == "" for name in NAMES):
            rest = filters.in_trash(visit.asked(_SEARCH))
            if rest is not None:
                return self._pages.go(f"{TRASH}?{urlencode({'q': rest})}" if rest else TRASH)
            return self._pages.go((await self._searched(visit, address)).url())
        try:
            query = decoding.from_query(visit.request.scope["query_string"], ListQuery)
        except Refusal as refused:
            return await self._refused(visit, ListQuery(), address, refused)
        bounds = {name: value for name in DATES if (value := getattr(query, name))}
        # They may have been sent by other names.
        address = Address(address.path, {**address.values, **bounds})
        # The list of a page is longer than one of the API, and always says what was found.
        limit = query.limit or _PER_PAGE[_density(visit)]
        asked = msgspec.structs.replace(query, limit=limit, highlight=bool(query.q))
        try:
            found = await self._bookmarks.list(account, asked, for_page=True)
        except Refusal as refused:
            return await self._refused(visit, query, address, refused)
        return await self._list(visit, Shown(query, address, found))

    async def view(self, visit: Visit) -> Reply:
        account = visit.account
        view = await self._views.find(account, visit.named("slug"))
        address = address_of(of_view(view.slug), visit.query)
        try:
            query = decoding.from_query(visit.request.scope["query_string"], ViewBookmarksQuery)
            limit = query.limit or _PER_PAGE[_density(visit)]
            asked = msgspec.structs.replace(query, limit=limit)
            found = await self._views.bookmarks(account, view, asked, for_page=True)
        except Refusal as refused:
            return await self._refused(visit, ListQuery(), address, refused, view)
        return await self._list(visit, Shown(ListQuery(), address, found, view))

    async def found_at(self, account: Account, path: str) -> bytes:
        """The bookmarks of a list at an address.

        None of a list by meaning: ranking takes longer than it is worth there.
        """
        parts = urlsplit(path)
        sent = parts.query.encode()
        if slug := view_of(parts.path):
            view = await self._views.find(account, slug)
            if MEANING in view.base_query:
                return b""
            within = decoding.from_query(sent, ViewBookmarksQuery)
            asked_of = msgspec.structs.replace(within, limit=PAGE_MAX)
            return (await self._views.bookmarks(account, view, asked_of)).body
        query = decoding.from_query(sent, ListQuery)
        if parts.path != LIBRARY or query.vector_search_term:
            return b""
        asked = msgspec.structs.replace(query, limit=PAGE_MAX)
        return (await self._bookmarks.list(account, asked)).body

    async def _searched(self, visit: Visit, address: Address) -> Address:
        """The list that the search form asks for."""
        text = visit.query.get(_SEARCH)
        if text is None:
            return address.changed()
        usual = await self._mode(visit, ListQuery())
        mode = visit.query.get(_MODE) or usual
        if mode != usual and mode in (WORDS, BY_MEANING, BOTH):
            visit.cookies.append(visit.jar.write(_COOKIE, mode, _COOKIE_DAYS))
        text, typed = filters.taken(text.strip())
        meant = query_language.plain_text(text) if mode == BOTH else text
        return address.changed(
            **typed,
            q=None if mode == BY_MEANING else text,
            vector_search_term=None if mode == WORDS else meant,
            # Both orders belong to the search that was shown before.
            sort_by=None,
            sort_order=None,
        )

    async def _mode(self, visit: Visit, query: ListQuery) -> str:
        """How the search box searches: as in this list, or as was chosen last.

        Without a choice, by both if the vectors are ready.
        """
        account = visit.account
        if query.q or query.vector_search_term:
            if not query.vector_search_term:
                return WORDS
            return BOTH if query.q else BY_MEANING
        chosen = visit.jar.read(visit.request.headers.get(b"cookie"), _COOKIE)
        if account.is_free or chosen == WORDS:
            return WORDS
        vectors = await self._bookmarks.vector_state(account)
        if vectors.store is None:
            return WORDS
        return BY_MEANING if chosen == BY_MEANING else BOTH

    async def _list(self, visit: Visit, shown: Shown) -> Reply:
        account, query = visit.account, shown.query
        if not shown.found.total_count and shown.view is None:
            return await self._empty(visit, shown)
        groups, count = await self._groups(visit, shown)
        cursor, newer = shown.found.next_cursor, shown.found.newer_cursor
        return await self._show(
            visit,
            query,
            shown.address,
            shown.view,
            groups=groups,
            can_group=bool(_date_field(shown)) and not _density(visit),
            by_day=_is_by_day(visit),
            heading=filters.count_line(query, shown.found, shown.view.name if shown.view else ""),
            is_best=filters.is_cut_off(query, shown.found),
            shown_count=count,
            total=shown.found.total_count,
            can_pick_all=not shown.found.is_wider,
            older="" if cursor is None else shown.address.continued(cursor).url(),
            newer="" if newer is None else shown.address.continued(newer).url(),
            is_cut=cursor is not None and account.is_free,
            pending=filters.without_vector(shown.found.vector_pending),
            **_forgiven(shown),
        )

    async def _groups(self, visit: Visit, shown: Shown) -> tuple[list[tuple[str, Any]], int]:
        """The rows by date, and the number of their posts."""
        query, parts = shown.query, await self.parts(visit)
        look = Look(
            account_id=visit.account_id,
            time_zone=visit.times.time_zone,
            words=visit.date_words,
            today=visit.times.local(self._clock()).date(),
            by_author=parts.by_author,
            colours=parts.colours_key,
            star=parts.star,
            date_field=_date_field(shown) if _density(visit) or _is_by_day(visit) else "",
            density=_density(visit),
            is_searched=bool(query.q),
            is_both=bool(query.q and query.vector_search_term),
        )
        if look.density == COMPACT:
            parts.images = None
        posts = self._rows.listed(
            shown.found.body, shown.found.threads, has_images=parts.images is not None
        )
        urls = [url for post in posts for url in post.urls]
        account = visit.account
        await self._images.add_urls(account, parts, urls)
        parts.links = shown.found.contents
        return self._rows.groups(look, parts, posts)

    async def _empty(self, visit: Visit, shown: Shown) -> Reply:
        account, query = visit.account, shown.query
        if not account.total:
            return await self._show(
                visit, query, shown.address, None, "library_empty.html", demo_size=self._demo.size
            )
        if not filters.has_filters(query):
            return await self._show(visit, query, shown.address, None, "library_read.html")
        return await self._show(
            visit,
            query,
            shown.address,
            None,
            "library_none.html",
            reason=shown.found.reason,
            **_forgiven(shown),
            suggestions=await self._no_hits.suggestions(
                account, query, shown.address, shown.found.hidden
            ),
        )

    async def _refused(
        self,
        visit: Visit,
        query: ListQuery,
        address: Address,
        refused: Refusal,
        view: View | None = None,
    ) -> Reply:
        """The page without posts, if it can say what to do about it."""
        if refused.code is Code.NOT_FOUND or refused.status >= _MISTAKES:
            raise refused
        return await self._show(
            visit,
            query,
            address,
            view,
            status=refused.status,
            problem=refused.sentence,
            groups=[],
            heading="",
            shown_count=0,
            total=0,
            can_pick_all=False,
            is_best=False,
            older="",
            newer="",
            is_cut=False,
            pending="",
            relaxed="",
            hidden=0,
            hidden_url="",
            meant="",
        )

    async def _show(
        self,
        visit: Visit,
        query: ListQuery,
        address: Address,
        view: View | None,
        template: str = "library.html",
        *,
        status: int = 200,
        **values: Any,
    ) -> Reply:
        account = visit.account
        density = _density(visit)
        shared = {
            "title": view.name if view else filters.title(query),
            "here": address.changed(**{DENSITY: None}).url(),
            "is_unread_only": view is None and filters.is_unread_only(query),
            "hides_archived": view is None and filters.hides_archived(query),
            "back": address.url(),
            "is_demo": await self._demo.is_present(account),
            "account_total": account.total,
            "account_read": account.total - account.unread,
            "account_archived": account.archived,
            "search": query.q or query.vector_search_term or "",
            "search_words": filters.search_words(query, account),
            "hints": filters.hints(query),
            "mode": await self._mode(visit, query),
            "kept_fields": address.fields("q", MEANING, "sort_by", "sort_order", "bucket"),
            **self._chips(visit, query, address, is_view=view is not None),
            "order": "" if view else filters.order_words(query),
            "orders": [] if view else filters.orders(query, address),
            "buckets": await self._buckets(account, view, address),
            "edit_url": f"/views/{quote(view.slug, safe='')}/edit" if view else "",
            "save_url": "" if view else filters.save_url(query, address),
            "share_url": _share_url(view, query, address),
            "density": density,
            "is_compact": density == COMPACT,
            "densities": [
                (icon, name, address.changed(**{DENSITY: each}).url(), each == density)
                for each, (icon, name) in _DENSITIES.items()
            ],
            "clear_url": address.changed(q=None, vector_search_term=None, sort_by=None).url(),
            **self._images.values(visit),
            "undo": UNDO.get(visit.asked("said")),
            "undo_post": visit.asked("post"),
            "is_archive": filters.is_archive(query),
            **await self._bulk.values(visit),
        }
        return self._pages.show(visit, template, status=status, **(shared | values))

    def _chips(
        self, visit: Visit, query: ListQuery, address: Address, *, is_view: bool
    ) -> dict[str, Any]:
        """The filters. A Smart View has its own."""
        if is_view:
            return {"chips": [], "clear_filters": "", "panels": ""}
        today = visit.times.local(self._clock()).date()
        labels = visit.sidebar["side_labels"]
        account = visit.account
        chips = FilterChips(account, query, address, times=visit.times, today=today, labels=labels)
        # No counts for a list by meaning: its ranking takes too long.
        panels = "" if query.vector_search_term else Address(PANELS, address.changed().values).url()
        return {"chips": chips.all(), "clear_filters": chips.clear_url(), "panels": panels}

    async def _buckets(
        self, account: Account, view: View | None, address: Address
    ) -> list[dict[str, Any]]:
        """The parts of a view, as tabs."""
        if view is None or not view.triage_buckets:
            return []
        counts = await self._views.bucket_counts(account, view)
        buckets = zip(view.triage_buckets, counts, strict=True)
        choices = [("", "All", ""), *((b.slug, b.name, shown_count(c)) for b, c in buckets)]
        chosen = address.values.get("bucket", "")
        return [
            {
                "text": name,
                "url": address.changed(bucket=slug).url(),
                "is_chosen": slug == chosen,
                "count": count,
            }
            for slug, name, count in choices
        ]


def _forgiven(shown: Shown) -> dict[str, Any]:
    """What the posts have instead of all words, and what was probably meant."""
    found, query, meant = shown.found, shown.query, shown.found.did_you_mean or ""
    meaning = query_language.plain_text(meant) if query.vector_search_term else None
    search = {"q": meant, "vector_search_term": meaning}
    values = {
        "hidden": found.hidden,
        "hidden_url": hidden_list(shown.address).url(),
        "relaxed": found.reason if found.total_count else "",
        "meant": meant,
        "meant_url": shown.address.changed(**search).url() if meant else "",
    }
    if found.is_relaxed and not query.sort_by:
        values["order"] = filters.BEST_FIRST
    return values


def _date_field(shown: Shown) -> str:
    """The date that a list is ordered by, or ""."""
    query, by = shown.query, shown.query.sort_by
    if shown.view is not None:
        by = shown.view.default_sort.sort_by if shown.view.default_sort else None
    if by == "posted_at":
        return by
    is_ranked = by is None and (query.vector_search_term or shown.found.is_relaxed)
    return "" if is_ranked or by not in (None, "", "sort_index", "created_at") else "bookmarked_at"


def _density(visit: Visit) -> str:
    asked = visit.asked(DENSITY)
    return asked if asked in _DENSITIES else ""


def _is_by_day(visit: Visit) -> bool:
    return visit.jar.read(visit.request.headers.get(b"cookie"), _DAYS_COOKIE) != _OFF


def _share_url(view: View | None, query: ListQuery, address: Address) -> str:
    """The page that shares the view or the label of a list, "" for other lists."""
    if view is not None:
        return sharing(view=view.slug)
    others = address.changed(tag=None, is_unread_only=None, hide_archived=None, density=None)
    is_label = query.tag and not others.url().partition("?")[2]
    return sharing(label=query.tag or "") if is_label else ""
