"""/digests: the list, one digest to read, and the schedule."""

import re
from html import unescape
from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.digests import DigestStore
from tests.support import digesting
from tests.web.house import Reader, build, ids

pytestmark = pytest.mark.anyio

SAVED = {"bookmarked_at": "2026-07-14T10:00:00+00:00"}


async def made(ann: Reader, at: str = digesting.MONDAY) -> None:
    await digesting.make(ann.member, at)


async def test_an_empty_list_says_when_the_first_digest_comes(ann: Reader) -> None:
    ann.house.clock.now = digesting.instant("2026-07-15T10:00:00+00:00")

    page = await ann.page("/digests")

    assert "No digest yet" in page
    assert ">20 Jul 2026, 08:00</time>" in page


async def test_digests_that_are_turned_off_are_said_to_be(ann: Reader) -> None:
    sent = await ann.person.send("/digests", "/digests", frequency="off", hour="7")

    assert sent.headers["location"] == "/digests?said=preferences-saved#schedule"
    page = await ann.page("/digests?said=preferences-saved")
    assert "Digests are turned off." in page
    assert "Your preferences are saved." in page
    assert '<option value="off" selected>' in page
    assert '<option value="7" selected>07:00' in page
    assert 'href="/digests#schedule"' in await ann.page("/account")


async def test_a_switch_that_cannot_be_used_changes_nothing(
    database: Database, tmp_path: Path
) -> None:
    house = build(database, tmp_path, smtp_url="smtp://127.0.0.1:9", mail_from="posts@example.org")
    person = await house.owner()
    await person.send("/digests", "/digests", hour="9", mail="true")
    store, account_id = DigestStore(database), await house.account_id()
    assert (await store.preferences(account_id)).is_mailed

    without_mail = build(database, tmp_path).somebody()
    without_mail.client.cookies = person.client.cookies
    await without_mail.send("/digests", "/digests", hour="9")
    assert (await store.preferences(account_id)).is_mailed

    await person.send("/digests", "/digests", hour="9")
    assert not (await store.preferences(account_id)).is_mailed


async def test_the_list_is_paged_and_links_to_each_digest(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.web.digests._PER_PAGE", 2)
    for week in range(3):
        await ann.member.save(bookmarked_at=f"2026-07-{14 + 7 * week}T10:00:00+00:00")
        await made(ann, ("2026-07-20", "2026-07-27", "2026-08-03")[week] + "T08:00:00+00:00")

    first = await ann.page("/digests")
    older = re.search(r'href="(/digests\?cursor=[^"]+)"', first)
    assert older
    second = await ann.page(unescape(older[1]))

    links = [re.findall(r'href="/digests/([^"]+)"', page) for page in (first, second)]
    assert links == [["weekly-2026-07-27", "weekly-2026-07-20"], ["weekly-2026-07-13"]]
    assert ">20 to 26 July 2026</b>" in first
    assert "1 post saved" in first
    assert "3 digests" in second


async def test_a_digest_shows_its_posts_and_links_to_them(ann: Reader) -> None:
    saved = await ann.member.save(
        text="the new one", name="Ines", tags=["Birds"], bookmarked_at="2026-07-21T10:00:00+00:00"
    )
    old = await ann.member.save(text="a forgotten one", bookmarked_at="2025-01-05T10:00:00+00:00")
    year = await ann.member.save(
        text="from last year", is_read=True, bookmarked_at="2025-07-21T10:00:00+00:00"
    )
    await ann.member.save(text="earlier", **SAVED)
    await made(ann)
    await made(ann, "2026-07-27T08:00:00+00:00")

    page = await ann.page("/digests/weekly-2026-07-20")

    assert ">20 to 26 July 2026</bdi></h1>" in page
    assert "You saved 1 post this week." in page
    assert "<bdi>Birds</bdi></a> (1)." in page
    for post, text in ((saved, "the new one"), (old, "a forgotten one"), (year, "from last year")):
        assert re.search(rf'<a href="/p/{post["post_id"]}" dir="auto">{text}</a>', page), text
    assert page.index("A year ago that week") < page.index(">Saved</h2>")
    assert 'href="/digests/weekly-2026-07-13"' in page
    assert "Not sent by email." in page
    assert ">3 Aug 2026, 08:00</time>" in page


async def test_the_posts_of_the_period_are_listed(ann: Reader) -> None:
    edges = [
        await ann.member.save(bookmarked_at=f"2026-07-{moment}+00:00")
        for moment in ("13T00:00:00", "19T23:59:59.999999")
    ]
    await ann.member.save(bookmarked_at="2026-07-12T23:59:59.999999+00:00")
    await ann.member.save(bookmarked_at="2026-07-20T00:00:00+00:00")
    await made(ann)

    page = await ann.page("/digests/latest")
    found = re.search(r'href="([^"]+)">All 2 of the week', page)

    assert found
    listed = await ann.page(unescape(found[1]))
    assert sorted(ids(listed)) == sorted(post["post_id"] for post in edges)


async def test_dates_are_in_the_language_and_right_to_left(ann: Reader) -> None:
    await ann.member.save(text="شكرا", **SAVED)
    await made(ann)
    ann.person.client.headers["Accept-Language"] = "ar"

    page = await ann.page("/digests/latest")

    assert (
        '<h1 id="days"><bdi lang="ar" dir="rtl">13 يوليو 2026 \u2013 19 يوليو 2026</bdi></h1>'
        in page
    )
    assert 'dir="auto" lang="ar">شكرا</a>' in page


async def test_a_free_account_gets_no_link_that_its_plan_refuses(free: Reader) -> None:
    await free.member.save(tags=["Birds"], **SAVED)
    await made(free)

    page = await free.page("/digests/latest")

    assert "tag=Birds" not in page
    assert "bookmarked_from" not in page


async def test_a_digest_whose_posts_are_deleted_says_so(ann: Reader) -> None:
    post = await ann.member.save(**SAVED)
    await made(ann)
    await ann.member.remove(post["post_id"])

    page = await ann.page("/digests/latest")

    assert "no longer in your library" in page


async def test_a_cursor_that_is_none_shows_the_first_page(ann: Reader) -> None:
    shown = await ann.person.open("/digests?cursor=nonsense")

    assert (shown.status_code, shown.url.query) == (200, b"")
