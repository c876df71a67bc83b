"""The forms of dates that other programs write."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model import instants
from bowerbird.sources.parsing import dates


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Wed Oct 10 20:19:24 +0000 2018", "2018-10-10T20:19:24+00:00"),
        ("Wed, 10 Oct 2018 20:19:24 -0530", "2018-10-10T20:19:24-05:30"),
        ("10 Oct 2018 20:19:24 GMT", "2018-10-10T20:19:24+00:00"),
        ("2018-10-10T20:19:24.123Z", "2018-10-10T20:19:24.123000+00:00"),
        ("2018-10-10T20:19:24+02:00", "2018-10-10T20:19:24+02:00"),
        ("2018-10-10 20:19:24+00:00", "2018-10-10T20:19:24+00:00"),
        ("2018-10-10 20:19:24 UTC", "2018-10-10T20:19:24+00:00"),
        ("2018-10-10 20:19:24 +0200", "2018-10-10T20:19:24+02:00"),
        ("2018-10-10 20:19", "2018-10-10T20:19:00+00:00"),
        ("2018-10-10", "2018-10-10T00:00:00+00:00"),
        ("2018/10/10", "2018-10-10T00:00:00+00:00"),
        ("Oct 10, 2018", "2018-10-10T00:00:00+00:00"),
        ("October 10th, 2018 at 8:19 PM", "2018-10-10T20:19:00+00:00"),
        ("Wednesday, October 10, 2018", "2018-10-10T00:00:00+00:00"),
        ("8:19 PM · Oct 10, 2018", "2018-10-10T20:19:00+00:00"),
        ("12:05 AM - 1 Jan 2018", None),
        ("10 October 2018", "2018-10-10T00:00:00+00:00"),
        ("10.12.2018", "2018-12-10T00:00:00+00:00"),
        ("12/31/2018, 12:05 AM", "2018-12-31T00:05:00+00:00"),
        ("31/12/2018 20:19", "2018-12-31T20:19:00+00:00"),
        ("10/10/2018", "2018-10-10T00:00:00+00:00"),
        # Day and month, or month and day?
        ("10/12/2018", None),
        ("1539202764", "2018-10-10T20:19:24+00:00"),
        ("1539202764.5", "2018-10-10T20:19:24.500000+00:00"),
        ("1539202764123", "2018-10-10T20:19:24.123000+00:00"),
        ("1539202764123456", "2018-10-10T20:19:24.123456+00:00"),
        (1539202764, "2018-10-10T20:19:24+00:00"),
        (1539202764123, "2018-10-10T20:19:24.123000+00:00"),
        ("2018-12-31T23:59:60Z", "2018-12-31T23:59:59+00:00"),
        ("2018-02-30", None),
        ("2018-10-10T25:00:00", None),
        ("2018-10-10 13:00 PM", None),
        ("2018-10-10 10:00 XYZ", None),
        ("2018-10-10T10:00:00+99:00", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("Wed Foo 10 20:19:24 +0000 2018", None),
        ("yesterday", None),
        ("", None),
        ("20", None),
        ("9" * 16, None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (-1, None),
        (10**400, None),
        ({}, None),
    ],
)
def test_a_date_is_read_or_is_none(text: object, date: str | None) -> None:
    assert dates.read(text) == date


_DATE_TEXT = st.text("0123456789-/.: ,+TZOctPAM\x00·٣", max_size=30)


@given(st.text() | _DATE_TEXT | st.integers() | st.floats() | st.none())
def test_whatever_is_read_is_a_date_with_an_offset(value: object) -> None:
    date = dates.read(value)

    if date is not None:
        assert instants.parse(date) is not None
        assert datetime.fromisoformat(date).tzinfo is not None


@given(st.datetimes(datetime(1990, 1, 1), datetime(2199, 12, 30)), st.sampled_from("smu"))  # noqa: DTZ001
def test_a_number_is_read_in_the_unit_it_is_in(moment: datetime, unit: str) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    scale = {"s": 1, "m": 1_000, "u": 1_000_000}[unit]

    assert dates.read(int(moment.timestamp()) * scale) == moment.isoformat()
