"""Statistics count every post of the account once, in its time zone, and nobody else's."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bowerbird.errors import Code, Refusal
from bowerbird.library import statistics
from bowerbird.library.statistics import DomainCount, Statistics, StatisticsPeriod, Summary
from bowerbird.model.accounts import Account
from bowerbird.storage.bookmarks.statistics import StatisticsStore
from tests.support import make
from tests.support.digesting import instant
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

NOW = instant("2026-07-18T12:00:00+00:00")
ALL, MONTHS, YEAR = StatisticsPeriod.ALL, StatisticsPeriod.MONTHS, StatisticsPeriod.YEAR


async def counted(
    member: Member, period: StatisticsPeriod = MONTHS, time_zone: str = "UTC", now: int = NOW
) -> Summary:
    statistics = Statistics(member.database, lambda: now)
    return await statistics.of(await member.account(), period, time_zone)


def by_month(summary: Summary) -> dict[str, tuple[int, int]]:
    return {
        f"{part.first_day:%Y-%m}": (part.saved, part.read) for part in summary.slices if part.saved
    }


async def test_posts_are_counted_by_month_and_by_whether_they_are_read(
    alice: Member, bob: Member
) -> None:
    await alice.save(bookmarked_at="2026-07-01T00:00:00+00:00", is_read=True)
    await alice.save(bookmarked_at="2026-07-18T11:00:00+00:00")
    await alice.save(bookmarked_at="2026-06-30T23:59:59.999999+00:00", is_archived=True)
    await bob.save(bookmarked_at="2026-07-02T00:00:00+00:00")

    found = await counted(alice)

    assert by_month(found) == {"2026-06": (1, 0), "2026-07": (2, 1)}
    assert (found.saved, found.read, len(found.slices)) == (3, 1, 24)
    assert found.slices[0].first_day == date(2024, 8, 1)


async def test_months_and_hours_are_those_of_the_time_zone(alice: Member) -> None:
    # Wednesday 23:30 in UTC, Thursday 1:30 in Berlin, and 5:15 in Nepal.
    await alice.save(bookmarked_at="2026-06-30T23:30:00+00:00")

    for zone, month, hour in (
        ("UTC", "2026-06", 24 + 23),
        ("Europe/Berlin", "2026-07", 48 + 1),
        ("Asia/Kathmandu", "2026-07", 48 + 5),
        ("America/New_York", "2026-06", 24 + 19),
    ):
        found = await counted(alice, time_zone=zone)
        assert by_month(found) == {month: (1, 0)}, zone
        assert [at for at, count in enumerate(found.hours) if count] == [hour], zone


async def test_requests_for_the_same_statistics_share_one_count(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await alice.save(bookmarked_at="2026-07-01T00:00:00+00:00")
    account = await alice.account()
    shared = Statistics(alice.database, lambda: NOW)
    counts: list[int] = []
    first_saved = StatisticsStore.first_saved

    async def counting(store: StatisticsStore, account: Account, earliest: int) -> int | None:
        counts.append(earliest)
        return await first_saved(store, account, earliest)

    monkeypatch.setattr(StatisticsStore, "first_saved", counting)
    waiting = [asyncio.create_task(shared.of(account, MONTHS, "UTC")) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    gone, *others = await asyncio.gather(*waiting, return_exceptions=True)

    assert isinstance(gone, asyncio.CancelledError)
    assert [one.saved for one in others if isinstance(one, Summary)] == [1, 1]
    assert await shared.of(account, MONTHS, "UTC") is others[0]
    assert len(counts) == 1


async def test_statistics_that_failed_are_counted_again(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await alice.account()
    shared = Statistics(alice.database, lambda: NOW)

    async def failing(*_: object) -> int | None:
        raise Refusal(Code.SERVICE_UNAVAILABLE, "busy")

    with monkeypatch.context() as patch:
        patch.setattr(StatisticsStore, "first_saved", failing)
        with pytest.raises(Refusal):
            await shared.of(account, MONTHS, "UTC")

    assert (await shared.of(account, MONTHS, "UTC")).saved == 0


async def test_hours_follow_the_clocks_when_they_change(alice: Member) -> None:
    # 2:00 became 3:00 in Berlin on Sunday, 29 March 2026, at 1:00 UTC.
    for moment in ("00:59:59.999999", "01:00:00"):
        await alice.save(bookmarked_at=f"2026-03-29T{moment}+00:00")

    found = await counted(alice, time_zone="Europe/Berlin")

    sunday = 6 * 24
    assert {at: n for at, n in enumerate(found.hours) if n} == {sunday + 1: 1, sunday + 3: 1}


@pytest.mark.parametrize(
    "name", ["UTC", "Europe/Berlin", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia"]
)
async def test_every_instant_of_a_slice_has_the_shift_of_its_zone(name: str) -> None:
    zone = ZoneInfo(name)
    for part in statistics.slices(MONTHS, zone, instant("2012-06-01T00:00:00+00:00"), 0):
        spans = statistics.shifted(part, zone)
        assert (spans[0].start, spans[-1].end) == (part.start, part.end)
        assert [a.end for a in spans[:-1]] == [b.start for b in spans[1:]]
        for span in spans:
            for at in (span.start, (span.start + span.end) // 2, span.end - 1):
                moment = datetime.fromtimestamp(at // 1_000_000, UTC).astimezone(zone)
                offset = (moment.utcoffset() or timedelta()) // timedelta(microseconds=1)
                assert span.shift == offset + 3 * 86_400_000_000


async def test_all_is_by_month_at_first_and_by_year_later(alice: Member) -> None:
    await alice.save(bookmarked_at="2024-02-10T00:00:00+00:00")

    by_months = await counted(alice, ALL)
    assert (by_months.is_by_year, by_months.slices[0].first_day) == (False, date(2024, 2, 1))

    await alice.save(bookmarked_at="2019-05-01T00:00:00+00:00")
    by_years = await counted(alice, ALL)
    assert by_years.is_by_year
    assert [(part.first_day.year, part.saved) for part in by_years.slices if part.saved] == [
        (2019, 1),
        (2024, 1),
    ]
    assert len(by_years.slices) == 8
    assert by_years.first_day == date(2019, 5, 1)


async def test_dates_that_cannot_be_true_make_no_long_chart(alice: Member) -> None:
    await alice.save(bookmarked_at="0001-01-02T00:00:00+00:00")
    await alice.save(bookmarked_at="9998-12-30T00:00:00+00:00")
    await alice.save(bookmarked_at="1999-12-30T00:00:00+00:00")

    for zone in ("UTC", "Pacific/Kiritimati"):
        found = await counted(alice, ALL, zone)
        assert len(found.slices) == 28
        assert found.saved == 1


async def test_this_year_ends_with_the_current_month(alice: Member) -> None:
    await alice.save(bookmarked_at="2025-12-31T23:59:59+00:00")

    found = await counted(alice, YEAR)

    assert [part.first_day.month for part in found.slices] == [1, 2, 3, 4, 5, 6, 7]
    assert found.saved == 0


@pytest.mark.both
async def test_authors_labels_and_sites_are_those_with_the_most_posts(alice: Member) -> None:
    when = {"bookmarked_at": "2026-07-02T00:00:00+00:00"}
    card = {"type": "link", "url": "https://WWW.Example.org:8080/a", "title": "a"}
    await alice.save(author="tom", name="Tom", tags=["b", "a"], attachments=[card], **when)
    await alice.save(author="Tom", name="Tom K.", tags=["a"], text="http://example.org/b", **when)
    shared = "https://t.co/x https://b.example/?q, https://b.example"
    await alice.save(author="ines", text=shared, **when)
    await alice.save(author="", text="no link: https:// www. http://[::1]/ https://x", **when)
    await alice.save(author="old", tags=["c"], bookmarked_at="2020-01-01T00:00:00+00:00")

    found = await counted(alice)

    assert [(each.author_username, each.count) for each in found.authors] == [
        ("Tom", 2),
        ("ines", 1),
    ]
    assert found.authors[0].author_name == "Tom K."
    assert found.author_total == 2
    assert [(each.label_name, each.count) for each in found.labels] == [("a", 2), ("b", 1)]
    assert found.labelled == 2
    assert found.domains == [DomainCount("example.org", 2), DomainCount("b.example", 1)]
    assert found.linked_posts == 4


async def test_an_empty_library_has_empty_statistics(alice: Member) -> None:
    for period in StatisticsPeriod:
        found = await counted(alice, period)
        assert (found.saved, found.read, found.author_total, found.labelled) == (0, 0, 0, 0)
        assert not any(found.hours)


async def test_posts_are_counted_again_after_the_library_has_changed(cast: Service) -> None:
    kept = Statistics(cast.database, lambda: NOW)
    for saved in (1, 2):
        await cast.alice.save(bookmarked_at="2026-07-02T00:00:00+00:00")
        found = [await kept.of(await cast.alice.account(), MONTHS, "UTC") for _ in range(2)]
        assert [one.saved for one in found] == [saved, saved]


async def test_links_are_read_from_the_newest_posts_only(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "bowerbird.library.statistics"
    monkeypatch.setattr(f"{module}.LINKED_POSTS_MAX", 4)
    monkeypatch.setattr(f"{module}._LINKED_PER_READ", 2)
    posts = [
        make.post(text=f"https://{name}.example/", bookmarked_at=f"2026-07-0{day}T00:00:00+00:00")
        for name, day in (("a", 1), ("b", 2), ("b", 2), ("c", 2), ("d", 3), ("d", 3))
    ]
    await alice.save_all(posts)

    found = await counted(alice)

    assert found.linked_posts == 4
    assert found.domains[0] == DomainCount("d.example", 2)
    assert "a.example" not in [each.domain for each in found.domains]
