"""/statistics: charts whose numbers are in tables, and links to what was counted."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.support.digesting import instant
from tests.web.house import House, Reader, ids

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def today(house: House) -> None:
    house.clock.now = instant("2026-07-18T12:00:00+00:00")


async def test_an_empty_library_has_nothing_to_count(ann: Reader) -> None:
    page = await ann.page("/statistics")

    assert "Nothing to count yet" in page
    assert '<svg class="chart"' not in page


async def test_the_numbers_are_in_a_table_beside_the_chart(ann: Reader) -> None:
    for day, is_read in ((1, True), (2, True), (3, False)):
        await ann.member.save(bookmarked_at=f"2026-07-0{day}T22:15:00+00:00", is_read=is_read)
    await ann.member.save(bookmarked_at="2026-05-03T08:00:00+00:00", tags=["Birds"])

    page = await ann.page("/statistics")

    assert re.search(r">Jul 2026</a></th><td class=\"r\">3</td><td class=\"r\">2</td>", page)
    assert "<title>Jul 2026: 3 saved, 2 read</title>" in page
    assert "<dt>Read</dt><dd>50&thinsp;%</dd>" in page
    assert "<dt>With a label</dt><dd>25&thinsp;%</dd>" in page
    assert re.search(r'<th scope="row">22:00</th>(<td class="r">[01]</td>){7}', page)
    assert "since <time" in page
    assert "style=" not in page


async def test_each_link_leads_to_the_posts_that_were_counted(ann: Reader) -> None:
    await ann.person.send("/account/preferences", "/account", time_zone="Europe/Berlin")
    in_month = [
        await ann.member.save(bookmarked_at=moment, author="ines", tags=["Größe & mehr"])
        for moment in ("2026-06-30T22:00:00+00:00", "2026-07-31T21:59:59.999999+00:00")
    ]
    await ann.member.change(in_month[0], is_archived=True, is_read=True)
    await ann.member.save(bookmarked_at="2026-06-30T21:59:59.999999+00:00", author="tom")
    wanted = sorted(post["post_id"] for post in in_month)

    page = await ann.page("/statistics")

    for pattern in (
        r'<th scope="row"><a href="([^"]+)">Jul 2026</a>',
        r'<a href="([^"]+)" tabindex="-1"><title>Jul 2026',
        r'<a class="line" href="([^"]+)"><span class="t"><bdi>Ada L',
        r'<a class="line" href="([^"]+)"><span class="t"><bdi>Größe',
    ):
        found = re.search(pattern, page)
        assert found, pattern
        assert sorted(ids(await ann.page(unescape(found[1])))) == wanted, pattern


async def test_a_period_is_part_of_the_address(ann: Reader) -> None:
    await ann.member.save(bookmarked_at="2026-05-03T08:00:00+00:00")

    for query, bars in [("", 24), ("?period=year", 7), ("?period=all", 3), ("?period=x", 24)]:
        page = await ann.page(f"/statistics{query}")
        assert page.count("<title>") == 1 + bars + 168, query
        assert page.count('aria-current="page"') >= 2, query


async def test_a_month_and_a_year_are_filters_in_words(ann: Reader) -> None:
    await ann.member.save(bookmarked_at="2010-10-03T08:00:00+00:00")
    await ann.member.save(bookmarked_at="2026-05-03T08:00:00+00:00")
    # With the end of summer time in a month and in a year.
    await ann.person.send("/account/preferences", "/account", time_zone="Europe/Berlin")

    for period, words in (("year", "May 2026"), ("all", "2010")):
        page = await ann.page(f"/statistics?period={period}")
        found = re.search(rf'<a href="([^"]+)">{words}</a>', page)
        assert found, period
        shown = await ann.page(unescape(found[1]))
        assert f"saved in <b><bdi>{words}</bdi></b>" in shown
        assert "saved after" not in shown
        removal = re.search(rf'href="([^"]+)">.*?Remove the filter “saved in {words}”', shown)
        assert removal
        assert "bookmarked" not in removal[1]


BOUNDS = [
    ("2026-04-30T23:59:59.999999Z", "2026-05-31T00:00:00Z"),
    ("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"),
    ("2026-04-30T23:59:59.999999Z", "9999-12-31T23:59:59Z"),
    ("0001-01-01T00:00:00Z", "0001-02-01T00:00:00Z"),
]


async def test_other_bounds_stay_as_they_were_given(ann: Reader) -> None:
    await ann.member.save(bookmarked_at="2026-05-03T08:00:00+00:00")

    for after, before in BOUNDS:
        query = urlencode({"bookmarked_from": after, "bookmarked_to": before})
        page = await ann.page(f"/library?{query}")
        assert f"saved after <b><bdi>{after}</bdi></b>" in page
        assert f"saved before <b><bdi>{before}</bdi></b>" in page


async def test_dates_are_in_the_language_of_the_browser(ann: Reader) -> None:
    await ann.member.save(bookmarked_at="2026-05-03T08:00:00+00:00")
    ann.person.client.headers["Accept-Language"] = "de"

    page = await ann.page("/statistics")

    assert 'lang="de" dir="ltr"><a href=' in page
    assert ">Mai 2026</a>" in page
    assert '<th scope="col" class="r" lang="de" dir="ltr">Mo.</th>' in page
