"""/statistics: what an account saved and read, as charts and as tables."""

from collections.abc import Sequence
from typing import Any, Final

from bowerbird.library.statistics.periods import StatisticsPeriod
from bowerbird.library.statistics.statistics import LINKED_POSTS_MAX, Statistics, Summary
from bowerbird.model.digests import AuthorCount
from bowerbird.web.library.addresses import everything
from bowerbird.web.library.post_parts import label as label_values
from bowerbird.web.statistics import charts
from bowerbird.web.statistics.charts import Bar
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

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
            "chart": charts.bars(
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
            "week": charts.week(
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
                "share": charts.share(count, most),
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
        visitor, account = visit.signed_in, visit.signed_in.account
        period = _period(visit.query.get(_PERIOD, ""))
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
            again=_url(period),
            counted=counted is not None,
            **(shown.of(counted) if counted else {}),
        )


def _period(text: str) -> StatisticsPeriod:
    return StatisticsPeriod(text) if text in list(StatisticsPeriod) else StatisticsPeriod.MONTHS


def _url(period: StatisticsPeriod) -> str:
    return PATH if period is StatisticsPeriod.MONTHS else f"{PATH}?{_PERIOD}={period}"
