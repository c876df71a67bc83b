"""Visits: hosts, cookies, forms, and the languages of dates."""

from contextlib import suppress
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.web.visits import visit
from bowerbird.web.visits.formats import IN_ENGLISH, Dates, Times, accepted
from bowerbird.web.visits.visit import CookieJar, OwnHosts, is_own_path

HERE = OwnHosts(Settings())

PROXIED = OwnHosts(Settings(site_url="https://posts.example.org"))


@pytest.mark.parametrize(
    ("host", "origin", "is_ip_address"),
    [
        (b"localhost:8080", "http://localhost:8080", False),
        (b"LOCALHOST:8080", "http://localhost:8080", False),
        (b"127.0.0.1:8080", "http://127.0.0.1:8080", True),
        (b"[::1]:8080", "http://[::1]:8080", True),
        (b"192.168.1.20:8080", "http://192.168.1.20:8080", True),
    ],
)
def test_a_service_without_an_address_answers_to_its_own_names(
    host: bytes,
    origin: str,
    is_ip_address: bool,  # noqa: FBT001
) -> None:
    found = HERE.of(host)

    assert (found.origin, found.is_ip_address) == (origin, is_ip_address)


@pytest.mark.parametrize(
    "host",
    [
        None,
        b"",
        b"evil.example",
        b"localhost:9090",
        b"localhost.evil.example:8080",
        b"127.0.0.1.evil",
        b"\xff",
        b"[::1",
    ],
)
def test_a_name_that_somebody_pointed_at_this_machine_is_refused(host: bytes | None) -> None:
    with pytest.raises(Refusal):
        HERE.of(host)


def test_behind_a_proxy_only_the_configured_name_and_this_machine_work() -> None:
    assert PROXIED.of(b"posts.example.org").origin == "https://posts.example.org"
    assert PROXIED.of(b"localhost:8080").origin == "http://localhost:8080"
    for other in (b"192.168.1.20:8080", b"posts.example.org:8080", b"example.org"):
        with pytest.raises(Refusal):
            PROXIED.of(other)


PLAIN = CookieJar("http://localhost:8080")

SECURE = CookieJar("https://posts.example.org")


def test_on_https_no_other_host_can_set_the_cookie() -> None:
    name, value = SECURE.write("session", "abc", 1)

    assert name == b"set-cookie"
    assert value == (
        b"__Host-bowerbird-session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure"
    )


def test_on_http_services_at_different_ports_do_not_share_a_cookie() -> None:
    other = CookieJar("http://localhost:9090")
    header = PLAIN.write("session", "mine")[1] + b"; " + other.write("session", "theirs")[1]

    assert PLAIN.read(header, "session") == "mine"
    assert other.read(header, "session") == "theirs"


@pytest.mark.parametrize("header", [None, b"", b";;=;", b"\xff\xfe=1", b"a=b; " * 5_000])
def test_a_strange_header_has_no_cookie(header: bytes | None) -> None:
    assert PLAIN.read(header, "session") == ""


@pytest.mark.parametrize("value", ["a;b", "a\r\nb", 'a"b', "ä", "a b"])
def test_a_value_cannot_end_the_cookie(value: str) -> None:
    with pytest.raises(ValueError, match="plain ASCII"):
        PLAIN.write("session", value)


def test_fields_are_read_by_name() -> None:
    assert visit.parsed(b"name=My+laptop&empty=&text=%E2%9C%93") == {
        "name": "My laptop",
        "empty": "",
        "text": "✓",
    }


@pytest.mark.parametrize(
    "body", [b"a=1&a=2", b"a=%FF", b"\xff=1", b"a=%00", b"&".join([b"a=1"] * 200)]
)
def test_a_strange_form_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal):
        visit.parsed(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_form_or_are_refused(body: bytes) -> None:
    with suppress(Refusal):
        assert all("\x00" not in value for value in visit.parsed(body).values())


@pytest.mark.parametrize("path", ["/", "/keys", "/library?q=a%20b#top"])
def test_a_path_of_this_site_is_followed(path: str) -> None:
    assert is_own_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "keys",
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/a\r\nb",
        "/ä",
        "/" * 3_000,
    ],
)
def test_a_path_of_another_site_is_not(path: str) -> None:
    assert not is_own_path(path)


DAY = date(2026, 7, 8)

MOMENT = datetime(2026, 7, 8, 5, 4, tzinfo=UTC)

