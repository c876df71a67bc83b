"""Posts that an extension sent while somebody browsed are no import that stopped."""

import httpx
import pytest

from bowerbird.library.accounts.devices import Devices
from tests.support.ingesting import listed
from tests.web.imports.conftest import text_of
from tests.web.sign_in.conftest import House

pytestmark = pytest.mark.anyio
STOPPED = "stopped before"
BROWSED = "while you browsed"


async def send_part(house: House, kind: str, reason: str) -> None:
    """An extension sends the first page of a list, and ends the run."""
    account_id = (await house.accounts.find("owner@example.com")).account_id
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


@pytest.mark.parametrize("path", ["/import", "/keys", "/sources"])
@pytest.mark.parametrize("reason", ["interrupted", ""])
async def test_a_visit_of_the_bookmarks_page_is_shown_as_one(
    house: House, path: str, reason: str
) -> None:
    person = await house.owner()
    await send_part(house, "visit", reason)

    page = text_of(await person.open(path))

    assert BROWSED in page
    assert STOPPED not in page


@pytest.mark.parametrize("path", ["/import", "/keys", "/sources"])
@pytest.mark.parametrize("kind", ["full", "incremental"])
async def test_a_sync_that_stopped_is_still_shown_as_one(
    house: House, path: str, kind: str
) -> None:
    person = await house.owner()
    await send_part(house, kind, "interrupted")

    page = text_of(await person.open(path))

    assert STOPPED in page
    assert BROWSED not in page


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
