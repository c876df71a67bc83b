"""The page that creates the link to paste into an extension, and whether a browser has used it."""

import io
import re
import zipfile
from pathlib import Path

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.requests import limits
from bowerbird.storage.database import Database
from bowerbird.web.account import connect as connect_pages
from extension.build import build as build_extension
from tests.support.hosts.authenticator import Authenticator
from tests.support.visiting import Visitor
from tests.web.connect.conftest import code_of, redeem
from tests.web.house import House, build, text_of
from tests.web.sign_in import ceremonies, providing
from tests.web.sign_in.ceremonies import ANY_PAGE

pytestmark = pytest.mark.anyio
MINUTE = 60 * MICROSECONDS


async def test_the_page_says_what_the_extension_gets_and_creates_nothing(house: House) -> None:
    person = await house.owner()

    page = await person.open("/connect")

    assert page.status_code == 200
    assert "What the extension can do" in page.text
    assert "/#" not in page.text
    assert not await house.database.rows("SELECT * FROM one_time_link WHERE kind = 'connect'", {})


async def test_the_packed_extension_comes_from_the_service(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await house.owner()
    monkeypatch.setattr(connect_pages, "FOLDER", tmp_path / "none")
    absent = await person.open("/connect?browser=chromium")
    assert "The extension is not packed here." in absent.text
    assert (await person.open("/connect/extension/chromium")).status_code == 404

    build_extension(tmp_path)
    monkeypatch.setattr(connect_pages, "FOLDER", tmp_path)
    for browser, sign in (("chromium", "Load unpacked"), ("firefox", "Load Temporary Add-on")):
        page = (await person.open(f"/connect?browser={browser}")).text
        assert sign in page
        [path] = re.findall(r'href="(/connect/extension/[^"]+)"', page)
        file = await person.open(path)
        assert f"bowerbird-{browser}-" in file.headers["content-disposition"]
        assert "manifest.json" in zipfile.ZipFile(io.BytesIO(file.content)).namelist()
    # The header says that the browser is Firefox.
    assert "Download for Firefox" in (await person.open("/connect?browser=../x")).text
    assert (await person.open("/connect/extension/x")).status_code == 404


async def test_the_code_is_shown_once_and_only_its_hash_is_stored(house: House) -> None:
    person = await house.owner()

    code = await code_of(person)

    assert code not in (await person.open("/connect")).text
    for table in ("one_time_link", "activity"):
        rows = str(await house.database.rows(f"SELECT * FROM {table}", {}))  # noqa: S608
        assert code not in rows
        assert code.replace("-", "") not in rows


async def test_an_account_has_few_open_codes(house: House) -> None:
    person = await house.owner()
    codes = [await code_of(person) for _ in range(limits.CONNECT_CODES_MAX)]

    assert not set("".join(codes)) & set("ILOU")
    refused = await person.send("/connect", "/connect")
    assert refused.status_code == 429
    assert "You have 5 codes that were not used." in text_of(refused)

    assert (await redeem(house.service, codes[0])).status_code == 200
    await code_of(person)
    assert (await person.send("/connect", "/connect")).status_code == 429
    house.clock.now += 10 * MINUTE
    await code_of(person)


@pytest.mark.both
async def test_a_stranger_signs_in_and_comes_back(house: House) -> None:
    await house.owner()
    stranger = house.somebody()

    opened = await stranger.client.get("/connect")
    assert opened.headers["location"] == "/sign-in?next=/connect"
    token = await house.links.create_for_owner()
    entered = await stranger.send("/link", "/link", token=token)

    assert entered.headers["location"] == "/connect?said=signed-in"
    page = await stranger.open("/connect")
    assert "What the extension can do" in page.text
    # The next time, they go where everybody goes.
    token = await house.links.create_for_owner()
    entered = await stranger.send("/link", "/link", token=token)
    assert entered.headers["location"] == "/welcome?said=signed-in"


@pytest.mark.both
@pytest.mark.parametrize("mode", ["open", "invite"])
async def test_an_account_is_created_on_the_way(
    database: Database, tmp_path_factory: pytest.TempPathFactory, mode: str
) -> None:
    house = build(database, tmp_path_factory.mktemp("data"), sign_up=mode)
    await house.owner()
    person, authenticator = house.somebody(), Authenticator()
    invitation = await Invitations(database, house.clock).create() if mode == "invite" else ""
    await person.open("/connect")

    wanted = await ceremonies.options(person, "/sign-up/options", invitation=invitation)
    credential = authenticator.create(wanted)
    created = await person.send("/sign-up", ANY_PAGE, credential=credential, invitation=invitation)

    assert created.headers["location"] == "/connect?said=account-created"
    answer = await redeem(house.service, await code_of(person))
    assert answer.json()["data"]["email"] == ""


@pytest.mark.both
async def test_an_account_of_a_provider_is_created_on_the_way(
    database: Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("data")
    async with providing.street(database, folder, sign_up="open") as street:
        person = street.house.somebody()
        await person.open("/connect")
        await street.go(person)

        created = await person.send("/sign-up/offer", ANY_PAGE)

    assert created.headers["location"] == "/connect?said=account-created"


NAME = "<b>Firefox</b> on Linux"


async def new_link(person: Visitor) -> tuple[str, str]:
    """The code of a new link, and the path of its page."""
    page = (await person.send("/connect", "/connect")).text
    [code] = re.findall(r"/#([0-9A-Z]{4}-[0-9A-Z]{4})</code>", page)
    [path] = re.findall(r'href="(/connect/links/[0-9a-f]+)"', page)
    return code, path


async def state(person: Visitor, path: str) -> httpx.Response:
    return await person.client.get(f"{path}/state")


async def test_a_link_waits_until_a_browser_uses_it(house: House) -> None:
    person = await house.owner()
    code, path = await new_link(person)

    assert (await state(person, path)).json()["mark"] == "waiting"
    page = await person.open(path)
    assert "No browser has used the link yet." in text_of(page)
    assert f'href="{path}"' in page.text
    await redeem(house.service, code, NAME)

    assert (await state(person, path)).json()["mark"] == "connected"
    page = await person.open(path)
    assert f"Connected: {NAME}" in text_of(page)
    assert "<b>Firefox" not in page.text
    assert 'href="/library"' in page.text


async def test_an_expired_link_says_so(house: House) -> None:
    person = await house.owner()
    _, path = await new_link(person)

    house.clock.now += 10 * MINUTE

    assert (await state(person, path)).json()["mark"] == "over"
    page = text_of(await person.open(path))
    assert "This link no longer works." in page
    assert "Create another link" in page


@pytest.mark.both
async def test_a_browser_that_was_disconnected_is_not_shown_as_connected(house: House) -> None:
    person = await house.owner()
    code, path = await new_link(person)
    device = (await redeem(house.service, code)).json()["data"]["device_id"]

    await person.send("/keys/disconnect", "/keys", device=device)

    assert (await state(person, path)).json()["mark"] == "over"
