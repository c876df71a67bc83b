"""Days and weeks in every time zone, across every change of the clocks."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.digests import digest_id, period_of
from bowerbird.model.periods import (
    Period,
    PeriodKind,
    containing,
    instant_of,
    latest_due,
    local_day,
    zone_names,
    zone_of,
)

DAILY, WEEKLY = PeriodKind.DAILY, PeriodKind.WEEKLY
HOUR = 3_600_000_000
# Those with odd offsets and odd days, and some of all others.
ODD = (
    *("Europe/Berlin", "Pacific/Apia", "Asia/Kathmandu", "America/St_Johns", "Africa/Cairo"),
    *("Australia/Lord_Howe", "America/Havana", "Asia/Beirut", "America/Nuuk", "Pacific/Chatham"),
    *("Pacific/Kwajalein", "America/Sao_Paulo", "Antarctica/Troll", "Africa/Casablanca"),
)
zones = st.sampled_from(ODD) | st.sampled_from(sorted(zone_names()))
kinds = st.sampled_from(PeriodKind)
hours = st.integers(0, 23)
instants = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(  # noqa: DTZ001 - made UTC below
    lambda moment: at(moment.replace(tzinfo=UTC))
)


def at(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


def utc(text: str) -> int:
    return at(datetime.fromisoformat(text).replace(tzinfo=UTC))


@given(kinds, zones, hours, instants)
def test_at_every_instant_exactly_one_period_is_the_latest(
    kind: PeriodKind, name: str, hour: int, now: int
) -> None:
    zone = ZoneInfo(name)

    period = latest_due(kind, zone, hour, now)

    following = period.following(zone)
    assert period.start(zone) < period.end(zone) <= period.due(zone, hour) <= now
    assert now < following.due(zone, hour)
    assert following.start(zone) == period.end(zone)


@given(kinds, zones, instants)
def test_every_instant_lies_in_the_period_of_its_day(kind: PeriodKind, name: str, now: int) -> None:
    zone = ZoneInfo(name)

    period = containing(kind, local_day(now, zone))

    assert period.start(zone) <= now < period.end(zone)


@given(kinds, st.dates(date(1990, 1, 1), date(2040, 1, 1)))
def test_a_period_is_found_again_by_its_name(kind: PeriodKind, day: date) -> None:
    period = containing(kind, day)

    assert period_of(digest_id(period)) == period
    assert period.first_day <= day <= period.last_day


@pytest.mark.parametrize(
    "name",
    [
        *("", "weekly", "weekly-", "hourly-2026-07-13", "weekly-2026-7-13", "weekly-20260713"),
        *("weekly-2026-W29-1", "daily-9999-12-31", "daily-0001-01-01", "daily-2026-02-30"),
        *("daily-2026-07-13 ", "\0", "daily-\uff12\uff10\uff12\uff16-07-13"),
    ],
)
def test_any_other_text_names_no_period(name: str) -> None:
    assert period_of(name) is None


@pytest.mark.parametrize(
    ("zone", "day", "start", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), "2026-03-28T23:00", 23),
        ("Europe/Berlin", date(2026, 10, 25), "2026-10-24T22:00", 25),
        ("Asia/Kathmandu", date(2026, 3, 29), "2026-03-28T18:15", 24),
        ("America/St_Johns", date(2026, 3, 8), "2026-03-08T03:30", 23),
        ("Pacific/Apia", date(2026, 3, 29), "2026-03-28T11:00", 24),
        ("Australia/Lord_Howe", date(2026, 4, 5), "2026-04-04T13:00", 24.5),
        # Its clocks jump at midnight, so the day begins at one.
        ("Africa/Cairo", date(2026, 4, 24), "2026-04-23T22:00", 23),
        # Its clocks go back at midnight to eleven: the day before is the long one.
        ("Africa/Cairo", date(2026, 10, 29), "2026-10-28T21:00", 25),
        # The hour after midnight comes twice.
        ("America/Havana", date(2026, 11, 1), "2026-11-01T04:00", 25),
    ],
)
def test_a_day_is_as_long_as_the_zone_makes_it(
    zone: str, day: date, start: str, hours: float
) -> None:
    period = Period(DAILY, day)

    assert period.start(ZoneInfo(zone)) == utc(start)
    assert period.end(ZoneInfo(zone)) - period.start(ZoneInfo(zone)) == hours * HOUR


def test_a_day_that_never_was_is_passed_over() -> None:
    apia = ZoneInfo("Pacific/Apia")
    before = Period(DAILY, date(2011, 12, 29))

    assert before.following(apia).first_day == date(2011, 12, 31)
    assert latest_due(DAILY, apia, 8, utc("2011-12-30T17:59")).first_day == date(2011, 12, 28)
    assert latest_due(DAILY, apia, 8, utc("2011-12-30T18:00")).first_day == date(2011, 12, 29)
    assert latest_due(DAILY, apia, 8, utc("2011-12-31T18:00")).first_day == date(2011, 12, 31)


def test_a_week_of_six_days_is_a_week() -> None:
    apia = ZoneInfo("Pacific/Apia")
    week = containing(WEEKLY, date(2011, 12, 29))

    assert week.end(apia) - week.start(apia) == 6 * 24 * HOUR


@pytest.mark.parametrize(
    ("kind", "zone", "hour", "due"),
    [
        (WEEKLY, "UTC", 8, "2026-07-20T08:00"),
        (WEEKLY, "Europe/Berlin", 8, "2026-07-20T06:00"),
        (WEEKLY, "Asia/Kathmandu", 8, "2026-07-20T02:15"),
        (WEEKLY, "America/St_Johns", 8, "2026-07-20T10:30"),
        (WEEKLY, "Pacific/Apia", 0, "2026-07-19T11:00"),
    ],
)
def test_a_digest_is_due_at_the_hour_of_the_day_after(
    kind: PeriodKind, zone: str, hour: int, due: str
) -> None:
    assert Period(kind, date(2026, 7, 13)).due(ZoneInfo(zone), hour) == utc(due)


def test_an_hour_that_is_jumped_over_is_the_instant_of_the_jump() -> None:
    berlin = ZoneInfo("Europe/Berlin")

    assert Period(DAILY, date(2026, 3, 28)).due(berlin, 2) == utc("2026-03-29T01:00")
    assert Period(DAILY, date(2026, 3, 28)).due(berlin, 3) == utc("2026-03-29T01:00")


def test_of_an_hour_that_comes_twice_the_first_counts() -> None:
    berlin = ZoneInfo("Europe/Berlin")

    assert Period(DAILY, date(2026, 10, 24)).due(berlin, 2) == utc("2026-10-25T00:00")
    assert latest_due(DAILY, berlin, 2, utc("2026-10-25T00:30")).first_day == date(2026, 10, 24)
    assert latest_due(DAILY, berlin, 2, utc("2026-10-25T01:30")).first_day == date(2026, 10, 24)


@pytest.mark.parametrize(
    ("day", "kind", "first"),
    [
        (date(2026, 7, 18), DAILY, date(2025, 7, 18)),
        (date(2028, 2, 29), DAILY, date(2027, 2, 28)),
        (date(2026, 7, 13), WEEKLY, date(2025, 7, 13)),
    ],
)
def test_a_year_before_are_the_same_days_of_the_calendar(
    day: date, kind: PeriodKind, first: date
) -> None:
    found, after = Period(kind, day).a_year_before()

    assert found == first
    assert after - found == timedelta(days=kind.days)


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "Europe", "a\0b", "x" * 999])
def test_a_zone_that_is_gone_becomes_utc(name: str) -> None:
    assert instant_of(date(2026, 1, 1), 0, zone_of(name)) == utc("2026-01-01T00:00")
