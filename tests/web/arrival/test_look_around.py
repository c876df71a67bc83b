"""Strangers look around in the demo: with all that it shows, and without changing anything."""

import re
from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from bowerbird.web import look_around
from tests.support.visiting import Visitor
from tests.support.waiting import until
from tests.web.house import House, Reader, build, ids

pytestmark = pytest.mark.anyio
DEMO = "/demo/library"
BANNER = "This is a demo to look around in"


async def shown(stranger: Visitor, path: str) -> str:
    page = await stranger.open(path)
    assert page.status_code == 200, (path, page.text)
    assert BANNER in page.text
    return page.text


async def test_a_stranger_reads_searches_and_opens_views_without_a_cookie(house: House) -> None:
    stranger = house.somebody()
    assert 'href="/demo/library"' in (await stranger.open("/")).text
    first = await shown(stranger, "/demo")
    # 30 posts. Those of a thread are one row.
    assert len(ids(first)) == 24
    [picture, *_] = re.findall(r'<img src="(/demo/static/[^"]+)"', first)
    assert (await stranger.open(picture)).headers["content-type"] == "image/svg+xml"
    found = await shown(stranger, f"{DEMO}?q=tides")
    [post_id] = ids(found)
    post = await shown(stranger, f"/demo/p/{post_id}")
    assert "Read this again <strong>at the harbour</strong>" in post
    assert "The best short explanation I know." in post
    assert len(ids(await shown(stranger, "/demo/views/long-reads"))) >= 4
    assert 'href="/demo/views/long-reads"' in await shown(stranger, "/demo/views")
    assert (await stranger.open("/demo/library/suggest?text=bir")).json()["labels"]
    assert not stranger.client.cookies


async def test_a_stranger_searches_by_meaning(house: House) -> None:
    stranger = house.somebody()
    path = f"{DEMO}?vector_search_term=stars+and+darkness&is_unread_only=false"

    await shown(stranger, DEMO)

    async def is_ready() -> bool:
        house.clock.now += look_around.REFILL
        return bool((await stranger.open(f"{DEMO}/meaning")).json()["mark"] == "ready")

    await until(is_ready)
    assert "Seeing in the dark" in await shown(stranger, path)


async def test_nothing_can_be_changed(house: House) -> None:
    stranger = house.somebody()
    before = await shown(stranger, DEMO)
    post_id = ids(before)[0]
    for path in ("library/change", "library/many", "library/label", f"p/{post_id}/note", "views"):
        refused = await stranger.post(
            f"/demo/{path}", read=post_id, post=post_id, note="mine", delete="long-reads"
        )
        assert refused.status_code in (400, 405), path
    assert "nothing can be changed" in (await stranger.post("/demo/library/change")).text
    after = await shown(stranger, DEMO)
    assert ids(after) == ids(before)
    assert 'class="post read"' not in after
    elsewhere = await stranger.open("/demo/import")
    assert elsewhere.status_code == 404
    assert "A library of your own has it." in elsewhere.text


async def test_nothing_of_an_account_can_be_seen(ann: Reader) -> None:
    await ann.member.save(post_id="7", text="The spare key is under the third pot.")
    await ann.page("/library")
    # Somebody who is signed in looks around in the same demo.
    for person in (ann.person, ann.house.somebody()):
        assert (await person.open("/demo/p/7")).status_code == 404
        assert not ids(await shown(person, f"{DEMO}?q=pot&is_unread_only=false"))
        assert "30 unread" in await shown(person, DEMO)
    assert "1 unread" in await ann.page("/library")


async def test_a_network_looks_at_some_pages_at_once_and_accounts_go_on(ann: Reader) -> None:
    stranger = ann.house.somebody()
    answers = [await stranger.open(f"{DEMO}/suggest?text=b") for _ in range(look_around.BURST + 1)]
    assert [answer.status_code for answer in answers] == [200] * look_around.BURST + [429]
    assert answers[-1].headers["retry-after"] == "1"
    assert await ann.page("/library")
    ann.house.clock.now += look_around.REFILL
    assert await shown(stranger, DEMO)


async def test_the_operator_can_switch_it_off(database: Database, tmp_path: Path) -> None:
    stranger = build(database, tmp_path, demo="off").somebody()
    assert (await stranger.open("/demo")).status_code == 404
    assert (await stranger.open(DEMO)).status_code == 404
    assert "Look around" not in (await stranger.open("/")).text
