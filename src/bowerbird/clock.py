"""The clock. All code that needs the time takes a Clock, so that tests can set the time."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

Clock = Callable[[], int]
"""Returns the current time in microseconds since 1970, UTC."""

MICROSECONDS: Final = 1_000_000
DAY: Final = 86_400 * MICROSECONDS


def system_clock() -> int:
    return time.time_ns() // 1_000


def day_of(now: int) -> int:
    """The UTC day, in days since 1970."""
    return now // DAY


def date_of_day(day: int) -> date:
    return date(1970, 1, 1) + timedelta(days=day)


def seconds_left_of_day(now: int) -> int:
    """The time until the next UTC day begins, rounded up."""
    return -(-(DAY - now % DAY) // MICROSECONDS)


def month_of(now: int) -> int:
    """The UTC month as one number, such as 202611; later months are greater."""
    moment = datetime.fromtimestamp(now // MICROSECONDS, UTC)
    return moment.year * 100 + moment.month


def first_of_next_month(now: int) -> str:
    moment = datetime.fromtimestamp(now // MICROSECONDS, UTC)
    years, month = divmod(moment.month, 12)
    return f"{moment.year + years:04d}-{month + 1:02d}-01"
