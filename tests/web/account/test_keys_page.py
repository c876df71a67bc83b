"""The page for keys: create, list and revoke them, and disconnect extensions."""

from datetime import date
from pathlib import Path

import httpx
import pytest

from bowerbird import app
from bowerbird.clock import MICROSECONDS
from bowerbird.library.accounts.tokens import Devices
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.wire.deprecation import Deprecation
from tests.sources.x import pages as shapes
from tests.support.ingesting import captured
from tests.support.models import MODELS
from tests.support.visiting import Visitor, form_token, visitor
from tests.web.house import House, field_in, key_in, text_of

pytestmark = pytest.mark.anyio

MINUTE = 60 * MICROSECONDS
DAY = 24 * 60 * MINUTE


async def created(person: Visitor, name: str = "laptop") -> httpx.Response:
    page = await person.send("/keys", "/keys", name=name)
    assert page.status_code == 200, page.text
    return page


async def call(house: House, key: str, path: str = "/v1/bookmarks") -> int:
    """A call of the API as a program makes it."""
    transport = httpx.ASGITransport(house.service.asgi)
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        return (await client.get(path, headers=headers)).status_code


async def written(house: House) -> object:
    """Changes when the row of a key is written."""
    if (generation := house.database.generation()) is not None:
        return generation
    return [tuple(row) for row in await house.database.rows("SELECT xmin::text FROM api_key", {})]


async def test_a_created_key_works_until_it_is_revoked(house: House) -> None:
    person = await house.owner()

    page = await created(person)
    key = key_in(page)
    assert await call(house, key) == 200

    [key_id] = set(field_in(page, "key"))
    revoked = await person.send("/keys/revoke", "/keys", key=key_id)

    assert revoked.headers["location"] == "/keys?said=key-revoked"
    assert await call(house, key) == 401
    assert "No keys yet" in (await person.open("/keys")).text


async def test_a_new_key_is_shown_once_and_is_in_no_url(house: House) -> None:
    person = await house.owner()

    page = await created(person)
    key = key_in(page)

    assert page.headers["cache-control"] == "no-store"
    assert "location" not in page.headers
    listed = await person.open("/keys")
    assert key not in listed.text
    assert f"{key[:19]}…" in listed.text
    assert key not in str(await house.database.rows("SELECT * FROM api_key", {}))
    assert key not in str(await house.database.rows("SELECT * FROM activity", {}))


async def test_a_page_with_a_new_key_makes_no_second_one_when_it_is_loaded_again(
    house: House,
) -> None:
    person = await house.owner()
    token = form_token((await person.open("/keys")).text)
    key = key_in(await person.post("/keys", csrf=token, name="laptop"))

    again = await person.post("/keys", csrf=token, name="laptop")

    assert again.headers["location"] == "/keys?said=sent-before"
    listed = await person.open("/keys?said=sent-before")
    assert len(field_in(listed, "key")) == 1
    assert "The form was not sent again." in text_of(listed)
    assert await call(house, key) == 200
    # The same page may have a form for another key: browsers restore it.
    await person.post("/keys", csrf=token, name="phone")
    assert len(field_in(await person.open("/keys"), "key")) == 2


async def test_a_script_that_asks_for_json_gets_the_page_of_its_new_key(house: House) -> None:
    person = await house.owner()
    token = form_token((await person.open("/keys")).text)

    page = await person.post(
        "/keys", headers={"accept": "application/json"}, csrf=token, name="laptop"
    )

    assert await call(house, key_in(page)) == 200


async def test_calls_write_a_use_once_per_day(house: House) -> None:
    key = key_in(await created(await house.owner()))

    for _ in range(3):
        assert await call(house, key) == 200
    await house.service.key_uses.flush()
    before = await written(house)
    assert await call(house, key) == 200
    await house.service.key_uses.flush()
    assert await written(house) == before

    house.clock.now += DAY
    assert await call(house, key) == 200
    await house.service.key_uses.flush()
    assert await written(house) != before


async def test_a_key_that_does_not_exist_is_reported_and_nothing_breaks(house: House) -> None:
    person = await house.owner()
    for key in ("", "nothing", "\ud7ff", "'; --", "x" * 5_000):
        revoked = await person.send("/keys/revoke", "/keys", key=key)
        assert revoked.headers["location"] == "/keys?said=key-revoked-before", key


async def test_the_number_of_keys_is_bounded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEYS_MAX", 2)
    person = await house.owner()
    first = await created(person)
    await created(person)

    refused = await person.send("/keys", "/keys", name="third")
    assert refused.status_code == 400
    assert "2 keys, the maximum" in refused.text

    await person.send("/keys/revoke", "/keys", key=field_in(first, "key")[0])
    await created(person, "third")


