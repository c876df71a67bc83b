"""/statistics: what an account saved and read, as charts and as tables.

Charts are SVG. Sizes are attributes and colours are classes, as the policy of pages demands.
"""

from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup, escape
from msgspec import Struct

from bowerbird.library.statistics import LINKED_POSTS_MAX, Statistics, StatisticsPeriod, Summary
from bowerbird.model.digests import AuthorCount
from bowerbird.web.library.addresses import everything
from bowerbird.web.library.addresses import label as label_values
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_WIDTH, _HEIGHT = 900, 190
_LEFT, _BOTTOM, _TOP = 34, 22, 12
_BASE: Final = _HEIGHT - _BOTTOM
_BAR_MAX: Final = 18
_ROUND: Final = 3
_LINES: Final = 3
# At most so many names of bars fit below them.
_NAMES_MAX: Final = 8
_CELL_WIDTH, _CELL_HEIGHT, _GAP, _CELLS_LEFT = 34, 26, 3, 62
_SHADES: Final = 4
_HOURS: Final = 24
_STEPS: Final = (1, 2, 5)


class Bar(Struct, frozen=True):
    """`part` of `whole` is filled. `url` is '' if there is no list of what is counted."""

    name: str
    title: str
    whole: int
    part: int
    url: str


def bars(shown: Sequence[Bar], label: str, lang: Markup) -> Markup:
    top = _top(max((bar.whole for bar in shown), default=0))
    scale = (_BASE - _TOP) / top
    step = (_WIDTH - _LEFT) / max(len(shown), 1)
    width = min(_BAR_MAX, step * 0.75)
    pieces: list[str] = []
    for line in range(_LINES + 1):
        value = top * line // _LINES
        y = _BASE - value * scale
        pieces += (
            f'<line class="ax" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>',
        )
    every = -(-len(shown) // _NAMES_MAX)
    for position, bar in enumerate(shown):
        x = _LEFT + position * step + (step - width) / 2
        pieces.append(_bar(bar, x, width, scale, lang))
        if position % every == 0:
            place = f'x="{x + width / 2:.1f}" y="{_HEIGHT - 5}" text-anchor="middle"'
            pieces.append(f"<text {place}{lang}>{escape(bar.name)}</text>")
    return _chart(_WIDTH, _HEIGHT, label, pieces)


def _bar(bar: Bar, x: float, width: float, scale: float, lang: Markup) -> str:
    whole, part = bar.whole * scale, bar.part * scale
    r = min(_ROUND, whole, width / 2)
    drawn = f"<title{lang}>{escape(bar.title)}</title>"
    # As high as the chart, so that a small bar can be pointed at too.
    drawn += f'<rect class="area" x="{x:.1f}" y="0" width="{width:.1f}" height="{_BASE}"/>'
    if bar.whole:
        drawn += (
            f'<path class="b0" d="M{x:.1f} {_BASE}v{r - whole:.1f}q0-{r:.1f} {r:.1f}-{r:.1f}'
            f'h{width - 2 * r:.1f}q{r:.1f} 0 {r:.1f} {r:.1f}V{_BASE}z"/>'
        )
    if bar.part:
        size = f'width="{width:.1f}" height="{part:.1f}"'
        drawn += f'<rect class="b" x="{x:.1f}" y="{_BASE - part:.1f}" {size}/>'
    if bar.url:
        # The table has the same links for the keyboard.
        return f'<a href="{escape(bar.url)}" tabindex="-1">{drawn}</a>'
    return f"<g>{drawn}</g>"


def week(hours: Sequence[int], weekdays: Sequence[str], label: str, lang: Markup) -> Markup:
    """One cell per hour of the week, darker for more."""
    most = max(hours, default=0)
    row_height = _CELL_HEIGHT + _GAP
    size = f'width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}" rx="3"'
    pieces = []
    for day, weekday in enumerate(weekdays):
        y, name = day * row_height, escape(weekday)
        place = f'x="{_CELLS_LEFT - 8}" y="{y + 18}" text-anchor="end"'
        pieces.append(f"<text {place}{lang}>{name}</text>")
        for hour in range(_HOURS):
            count = hours[day * _HOURS + hour]
            x = _CELLS_LEFT + hour * (_CELL_WIDTH + _GAP)
            pieces.append(
                f'<rect class="h{_shade(count, most)}" x="{x}" y="{y}" {size}>'
                f"<title{lang}>{name} {hour:02}:00, {count:,}</title></rect>"
            )
    for hour in range(0, _HOURS, 3):
        x = _CELLS_LEFT + hour * (_CELL_WIDTH + _GAP) + _CELL_WIDTH // 2
        place = f'x="{x}" y="{7 * row_height + 14}" text-anchor="middle"'
        pieces.append(f"<text {place}>{hour:02}</text>")
    width = _CELLS_LEFT + _HOURS * (_CELL_WIDTH + _GAP)
    return _chart(width, 7 * row_height + 20, label, pieces)


def share(part: int, whole: int) -> Markup:
    """A thin bar under a name."""
    width = 100 * part / whole if whole else 0
    return Markup(
        '<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bg" width="100" height="4"/>'
        '<rect class="b" width="{:.1f}" height="4"/></svg>'
    ).format(width)


def _chart(width: int, height: int, label: str, pieces: Sequence[str]) -> Markup:
    """`pieces` is markup: every text in it is escaped."""
    about = f'viewBox="0 0 {width} {height}" role="group" aria-label="{escape(label)}"'
    return Markup(f'<svg class="chart" {about}>{"".join(pieces)}</svg>')  # noqa: S704 - see above


def _shade(count: int, most: int) -> int:
    """0 for none, up to 4 for the most."""
    return -(-count * _SHADES // most) if count else 0


def _top(most: int) -> int:
    """A round number that is at least the highest bar, and can be divided by three."""
    unit = 1
    while True:
        for step in _STEPS:
            if (top := _LINES * step * unit) >= most:
                return top
        unit *= 10


_DAY_HOURS: Final = 24


class StatisticsValues:
    """`can_filter`: filters need a paid plan, and a search finds other posts too."""

    def __init__(self, times: Times, base_path: str, *, can_filter: bool) -> None:
        self._times = times
        self._base_path = base_path
        self._can_filter = can_filter

    def of(self, found: Summary) -> dict[str, Any]:
        words, lang = self._times.words, self._times.words.attributes
        rows, span = self._rows(found), self._span(found.slices[0].start, found.slices[-1].end)
        busiest = max(range(len(found.hours)), key=found.hours.__getitem__)
        unit = "year" if found.is_by_year else "month"
        return {
            "saved": found.saved,
            "read_percent": _percent(found.read, found.saved),
            "author_total": found.author_total,
            "labelled_percent": _percent(found.labelled, found.saved),
            "since": self._times.date(found.first_day),
            "unit": unit,
            "rows": rows[::-1],
            "chart": bars(
                [Bar(r["name"], r["title"], r["saved"], r["read"], r["url"]) for r in rows],
                f"Posts saved in each {unit}, and how many of them are read. "
                "The table below has the numbers.",
                lang,
            ),
            "authors": self._ranked(
                [
                    (
                        _name(each),
                        self._list(span, author=f"@{each.author_username}"),
                        each.count,
                        "",
                    )
                    for each in found.authors
                ]
            ),
            "labels": self._ranked(
                [
                    (
                        each.label_name,
                        self._list(span, tag=each.label_name),
                        each.count,
                        _colour(each.label_name),
                    )
                    for each in found.labels
                ]
            ),
            "domains": self._ranked([(each.domain, "", each.count, "") for each in found.domains]),
            "linked_posts": found.linked_posts,
            "is_linked_part": found.linked_posts == LINKED_POSTS_MAX,
            "busiest": {
                "from": f"{busiest % _DAY_HOURS:02}:00",
                "day": words.weekdays[busiest // _DAY_HOURS],
                "count": found.hours[busiest],
            },
            "time_zone": found.time_zone,
            "week": week(
                found.hours,
                words.weekdays,
                "Posts saved by hour of the week. The table below has the numbers.",
                lang,
            ),
            "weekdays": words.weekdays,
            "hours": [
                (f"{hour:02}:00", [found.hours[day * _DAY_HOURS + hour] for day in range(7)])
                for hour in range(_DAY_HOURS)
            ],
        }

    def _rows(self, found: Summary) -> list[dict[str, Any]]:
        """One row per month or year."""
        rows = []
        for part in found.slices:
            day = part.first_day
            name = str(day.year) if found.is_by_year else self._times.words.month(day)
            rows.append(
                {
                    "name": name,
                    "title": f"{name}: {part.saved:,} saved, {part.read:,} read",
                    "saved": part.saved,
                    "read": part.read,
                    "url": self._list(self._span(part.start, part.end)) if part.saved else "",
                }
            )
        return rows

    def _span(self, start: int, end: int) -> dict[str, str]:
        """The filters by the time of saving. Both bounds are outside of what they find."""
        exact = self._times.exact
        return {"bookmarked_from": exact(start - 1), "bookmarked_to": exact(end)}

    def _list(self, span: dict[str, str], **filters: str) -> str:
        """The posts that were counted."""
        return self._base_path + everything(**span, **filters) if self._can_filter else ""

    def _ranked(self, found: Sequence[tuple[str, str, int, str]]) -> list[dict[str, Any]]:
        most = found[0][2] if found else 0
        return [
            {
                "name": name,
                "url": url,
                "count": count,
                "colour": colour,
                "share": share(count, most),
            }
            for name, url, count, colour in found
        ]


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0


def _name(author: AuthorCount) -> str:
    return author.author_name or f"@{author.author_username}"


def _colour(label: str) -> str:
    return label_values(label)["colour"]


PATH: Final = "/statistics"
_PERIOD: Final = "period"
_PERIODS: Final = (
    (StatisticsPeriod.MONTHS, "Last 24 months"),
    (StatisticsPeriod.YEAR, "This year"),
    (StatisticsPeriod.ALL, "Everything"),
)


class StatisticsPage:
    def __init__(self, statistics: Statistics, pages: VisitPages) -> None:
        self._statistics = statistics
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [PageRoute("GET", PATH, self.show)]

    async def show(self, visit: Visit) -> Reply:
        visitor, account = visit.signed_in, visit.account
        period = _period(visit.asked(_PERIOD))
        counted = await self._statistics.of(account, period, visitor.time_zone)
        shown = StatisticsValues(visit.times, self._pages.path(""), can_filter=not account.is_free)
        return self._pages.show(
            visit,
            "statistics.html",
            total=account.total,
            periods=[
                {"text": text, "url": _url(each), "is_chosen": each is period}
                for each, text in _PERIODS
            ],
            **shown.of(counted),
        )


def _period(text: str) -> StatisticsPeriod:
    return StatisticsPeriod(text) if text in list(StatisticsPeriod) else StatisticsPeriod.MONTHS


def _url(period: StatisticsPeriod) -> str:
    return PATH if period is StatisticsPeriod.MONTHS else f"{PATH}?{_PERIOD}={period}"
