"""The one clock. Everything that needs the time takes a Clock, so tests can set it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

Clock = Callable[[], int]
"""Answers the present instant in UTC microseconds."""

MICROSECONDS: Final = 1_000_000
_DAY: Final = 86_400 * MICROSECONDS


def system_clock() -> int:
    return time.time_ns() // 1_000


def day_of(now: int) -> int:
    """The day in UTC as a number that orders: days since 1970."""
    return now // _DAY


def month_of(now: int) -> int:
    """The calendar month in UTC as a number that orders: 202611."""
    return _month_of_day(now // _DAY)


@lru_cache(maxsize=4)
def _month_of_day(day: int) -> int:
    # Asked for every request; a day changes its month at most once.
    moment = datetime.fromtimestamp(day * 86_400, UTC)
    return moment.year * 100 + moment.month


def first_of_next_month(now: int) -> str:
    moment = datetime.fromtimestamp(now // MICROSECONDS, UTC)
    years, month = divmod(moment.month, 12)
    return f"{moment.year + years:04d}-{month + 1:02d}-01"