async def test_connected_extensions_are_listed_and_disconnected(house: House) -> None:
    person = await house.owner()
    account_id = await house.account_id()
    devices = Devices(house.database, house.clock)
    token = await devices.create(account_id, "Firefox, laptop")

    page = await person.open("/keys")
    assert "Firefox, laptop" in page.text
    assert "never" in text_of(page)
    assert "none yet" in page.text
    gone = await person.send("/keys/disconnect", "/keys", device=field_in(page, "device")[0])

    assert gone.headers["location"] == "/keys?said=extension-disconnected"
    assert await devices.caller(token) is None
    assert "No browser is connected" in (await person.open("/keys")).text


async def test_an_extension_is_shown_with_its_account_its_last_use_and_its_last_run(
    house: House,
) -> None:
    person = await house.owner()
    account_id = await house.account_id()
    devices = Devices(house.database, house.clock)
    token = await devices.create(account_id, "Firefox, laptop")
    await devices.create(account_id, "another")
    transport = httpx.ASGITransport(house.service.asgi)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost:8080/ingest/v1", headers=headers
    ) as laptop:
        request = {"source": "x", "kind": "full", "source_user_id": "1893726451"}
        run_id = (await laptop.post("/runs", json=request)).json()["data"]["run_id"]
        running = text_of(await person.open("/keys"))
        house.clock.now += 61 * MINUTE
        silent = text_of(await person.open("/keys"))
        empty = shapes.document(shapes.add_entries(shapes.cursor(stopOnEmptyResponse=True)))
        await laptop.post(f"/runs/{run_id}/pages", json={"seq": 0, **captured(empty)})
        await laptop.post(f"/runs/{run_id}/finish", json={"reason": "end"})
        complete = text_of(await person.open("/keys"))
        house.clock.now += MINUTE
        run_id = (await laptop.post("/runs", json=request)).json()["data"]["run_id"]
        await laptop.post(f"/runs/{run_id}/finish", json={"reason": "gave_up"})
        # The extension also sends posts that the person opens, in runs that list nothing.
        side = {**request, "kind": "incremental"}
        run_id = (await laptop.post("/runs", json=side)).json()["data"]["run_id"]
        await laptop.post(f"/runs/{run_id}/finish", json={"reason": "end"})
        stopped = text_of(await person.open("/keys"))
        sources = text_of(await person.open("/sources"))

    assert "Firefox, laptop X account number 1893726451 18 Jul 2026" in running
    assert "running, last page 18 Jul 2026" in running
    assert "stopped before the end, 18 Jul 2026" in silent
    assert "complete, 18 Jul 2026" in complete
    assert "stopped before the end, 18 Jul 2026" in stopped
    assert "another never none yet" in stopped
    assert "Firefox, laptop stopped before the end" in sources


async def test_people_see_when_a_version_that_they_call_ends(
    database: Database, tmp_path: Path, house: House
) -> None:
    row = Deprecation(
        method="*",
        path="/v1",
        since=date(2026, 7, 1),
        sunset=date(2027, 7, 1),
        note="/docs#versioning",
    )
    house.service = app.build(
        Settings(data_dir=tmp_path), database, house.clock, MODELS, deprecations=[row]
    )
    person = await house.owner()
    key = key_in(await created(person))
    assert "which ends on" not in (await person.open("/keys")).text

    await call(house, key)
    await house.service.uses.flush()

    page = await person.open("/keys")
    assert "version v1 of the API, which ends on 1 Jul 2027" in text_of(page)
    assert "/docs#versioning" in page.text
    other = await house.member("other@example.com")
    assert "which ends on" not in (await other.open("/keys")).text


async def test_no_session_is_accepted_by_the_api_and_no_key_by_the_site(house: House) -> None:
    person = await house.owner()
    key = key_in(await created(person))

    for path in ("/v1/bookmarks", "/v1/account", "/ingest/v1/status"):
        assert (await person.client.get(path)).status_code == 401, path
    for token in (person.session, f"Bearer {person.session}"):
        answer = await person.client.get("/v1/bookmarks", headers={"Authorization": token})
        assert answer.status_code == 401
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await person.client.post("/mcp", json=asked)).status_code == 401

    stranger = visitor(house.service)
    stranger.client.headers["Authorization"] = f"Bearer {key}"
    for path in ("/account", "/activity", "/account/delete"):
        answer = await stranger.client.get(path)
        assert answer.headers["location"].startswith("/sign-in?next="), path
    assert "Your keys" not in (await stranger.open("/keys")).text
