"""The page for imports: pasted links and the list of earlier imports."""

import re

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.accounts.tokens import Devices
from bowerbird.storage.database import Transaction
from tests.support.ingesting import listed
from tests.support.visiting import form_token
from tests.web.house import House, text_of
from tests.web.imports.conftest import brought_in, checked, posts

pytestmark = pytest.mark.anyio

DAY = 86_400 * MICROSECONDS


async def count(house: House) -> int:
    rows = await house.database.rows("SELECT count(*) FROM bookmark", {})
    return int(rows[0][0])


async def test_pasted_links_are_saved(house: House) -> None:
    person = await house.owner()
    links = "https://x.com/ada/status/20\r\n\r\n  https://x.com/ada/status/21  \r\n"

    page = await person.send("/import/links", "/import", links=links)

    assert page.status_code == 200
    assert "2 posts saved." in text_of(page)
    assert await count(house) == 2


async def test_posts_that_are_only_links_show_their_progress_and_can_be_asked_for_again(
    house: House,
) -> None:
    person = await house.owner()
    links = "https://x.com/ada/status/20\nhttps://x.com/ada/status/21"
    page = await person.send("/import/links", "/import", links=links)
    assert 'data-follow="/import/fetch/2"' in page.text
    state = (await person.open("/import/fetch/5")).json()
    assert state["mark"] == "open"
    assert (state["jobs"][0]["done"], state["jobs"][0]["total"]) == (3, 5)

    async def left(transaction: Transaction) -> None:
        await transaction.run("UPDATE bare_link SET state = 'left', reason = 'gone'", {})

    await house.database.write(left)
    assert "2 of your posts are only a link" in text_of(await person.open("/import"))
    assert (await person.open("/import/fetch/2")).json()["mark"] == "done"

    await person.send("/import/fetch", "/import")
    assert "2 links are left to read." in text_of(await person.open("/import"))


async def test_a_link_that_fails_stays_in_the_field_with_the_reason(house: House) -> None:
    person = await house.owner()
    bad = "https://example.org/<script>alert(1)</script>"

    page = await person.send(
        "/import/links", "/import", links=f"https://x.com/ada/status/20\n{bad}"
    )

    assert "1 post saved, 1 is not a link to a post." in text_of(page)
    assert "is not a link to a post" in text_of(page)
    assert "links[1]" not in text_of(page)
    assert "<script>alert" not in page.text
    field = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
    assert field
    assert field[1] == "https://example.org/&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.mark.parametrize(
    ("links", "sentence"),
    [
        (" \n ", "Paste at least one link."),
        ("https://x.com/a/status/1\n" * 101, "101 links are too many at once. Paste 100 at most."),
    ],
)
async def test_too_few_or_too_many_links_are_refused(
    house: House, links: str, sentence: str
) -> None:
    person = await house.owner()

    page = await person.send("/import/links", "/import", links=links)

    assert page.status_code == 400
    assert sentence in text_of(page)
    assert await count(house) == 0


async def test_earlier_imports_are_listed_in_pages(house: House) -> None:
    person = await house.owner()
    for number in range(1, 23):
        check = await checked(house, person, posts(str(number)), f"file-{number}.json")
        await brought_in(house, person, check)

    first = await person.open("/import")
    [older] = re.findall(r'href="(/import\?before=[^"]+)"', first.text)
    second = await person.open(older)

    assert "22 in all" in text_of(first)
    assert re.findall(r"file-(\d+)\.json \(", text_of(first))[::3]
    assert "file-22.json" in first.text
    assert "file-2.json" not in first.text
    assert "file-2.json" in second.text
    assert "file-1.json" in second.text
    assert "file-3.json" not in second.text
    assert "Newest imports" in text_of(second)


async def test_an_old_import_offers_no_undo(house: House) -> None:
    person = await house.owner()
    done = await brought_in(house, person, await checked(house, person, posts("1")))
    run_id = re.findall(r'name="run" value="([^"]+)"', done.text)[0]
    assert run_id in (await person.open("/import")).text

    house.clock.now += 29 * DAY
    person = await house.owner()
    assert run_id in (await person.open("/import")).text
    house.clock.now += 2 * DAY
    page = await person.open("/import")
    late = await person.post("/import/undo", csrf=form_token(page.text), run=run_id)

    assert run_id not in page.text
    assert late.status_code == 400
    assert "can no longer be undone" in text_of(late)
    assert await count(house) == 1


async def test_an_unknown_message_or_page_does_no_harm(house: House) -> None:
    person = await house.owner()

    assert (await person.open("/import?undone=unknown")).status_code == 200
    assert (await person.client.get("/import?before=unknown")).status_code == 400


STOPPED = "stopped before"


BROWSED = "while you browsed"


async def send_part(house: House, kind: str, reason: str) -> None:
    """An extension sends the first page of a list, and ends the run."""
    account_id = await house.account_id()
    token = await Devices(house.database, house.clock).create(account_id, "Firefox, laptop")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(house.service.asgi),
        base_url="http://localhost:8080/ingest/v1",
        headers={"Authorization": f"Bearer {token}"},
    ) as laptop:
        started = await laptop.post("/runs", json={"source": "x", "kind": kind})
        run_id = started.json()["data"]["run_id"]
        page = await laptop.post(f"/runs/{run_id}/pages", json={"seq": 0, **listed([2, 1])})
        assert page.json()["data"]["inserted"] == 2
        if reason:
            await laptop.post(f"/runs/{run_id}/finish", json={"reason": reason})


@pytest.mark.parametrize(
    ("kind", "reason", "said", "unsaid"),
    [
        ("visit", "interrupted", BROWSED, STOPPED),
        ("visit", "", BROWSED, STOPPED),
        ("full", "interrupted", STOPPED, BROWSED),
        ("incremental", "interrupted", STOPPED, BROWSED),
    ],
)
async def test_a_visit_of_the_bookmarks_page_is_no_sync_that_stopped(
    house: House, kind: str, reason: str, said: str, unsaid: str
) -> None:
    person = await house.owner()
    await send_part(house, kind, reason)

    for path in ("/import", "/keys", "/sources"):
        page = text_of(await person.open(path))
        assert said in page, path
        assert unsaid not in page, path


async def test_an_undone_visit_is_shown_as_undone(house: House) -> None:
    person = await house.owner()
    await send_part(house, "visit", "interrupted")
    account = await house.accounts.find("owner@example.com")
    rows = await house.database.rows(
        "SELECT import_id FROM ingest_run WHERE account_id = :id", {"id": account.account_id}
    )

    undone = await person.send("/import/undo", "/import", run=rows[0][0])

    assert undone.status_code == 303
    page = text_of(await person.open("/import"))
    assert "undone: 2 posts removed" in page
    assert BROWSED not in page
