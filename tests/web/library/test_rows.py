"""Rows that were drawn before are shown again as long as nothing about them has changed."""

import re

import pytest

from bowerbird.model.posts.links import LEFT, SENTENCES, FailedLink, Reason
from bowerbird.storage.links import LinkStore
from tests.support import writing
from tests.web.house import House, Reader, ids

pytestmark = pytest.mark.anyio
ALL = "/library?is_unread_only=false"


def buttons(page: str) -> list[str]:
    """The values of the buttons that mark posts: each post, and the next one."""
    return re.findall(r'name="(?:un)?read" value="([^"]*)"', page)


async def test_a_page_is_the_same_when_it_is_shown_again(ann: Reader) -> None:
    for number in range(3):
        await ann.member.save(text=f"post {number} <b>", tags=["Birds"])

    first, second = await ann.page(ALL), await ann.page(ALL)

    rows = [re.findall(r"<li id=\"p-.*?</li>", page, re.DOTALL) for page in (first, second)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3
    listed = ids(first)
    assert buttons(first) == [f"{listed[0]} {listed[1]}", f"{listed[1]} {listed[2]}", listed[2]]


async def test_every_change_is_shown(ann: Reader) -> None:
    post = await ann.member.save(text="jackdaw", tags=["Birds"], name="Ada")
    other = await ann.member.save(text="other")
    await ann.page(ALL)

    await ann.member.change(post, is_read=True)
    assert f'name="unread" value="{post["post_id"]}"' in await ann.page(ALL)
    path = f"/v1/labels/{await writing.label_id(ann.member, 'Birds')}"
    await writing.send(ann.member, "PATCH", path, {"color": "rust"})
    assert '<span class="dot rust"></span><bdi>Birds</bdi></a></div>' in await ann.page(ALL)
    await writing.send(ann.member, "PATCH", path, {"label_name": "Owls"})
    assert "<bdi>Owls</bdi></a></div>" in await ann.page(ALL)
    await ann.member.save(post_id=post["post_id"], text="magpie", sort_index=post["sort_index"])
    page = await ann.page(ALL)
    assert ">magpie</p>" in page
    assert "jackdaw" not in page
    # The next post is that of the list, not the one of the time when the row was drawn.
    assert f"{other['post_id']} {post['post_id']}" in buttons(page)
    await ann.change(ALL, trash=post["post_id"])
    assert buttons(await ann.page(ALL)) == [other["post_id"]]


async def test_day_language_time_zone_and_density_change_what_is_shown(
    ann: Reader, house: House
) -> None:
    await ann.member.save(bookmarked_at="2026-05-03T22:30:00+00:00")

    assert ">3 May" in await ann.page(ALL)
    ann.person.client.headers["Accept-Language"] = "de"
    assert ">3. Mai" in await ann.page(ALL)
    await ann.person.send("/account/preferences", "/account", time_zone="Europe/Berlin")
    assert ">4. Mai" in await ann.page(ALL)
    assert 'class="av ' in await ann.page(ALL)
    assert 'class="av ' not in await ann.page(f"{ALL}&density=compact")
    house.clock.now = 1_777_933_800_000_000  # 4 May 2026, 22:30 UTC
    assert 'class="day" dir="auto">Saved yesterday<' in await ann.page(ALL)


async def test_the_same_post_of_two_people_has_the_colours_of_each(
    ann: Reader, bob: Reader
) -> None:
    for reader in (ann, bob):
        await reader.member.save(post_id="77", text="same", tags=["Birds"], sort_index=5)
    path = f"/v1/labels/{await writing.label_id(ann.member, 'Birds')}"
    await writing.send(ann.member, "PATCH", path, {"color": "rust"})

    assert '<span class="dot rust"></span><bdi>Birds</bdi></a></div>' in await ann.page(ALL)
    assert "dot rust" not in await bob.page(ALL)


def dates(page: str, post_id: str) -> str:
    """What a row says about when, and its link."""
    row = page.partition(f'id="p-{post_id}"')[2].partition("</li>")[0]
    found = re.search(r'<a class="when".*?</a>(<span class="saved">.*?</span>)?', row)
    assert found, row
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


async def test_a_row_says_when_a_post_was_posted_and_saved(ann: Reader, house: House) -> None:
    house.clock.now = 1_777_933_800_000_000  # 4 May 2026, 22:30 UTC
    posted = "2025-08-16T06:00:00+00:00"
    post = await ann.member.save(posted_at=posted, bookmarked_at="2026-05-04T08:12:00+00:00")
    no_date = {"bookmarked_at": None, "imported_at": None, "sort_index": None}
    record = {name: value for name, value in (post | no_date).items() if value is not None}
    await ann.member.save_all([record | {"post_id": "77"}])

    page = await ann.page(ALL)
    assert dates(page, post["post_id"]) == "16 Aug 2025 saved 08:12"
    assert dates(page, "77") == "16 Aug 2025 imported today"
    assert 'class="day" dir="auto">Saved or imported today<' in page
    for other in ("&density=compact", "&sort_by=author"):
        page = await ann.page(ALL + other)
        assert dates(page, post["post_id"]) == "16 Aug 2025 saved 08:12"
        assert dates(page, "77") == "16 Aug 2025 imported today"
    page = await ann.page(f"{ALL}&sort_by=posted_at")
    assert 'class="day" dir="auto">Posted in Aug 2025<' in page
    assert "<dt>Saved</dt>" in await ann.page(f"/p/{post['post_id']}")
    assert "<dt>Imported</dt>" in await ann.page("/p/77")
    house.clock.now += 24 * 3600 * 1_000_000
    assert dates(await ann.page(ALL), "77") == "16 Aug 2025 imported yesterday"
    page = await ann.page(f"{ALL}&density=compact")
    assert dates(page, post["post_id"]) == "16 Aug 2025 saved yesterday"


@pytest.mark.both
async def test_a_link_without_its_text_shows_its_address_and_its_state(
    ann: Reader, house: House
) -> None:
    house.clock.now = 1_777_933_830_000_000  # 4 May 2026, 22:30 UTC
    await ann.member.client.post("/v1/bookmarks", json={"links": ["https://x.com/i/status/29"]})

    for path in (ALL, "/p/29"):
        page = await ann.page(path)
        assert '<span dir="ltr">x.com</span></span><b dir="auto">x.com/i/status/29</b>' in page
        assert "Saved 4 May 2026, 22:30, without its text." in page
        assert "Without text" not in page
    page = await ann.page(f"{ALL}&density=compact")
    assert ">x.com/i/status/29 (being fetched)</a>" in page
    assert "Its network is being asked for it." in await ann.page(ALL)

    failed = FailedLink("29", LEFT, Reason.NO_SOURCE, 1, 0)
    links, account_id = LinkStore(house.database), ann.member.account_id
    await house.database.write(
        lambda transaction: links.failed(transaction, account_id, [failed]), account_id
    )
    assert f"without its text. {SENTENCES[Reason.NO_SOURCE]}<" in await ann.page(ALL)
    assert "x.com/i/status/29 (not fetched)" in await ann.page(f"{ALL}&density=grid")
    assert dates(page, "29") == "saved 22:30"