# 28 August 2026, 12:00 UTC.
NOW = 1_787_918_400_000_000


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (b"", "en"),
        (b"en-US,en;q=0.9,de;q=0.8", "en"),
        (b"de-AT,de;q=0.9,en;q=0.7", "de"),
        (b"en;q=0.3, fr-CH ; q=0.9", "fr"),
        (b"tlh, *;q=0.5", "en"),
        (b"tlh,ja;q=0.1", "ja"),
        (b"zh-TW", "zh-Hant"),
        (b"zh-Hant-HK", "zh-Hant"),
        (b"zh-CN", "zh"),
        (b"pt-BR", "pt"),
        (b"pt-PT", "pt-PT"),
        (b"no", "nb"),
        (b"sr-Latn-RS", "sr-Latn"),
        (b"de;q=0, it", "it"),
        (b"de;q=nan, de;q=x, ;;=,,\xff\x00", "en"),
        (b"x" * 10_000, "en"),
        (b"de," * 5_000, "de"),
    ],
)
def test_the_first_language_that_is_known_is_used(header: bytes, language: str) -> None:
    assert accepted(header).language == language


@pytest.mark.parametrize(
    ("language", "day", "short", "month", "both"),
    [
        (b"en", "8 Jul 2026", "8 Jul", "Jul 2026", "8 Jul 2026, 05:04"),
        (b"de", "8. Juli 2026", "8. Juli", "Juli 2026", "8. Juli 2026, 05:04"),
        (b"fr", "8 juil. 2026", "8 juil.", "juil. 2026", "8 juil. 2026, 05:04"),
        (b"fi", "8.7.2026", "8.7.", "heinä 2026", "8.7.2026 5.04"),
        (b"lt", "2026-07-08", "07-08", "2026-07", "2026-07-08 05:04"),
        (b"cs", "8. 7. 2026", "8. 7.", "červenec 2026", "8. 7. 2026 5:04"),
        (b"pl", "8 lip 2026", "8 lip", "lip 2026", "8 lip 2026, 05:04"),
        (b"ja", "2026年7月8日", "7月8日", "2026年7月", "2026年7月8日 5:04"),
        (b"ar", "8 يوليو 2026", "8 يوليو", "يوليو 2026", "8 يوليو 2026، 05:04"),
    ],
)
def test_a_date_has_the_form_of_its_language(
    language: bytes, day: str, short: str, month: str, both: str
) -> None:
    words = accepted(language)

    assert (words.day(DAY), words.short(DAY), words.month(DAY)) == (day, short, month)
    assert words.day_and_time(MOMENT) == both


def test_every_language_writes_every_day_of_a_year() -> None:
    from bowerbird.web.visits.formats import _languages  # noqa: PLC0415

    for words in _languages().values():
        for month in range(1, 13):
            day = date(2026, month, 28)
            assert "28" in words.day(day)
            assert "2026" in words.day(day)
            assert "28" in words.short(day)
            assert "{" not in words.day(day) + words.short(day) + words.month(day)
        # Twelve months that can be told apart, and seven days of the week.
        assert len({words.month(date(2026, month, 1)) for month in range(1, 13)}) == 12
        assert len(words.weekdays) == 7
        assert "{" not in words.day_and_time(MOMENT)


def test_only_other_languages_than_english_are_marked() -> None:
    assert IN_ENGLISH.attributes == ""
    assert accepted(b"ja").attributes == ' lang="ja" dir="ltr"'
    assert accepted(b"fa-IR").attributes == ' lang="fa" dir="rtl"'


def test_posts_have_a_time_a_day_or_a_month_in_the_language() -> None:
    dates = Dates(Times("Europe/Berlin", accepted(b"de")), NOW)

    today = dates.of("2026-08-28T08:00:00+00:00")
    spring = dates.of("2026-03-01T23:30:00+00:00")
    earlier = dates.of("2025-03-01T12:00:00+00:00")

    assert today
    assert spring
    assert earlier
    assert (today.short, today.group) == ("10:00", "today")
    assert (spring.short, spring.group) == ("2. März", "in März 2026")
    assert (today.day, today.near, spring.near) == ("28. Aug.", "today", "2. März")
    assert (earlier.short, earlier.text) == ("1. März 2025", "1. März 2025, 13:00")


def test_a_date_from_right_to_left_does_not_reorder_an_english_sentence() -> None:
    assert Times("UTC").moment(NOW).inline == "28 Aug 2026, 12:00"
    assert Times("UTC", accepted(b"ar")).day(NOW).inline == "\u206828 أغسطس 2026\u2069"
