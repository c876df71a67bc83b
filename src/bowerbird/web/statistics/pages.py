"""/statistics: what an account saved and read, as charts and as tables."""

from typing import Final

from bowerbird.library.statistics.periods import StatisticsPeriod
from bowerbird.library.statistics.statistics import Statistics
from bowerbird.web.statistics.values import StatisticsValues
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

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
