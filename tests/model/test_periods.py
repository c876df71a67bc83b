"""Days and weeks in every time zone, across clock changes."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.digests import digest_id, period_of
from bowerbird.model.instants import (
    Period,
    PeriodKind,
    instant_of,
    latest_due,
    local_day,
    period_containing,
    zone_names,
    zone_of,
)

DAILY, WEEKLY = PeriodKind.DAILY, PeriodKind.WEEKLY
HOUR = 3_600_000_000
# Zones with unusual offsets or days. Hypothesis also tries all other zones.
UNUSUAL = (
    *("Europe/Berlin", "Pacific/Apia", "Asia/Kathmandu", "America/St_Johns", "Africa/Cairo"),
    *("Australia/Lord_Howe", "America/Havana", "Asia/Beirut", "America/Nuuk", "Pacific/Chatham"),
    *("Pacific/Kwajalein", "America/Sao_Paulo", "Antarctica/Troll", "Africa/Casablanca"),
)
zones = st.sampled_from(UNUSUAL) | st.sampled_from(sorted(zone_names()))
kinds = st.sampled_from(PeriodKind)
hours = st.integers(0, 23)
instants = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(  # noqa: DTZ001 - converted to UTC below
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
def test_every_instant_is_in_the_period_of_its_day(kind: PeriodKind, name: str, now: int) -> None:
    zone = ZoneInfo(name)

    period = period_containing(kind, local_day(now, zone))

    assert period.start(zone) <= now < period.end(zone)


@given(kinds, st.dates(date(1990, 1, 1), date(2040, 1, 1)))
def test_a_digest_id_is_parsed_to_its_period(kind: PeriodKind, day: date) -> None:
    period = period_containing(kind, day)

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
def test_any_other_text_is_not_a_digest_id(name: str) -> None:
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
        # The clocks skip the hour after midnight, so the day begins at one.
        ("Africa/Cairo", date(2026, 4, 24), "2026-04-23T22:00", 23),
        # At midnight the clocks go back to eleven, so the day before is longer.
        ("Africa/Cairo", date(2026, 10, 29), "2026-10-28T21:00", 25),
        # The hour after midnight occurs twice.
        ("America/Havana", date(2026, 11, 1), "2026-11-01T04:00", 25),
    ],
)
def test_a_day_has_the_length_that_its_zone_gives_it(
    zone: str, day: date, start: str, hours: float
) -> None:
    period = Period(DAILY, day)

    assert period.start(ZoneInfo(zone)) == utc(start)
    assert period.end(ZoneInfo(zone)) - period.start(ZoneInfo(zone)) == hours * HOUR


def test_a_day_that_never_happened_is_skipped() -> None:
    apia = ZoneInfo("Pacific/Apia")
    before = Period(DAILY, date(2011, 12, 29))

    assert before.following(apia).first_day == date(2011, 12, 31)
    assert latest_due(DAILY, apia, 8, utc("2011-12-30T17:59")).first_day == date(2011, 12, 28)
    assert latest_due(DAILY, apia, 8, utc("2011-12-30T18:00")).first_day == date(2011, 12, 29)
    assert latest_due(DAILY, apia, 8, utc("2011-12-31T18:00")).first_day == date(2011, 12, 31)


def test_a_week_with_a_skipped_day_has_six_days() -> None:
    apia = ZoneInfo("Pacific/Apia")
    week = period_containing(WEEKLY, date(2011, 12, 29))

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
def test_a_digest_is_due_at_the_hour_on_the_next_day(
    kind: PeriodKind, zone: str, hour: int, due: str
) -> None:
    assert Period(kind, date(2026, 7, 13)).due(ZoneInfo(zone), hour) == utc(due)


def test_a_skipped_hour_is_the_instant_of_the_clock_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")

    assert Period(DAILY, date(2026, 3, 28)).due(berlin, 2) == utc("2026-03-29T01:00")
    assert Period(DAILY, date(2026, 3, 28)).due(berlin, 3) == utc("2026-03-29T01:00")


def test_the_first_of_two_equal_hours_counts() -> None:
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
def test_one_year_earlier_means_the_same_calendar_days(
    day: date, kind: PeriodKind, first: date
) -> None:
    found, after = Period(kind, day).a_year_before()

    assert found == first
    assert after - found == timedelta(days=kind.days)


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "Europe", "a\0b", "x" * 999])
def test_an_unknown_zone_becomes_utc(name: str) -> None:
    assert instant_of(date(2026, 1, 1), 0, zone_of(name)) == utc("2026-01-01T00:00")
