"""Rows that were drawn before are shown again as long as nothing about them has changed."""

import re

import pytest

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
    assert 'class="day" dir="auto">Yesterday<' in await ann.page(ALL)


async def test_the_same_post_of_two_people_has_the_colours_of_each(
    ann: Reader, bob: Reader
) -> None:
    for reader in (ann, bob):
        await reader.member.save(post_id="77", text="same", tags=["Birds"], sort_index=5)
    path = f"/v1/labels/{await writing.label_id(ann.member, 'Birds')}"
    await writing.send(ann.member, "PATCH", path, {"color": "rust"})

    assert '<span class="dot rust"></span><bdi>Birds</bdi></a></div>' in await ann.page(ALL)
    assert "dot rust" not in await bob.page(ALL)
