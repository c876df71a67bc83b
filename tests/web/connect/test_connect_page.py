"""The page that creates the link to paste into an extension."""

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.sign_in.invitations import Invitations
from bowerbird.requests import limits
from bowerbird.storage.database import Database
from tests.support.authenticator import Authenticator
from tests.support.visiting import form_token
from tests.web.account.conftest import text_of
from tests.web.connect.conftest import code_of, redeem
from tests.web.sign_in import ceremonies, providing
from tests.web.sign_in.ceremonies import ANY_PAGE
from tests.web.sign_in.conftest import House, build

pytestmark = [pytest.mark.anyio, pytest.mark.both]
MINUTE = 60 * MICROSECONDS


async def test_the_page_says_what_the_extension_gets_and_creates_nothing(house: House) -> None:
    person = await house.owner()

    page = await person.open("/connect")

    assert page.status_code == 200
    assert "What the extension can do" in page.text
    assert "/#" not in page.text
    assert not await house.database.rows("SELECT * FROM one_time_link WHERE kind = 'connect'", {})


async def test_the_code_is_shown_once_and_only_its_hash_is_stored(house: House) -> None:
    person = await house.owner()

    code = await code_of(person)

    assert code not in (await person.open("/connect")).text
    for table in ("one_time_link", "activity"):
        rows = str(await house.database.rows(f"SELECT * FROM {table}", {}))  # noqa: S608
        assert code not in rows
        assert code.replace("-", "") not in rows


async def test_codes_differ_and_have_no_ambiguous_characters(house: House) -> None:
    person = await house.owner()

    codes = [await code_of(person) for _ in range(limits.CONNECT_CODES_MAX)]

    assert len(set(codes)) == limits.CONNECT_CODES_MAX
    assert not set("".join(codes)) & set("ILOU")


async def test_an_account_has_few_open_codes(house: House) -> None:
    person = await house.owner()
    codes = [await code_of(person) for _ in range(limits.CONNECT_CODES_MAX)]

    refused = await person.send("/connect", "/connect")
    assert refused.status_code == 429
    assert "You have 5 codes that were not used." in text_of(refused)

    assert (await redeem(house.service, codes[0])).status_code == 200
    await code_of(person)
    assert (await person.send("/connect", "/connect")).status_code == 429
    house.clock.now += 10 * MINUTE
    await code_of(person)


async def test_creating_a_code_needs_a_form_of_this_site(house: House) -> None:
    person = await house.owner()

    page = await person.open("/connect")

    elsewhere = {"Origin": "https://evil.example"}
    by_another = await person.post("/connect", headers=elsewhere, csrf=form_token(page.text))
    without_token = await person.post("/connect", csrf="")

    assert by_another.status_code == without_token.status_code == 403
    assert not await house.database.rows("SELECT * FROM one_time_link WHERE kind = 'connect'", {})


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
    assert entered.headers["location"] == "/account?said=signed-in#methods"


async def test_a_stranger_creates_no_code(house: House) -> None:
    await house.owner()
    stranger = house.somebody()

    answer = await stranger.send("/connect", "/sign-in")

    assert answer.headers["location"] == "/sign-in?next=/connect"
    assert not await house.database.rows("SELECT * FROM one_time_link WHERE kind = 'connect'", {})


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


async def test_pages_lead_to_the_connection(house: House) -> None:
    person = await house.owner()

    for path in ("/keys", "/import", "/library"):
        assert 'href="/connect"' in (await person.open(path)).text, path
