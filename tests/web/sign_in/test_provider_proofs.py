"""Proving with a provider who somebody is, before a change that matters."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.storage.database import Database
from tests.web.sign_in import providing
from tests.web.sign_in.ceremonies import ANY_PAGE
from tests.web.sign_in.providing import Street

pytestmark = pytest.mark.anyio
MINUTE = 60 * MICROSECONDS
CONNECT = "/account/providers/{}/connect"


@pytest.fixture
async def street(database: Database, tmp_path: Path) -> AsyncIterator[Street]:
    async with providing.street(database, tmp_path, sign_up="open") as built:
        yield built


async def test_connecting_needs_a_recent_proof(street: Street) -> None:
    person = await street.newcomer()
    street.house.clock.now += 10 * MINUTE

    for path, fields in (
        (CONNECT.format("github"), {}),
        ("/account/providers/disconnect", {"provider": "x"}),
    ):
        asked = await person.send(path, ANY_PAGE, **fields)
        assert asked.headers["location"] == "/reauthenticate?next=/account"


async def test_a_provider_proves_again_who_somebody_is(street: Street) -> None:
    person = await street.newcomer()
    street.house.clock.now += 10 * MINUTE
    asked = await person.open("/reauthenticate?next=/account")
    assert "Continue with Example ID" in asked.text
    assert "Continue with GitHub" not in asked.text
    before = person.session

    begun = await street.start(person, "/reauthenticate/oidc", next="/account")
    assert begun["prompt"] == "login"
    street.prepare(begun["nonce"], sub="ada")
    proved = await street.come_back(person, begun)

    assert (proved.status_code, proved.headers["location"]) == (303, "/account")
    assert person.session != before
    connecting = await street.go(person, CONNECT.format("github"))
    assert connecting.status_code == 303


@pytest.mark.parametrize("auth_time", [None, True, 0], ids=str)
async def test_a_provider_that_did_not_ask_again_proves_nothing(
    street: Street, auth_time: Any
) -> None:
    """Somebody at an open browser can change the address with which the provider is asked."""
    person = await street.newcomer()
    street.house.clock.now += 10 * MINUTE
    before = person.session

    begun = await street.start(person, "/reauthenticate/oidc", next="/account")
    assert begun["max_age"] == "0"
    street.prepare(begun["nonce"], sub="ada", auth_time=auth_time)
    refused = await street.come_back(person, begun)

    assert refused.status_code == 400
    assert "did not ask you to sign in again" in refused.text
    assert person.session == before


async def test_somebody_else_at_the_provider_proves_nothing(street: Street) -> None:
    person = await street.newcomer("ada")
    await street.newcomer("eve")
    street.house.clock.now += 10 * MINUTE

    for subject in ("eve", "nobody"):
        refused = await street.go(person, "/reauthenticate/oidc", subject=subject)
        assert refused.status_code == 400
        assert "is not connected to your account here." in refused.text

    asked = await person.send(CONNECT.format("github"), ANY_PAGE)
    assert asked.headers["location"] == "/reauthenticate?next=/account"


async def test_a_proof_of_one_account_does_not_serve_another(street: Street) -> None:
    """The browser signs in to another account between the two halves."""
    person = await street.newcomer("ada")
    street.house.clock.now += 10 * MINUTE
    begun = await street.start(person, "/reauthenticate/oidc")
    cookie = dict(person.client.cookies)
    eve = await street.newcomer("eve")
    [attempt] = [name for name in cookie if name.endswith("-attempt")]
    eve.client.cookies.set(attempt, cookie[attempt])
    street.prepare(begun["nonce"], sub="eve")

    refused = await street.come_back(eve, begun)

    assert refused.status_code == 400
    assert "You have signed in to another account since." in refused.text
