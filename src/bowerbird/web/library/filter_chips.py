"""The chips above a list: the filters that are applied, as phrases, and those that can be.

Each opens a panel whose options are links. Only typed names and days are a form. Then
/library/panels/{kind} has the panel with counts, or with names like a typed one.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.model import instants, languages
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.posts import networks
from bowerbird.model.posts.networks import NETWORKS
from bowerbird.model.words import HIGHLIGHT
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import By, CountQuery, FacetsQuery, ListQuery
from bowerbird.requests.filters import MEANING
from bowerbird.requests.limits import SUGGESTED_FOR_MAX, SUGGESTED_MAX
from bowerbird.search.queries import query_language
from bowerbird.web.library import addresses, filters
from bowerbird.web.library.addresses import LIBRARY, Address, Sidebar, address_of
from bowerbird.web.library.filters import CHIPS
from bowerbird.web.visits.formats import Times, enclosed
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

TYPE, AUTHOR, LABEL, POSTED, SAVED, HAS, STATE, LANGUAGE, NETWORK = (
    "Type",
    "Author",
    "Label",
    "Posted",
    "Saved",
    "Has",
    "State",
    "Language",
    "Network",
)
KINDS: Final = (TYPE, AUTHOR, LABEL, POSTED, SAVED, HAS, STATE, LANGUAGE, NETWORK)
# Of which the library counts the posts when a panel is opened.
COUNTED: Final[Mapping[str, By]] = {
    TYPE: "media",
    AUTHOR: "author",
    LABEL: "label",
    LANGUAGE: "language",
    NETWORK: "network",
}
PARAMETERS: Final = {
    TYPE: "media_type",
    AUTHOR: "author",
    LABEL: "tag",
    LANGUAGE: "language",
    NETWORK: "network",
}
_BOUNDS: Final = {
    POSTED: ("posted_from", "posted_to"),
    SAVED: ("bookmarked_from", "bookmarked_to"),
}
TYPES: Final = {
    "text": "Only text",
    "image": "Image",
    "video": "Video",
    "gif": "GIF",
    "link": "Link",
    "article": "Article",
    "thread": "Thread",
    "poll": "Poll",
}
_HINTS: Final = {
    AUTHOR: "Name or @handle",
    LABEL: "Name of a label",
    LANGUAGE: "Code, such as en",
    NETWORK: "Such as YouTube",
}
# Of an instant, which both exclude, and of a whole day.
_BOUND_WORDS: Final = (("after", "since"), ("before", "until"))
_FLAGS: Final = {
    "has_note": {True: ("with", "a note"), False: ("without", "a note")},
    "unlabelled": {True: ("without", "a label"), False: ("with", "a label")},
    "is_reply": {True: ("only", "replies"), False: ("without", "replies")},
    "is_gone": {True: ("gone from", "its network"), False: ("not gone from", "its network")},
    "is_duplicate": {True: ("with", "a copy"), False: ("without", "a copy")},
    "is_thread": {True: ("only", "threads"), False: ("without", "threads")},
}
# Options beside the types of media.
_TRAITS: Final = ("is_reply", "is_gone", "is_duplicate")
# A filter that is none of these has a chip without a panel.
_SHOWN: Final = {*PARAMETERS.values(), *_BOUNDS[POSTED], *_BOUNDS[SAVED], *_FLAGS, "label"}
# Whether only unread posts are shown, archived ones hidden, and only archived ones shown.
_STATES: Final = tuple(
    (
        text,
        flags,
        dict(zip(("is_unread_only", "hide_archived", "is_archived_only"), sent, strict=True)),
    )
    for text, flags, sent in (
        ("Unread", (True, True, False), (None, None, None)),
        ("Read and unread", (False, True, False), ("false", None, None)),
        ("With archived posts", (False, False, False), ("false", "false", None)),
        ("Archived", (False, False, True), ("false", None, "true")),
    )
)


class Option(NamedTuple):
    text: str
    url: str
    is_chosen: bool = False
    number: int | None = None
    # Of a label.
    colour: str = ""
    # That of the text, if it is its own name.
    language: str = ""


class Panel(NamedTuple):
    kind: str
    options: Sequence[Option]
    # The parameter of a name that can be typed, and what its field says.
    typed: str = ""
    hint: str = ""
    # Name, label and value of two days.
    days: Sequence[tuple[str, str, str]] = ()
    # The other parameters, which the form sends along.
    kept: Sequence[tuple[str, str]] = ()


class Chip(NamedTuple):
    """`value` is "" if the filter is not applied."""

    name: str
    value: str = ""
    remove_url: str = ""
    panel: Panel | None = None


class FilterChips:
    """`labels`: those of the sidebar, as dicts of name and colour."""

    def __init__(
        self,
        account: Account,
        query: ListQuery,
        address: Address,
        *,
        times: Times,
        today: date,
        labels: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self._account = account
        self._query = query
        self._address = address
        self._times = times
        self._today = today
        self._labels = labels

    def all(self) -> list[Chip]:
        """Those that are applied, each with its panel; then the others."""
        applied = [*self._applied()]
        open_kinds = (STATE,) if self._account.is_free else KINDS
        known = {chip.panel.kind for chip in applied if chip.panel}
        rest = [Chip(kind, panel=self.panel(kind)) for kind in open_kinds if kind not in known]
        return [*applied, *rest]

    def clear_url(self) -> str:
        """The list without filters; "" if at most one is applied."""
        names = [*CHIPS, "import_run", "label_match"]
        is_many = sum(bool(getattr(self._query, name)) for name in names) > 1
        return self._address.changed(**dict.fromkeys(names)).url() if is_many else ""

    def panel(self, kind: str, options: Sequence[Option] | None = None) -> Panel:
        """The panel of a kind; `options` with counts, if these are known."""
        if kind in _BOUNDS:
            return self._days(kind)
        if kind == TYPE:
            if options is None:
                options = [self.option(kind, value, text) for value, text in TYPES.items()]
            return Panel(kind, [*options, *(self._flag(one, is_on=True) for one in _TRAITS)])
        if kind == HAS:
            notes = [self._flag("has_note", is_on=on) for on in (True, False)]
            url = self._address.changed(has=HIGHLIGHT).url()
            marked = Option("With a highlight", url, self._query.has == HIGHLIGHT)
            return Panel(kind, [*notes, marked])
        if kind == STATE:
            return Panel(kind, self._states())
        if options is None and kind == LABEL:
            names = [(each["name"], each["colour"]) for each in self._labels]
            options = [self.option(kind, name, name, colour=colour) for name, colour in names]
        if kind == LABEL:
            options = [*(options or ()), self._flag("unlabelled", is_on=True)]
        parameter = PARAMETERS[kind]
        return Panel(
            kind,
            options or (),
            typed=parameter,
            hint=_HINTS[kind],
            kept=self._address.fields(parameter),
        )

    def option(
        self, kind: str, value: str, text: str, count: int | None = None, colour: str = ""
    ) -> Option:
        """The list with this value."""
        name = PARAMETERS[kind]
        chosen = getattr(self._query, name)
        is_chosen = bool(chosen) and _folded(chosen) == _folded(value)
        url = self._address.changed(**{name: value}).url()
        language = value if kind == LANGUAGE else ""
        return Option(text, url, is_chosen, count, colour, language)

    def _applied(self) -> list[Chip]:
        state = self._state()
        return [*self._named(), *self._periods(), *self._others(), *([state] if state else [])]

    def _named(self) -> Iterator[Chip]:
        for kind, word in ((TYPE, "type"), (AUTHOR, "by"), (LABEL, "label")):
            if value := getattr(self._query, PARAMETERS[kind]):
                yield self._chip(word, value, PARAMETERS[kind], panel=self.panel(kind))
        if self._query.language:
            codes = map(languages.code_of, self._query.language.split(","))
            names = ", ".join(languages.name_of(code) for code in codes if code is not None)
            yield self._chip("language", names, "language", panel=self.panel(LANGUAGE))
        if self._query.network and (network := networks.called(self._query.network)):
            name = networks.name_of(network)
            yield self._chip("on", name, "network", panel=self.panel(NETWORK))
        if self._query.label:
            yield self._chip("labels", str(self._query.label), "label", "label_match")

    def _periods(self) -> Iterator[Chip]:
        for kind, bounds in _BOUNDS.items():
            start, end = (getattr(self._query, name) or "" for name in bounds)
            if not (start or end):
                continue
            word = kind.lower()
            panel: Panel | None = self.panel(kind)
            if phrase := self._period(word, start, end):
                yield self._chip(*phrase, *bounds, panel=panel)
                continue
            for name, value, words in zip(bounds, (start, end), _BOUND_WORDS, strict=True):
                if value:
                    is_whole = instants.is_day(value)
                    phrase = f"{word} {words[is_whole]}", self._day_words(value)
                    yield self._chip(*phrase, name, panel=panel)
                    panel = None

    def _others(self) -> Iterator[Chip]:
        query = self._query
        for name, words in _FLAGS.items():
            if value := getattr(query, name):
                panel = self.panel(HAS) if name == "has_note" else None
                yield self._chip(*words[filters.is_on(value)], name, panel=panel)
        for name, word in CHIPS.items():
            if name not in _SHOWN and (value := getattr(query, name)):
                yield self._chip(word, str(value), name)
        meant = query.vector_search_term
        if query.q and meant and meant not in (query.q, query_language.plain_text(query.q)):
            yield self._chip("near to", meant, MEANING)
        if query.import_run:
            yield self._chip("from", "one import", "import_run")

    def _chip(self, word: str, value: str, *names: str, panel: Panel | None = None) -> Chip:
        url = self._address.changed(**dict.fromkeys(names)).url()
        return Chip(word, value, url, panel)

    def _state(self) -> Chip | None:
        """A search for a state, or that a list with filters has only unread posts."""
        query = self._query
        if query.q and (asked := filters.state(query.q)):
            url = self._address.changed(q=filters.without_state(query.q)).url()
            return Chip("state", asked, url, self.panel(STATE))
        if filters.is_unread_only(query) and filters.has_filters(query):
            url = self._address.changed(is_unread_only="false").url()
            return Chip("state", "unread", url, self.panel(STATE))
        return None

    def _flag(self, name: str, *, is_on: bool) -> Option:
        value = getattr(self._query, name)
        is_chosen = bool(value) and filters.is_on(value) == is_on
        url = self._address.changed(**{name: str(is_on).lower()}).url()
        return Option(" ".join(_FLAGS[name][is_on]).capitalize(), url, is_chosen)

    def _presets(self) -> dict[str, str]:
        """The first day of each period, and its name."""
        return {
            "today": "Today",
            "today-6d": "Last 7 days",
            "today-29d": "Last 30 days",
            f"{self._today.year:04}-01-01": "This year",
        }

    def _days(self, kind: str) -> Panel:
        bounds = first, last = _BOUNDS[kind]
        values = [getattr(self._query, name) or "" for name in bounds]
        options = []
        for start, text in self._presets().items():
            url = self._address.changed(**{first: start, last: None}).url()
            options.append(Option(text, url, values == [start, ""]))
        zone = instants.zone_of(self._times.time_zone)
        # A relative day is shown as the day that it means now.
        days = [self._day_of(value, zone) for value in values]
        labelled = zip(bounds, ("From", "To"), days, strict=True)
        return Panel(kind, options, days=list(labelled), kept=self._address.fields(*bounds))

    def _day_of(self, text: str, zone: Any) -> str:
        if not instants.is_day(text):
            return ""
        now = instants.instant_of(self._today, 12, zone)
        day = instants.day_of(text, now, zone)
        return "" if day is None else day.isoformat()

    def _period(self, word: str, start: str, end: str) -> tuple[str, str] | None:
        """Such as saved, this year; None if each bound needs its own words."""
        if not end and (preset := self._presets().get(start)):
            return word, f"{'in the ' if preset.startswith('Last') else ''}{preset.lower()}"
        if period := enclosed(self._times, start, end):
            return f"{word} in", period
        if instants.is_day(start) and instants.is_day(end):
            return word, f"{self._day_words(start)} to {self._day_words(end)}"
        return None

    def _day_words(self, text: str) -> str:
        day = instants.day_of(text, None, instants.zone_of("UTC"))
        return text if day is None else self._times.words.day(day)

    def _states(self) -> list[Option]:
        """With their numbers, if the list has no other filter."""
        query, account = self._query, self._account
        rest, asked = "", ""
        if query.q:
            rest, asked = filters.without_state(query.q), filters.state(query.q)
        now = (
            filters.is_unread_only(query),
            filters.hides_archived(query),
            filters.is_archive(query),
        )
        has_numbers = not filters.has_filters(query)
        read = account.total - account.archived - account.fresh if has_numbers else None
        found = []
        for text, flags, values in _STATES:
            unread, hides, archive = flags
            url = self._address.changed(**values, q=rest).url()
            number = account.visible(unread_only=unread, hide_archived=hides, archived_only=archive)
            is_chosen = now == flags and not asked
            found.append(Option(text, url, is_chosen, number if has_numbers else None))
        url = self._address.changed(**_STATES[0][2], q=f"{rest} is:read".strip()).url()
        found.insert(1, Option("Read", url, asked == "read", read))
        return found


def _folded(text: str) -> str:
    return name_key(text.removeprefix("@"))


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
        values[PARAMETERS[kind]] = None
        asked = FacetsQuery(by=COUNTED[kind], limit=SUGGESTED_MAX, **values)
        found = (await self._facets.of(account, asked)).facets
        if kind == TYPE:
            return [chips.option(kind, each.value, TYPES[each.value], each.count) for each in found]
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
        return chips.option(LABEL, name, name, count, addresses.label(name, colour)["colour"])
