"""The page on which people sign in."""

from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from tests.support.visiting import visitor
from tests.web.house import House, build
from tests.web.sign_in import ceremonies

pytestmark = pytest.mark.anyio


async def test_the_page_offers_passkeys_and_says_how_the_owner_gets_a_link(house: House) -> None:
    shown = await house.somebody().open("/sign-in?next=/keys")

    assert shown.status_code == 200
    assert shown.headers["cache-control"] == "no-store"
    assert 'data-passkey="sign-in"' in shown.text
    assert 'name="next" value="/keys"' in shown.text
    assert "bowerbird account link" in shown.text
    assert "This service accepts no new accounts." in shown.text


async def test_somebody_who_is_signed_in_goes_on(house: House) -> None:
    owner = await house.owner()

    for wanted, reached in [("/account", "/account"), ("https://evil.example", "/")]:
        went = await owner.client.get("/sign-in", params={"next": wanted})
        assert (went.status_code, went.headers["location"]) == (303, reached)


async def test_a_refused_passkey_keeps_the_page_to_return_to(house: House) -> None:
    person = house.somebody()
    await ceremonies.options(person, "/sign-in/passkey/options")

    refused = await person.send("/sign-in/passkey", "/sign-in", credential="{}", next="/account")

    assert 'role="alert"' in refused.text
    assert 'name="next" value="/account"' in refused.text


async def test_an_ip_address_names_the_address_where_passkeys_work(house: House) -> None:
    shown = await visitor(house.service, "http://127.0.0.1:8080").open("/sign-in")

    assert 'data-passkey="sign-in"' not in shown.text
    assert '<a href="http://localhost:8080/sign-in">' in shown.text


async def test_a_site_that_has_only_an_ip_address_says_what_to_do(
    sqlite: Database, tmp_path: Path
) -> None:
    house = build(sqlite, tmp_path, site_url="http://192.0.2.1:8080")

    shown = await visitor(house.service, "http://192.0.2.1:8080").open("/sign-in")

    assert 'data-passkey="sign-in"' not in shown.text
    assert "BOWERBIRD_SITE_URL" in shown.text


async def test_passkeys_belong_to_the_configured_site(sqlite: Database, tmp_path: Path) -> None:
    house = build(sqlite, tmp_path, site_url="https://posts.example.org/library")

    local = await visitor(house.service, "http://localhost:8080").open("/sign-in")
    assert '<a href="https://posts.example.org/library/sign-in">' in local.text

    wanted = await ceremonies.options(
        house.somebody("https://posts.example.org"), "/sign-in/passkey/options"
    )
    assert wanted["rpId"] == "posts.example.org"
