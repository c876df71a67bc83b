"""Proofs of who somebody is, and the page to sign in."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access.activity import Activity
from bowerbird.model.accounts import ActivityKind
from bowerbird.storage.database import Database
from tests.support.visiting import form_token, visitor
from tests.web.house import House, build
from tests.web.sign_in import ceremonies
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of

pytestmark = pytest.mark.anyio


TEN_MINUTES = 10 * 60 * MICROSECONDS

REFUSED = "This passkey could not be checked."


async def test_a_proof_allows_changes_again_and_changes_the_session(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    house.clock.now += TEN_MINUTES
    before = owner.session
    asked = await owner.open("/reauthenticate?next=/account")
    assert "To change how you sign in, sign in once more." in asked.text
    assert "Confirm with a passkey" in asked.text

    proved = await ceremonies.prove(owner, authenticator, next="/account")

    assert (proved.status_code, proved.headers["location"]) == (303, "/account")
    assert owner.session != before
    await ceremonies.add(owner, "Phone")
    page = await Activity(house.database).page(account_of(owner))
    assert ActivityKind.PROVED_AGAIN in [entry.kind for entry in page]

    # The cookie from before the proof is worthless.
    thief = house.somebody()
    [name] = [name for name in owner.client.cookies if name.endswith("-session")]
    thief.client.cookies.set(name, before)
    assert "Sign in with a passkey" in (await thief.open("/reauthenticate")).text


@pytest.mark.parametrize(
    ("path", "page", "field", "text"),
    [
        ("/keys", "/keys", "name", 'Claude "on" the läptop <b>; x=1'),
        ("/account/passkeys/options", "/account", "name", "Phone"),
        ("/account/delete", "/account/delete", "phrase", "member@example.com"),
    ],
)
async def test_what_was_typed_is_there_after_the_proof_that_its_form_asked_for(
    house: House, path: str, page: str, field: str, text: str
) -> None:
    await house.owner()
    person = await house.member("member@example.com")
    authenticator = await ceremonies.add(person)
    token = form_token((await person.open(page)).text)
    house.clock.now += TEN_MINUTES

    fields: dict[str, Any] = {"csrf": token, field: text}
    asked = await person.post(path, **fields)
    go = asked.headers.get("location") or asked.json()["go"]
    assert go == f"/reauthenticate?next={page}"
    proved = await ceremonies.prove(person, authenticator, next=page)
    shown = await person.open(proved.headers["location"])

    typed = re.search(rf'name="{field}" type="text" value="([^"]*)"', shown.text)
    assert typed
    assert unescape(typed[1]) == text
    assert "Confirmed. Press the button again to finish." in shown.text


async def test_a_form_that_somebody_takes_back_is_not_called_confirmed(house: House) -> None:
    person = await house.owner()
    authenticator = await ceremonies.add(person)
    house.clock.now += TEN_MINUTES

    asked = await person.send("/keys", "/keys", name="Laptop")
    assert "Go back without a change" in (await person.open(asked.headers["location"])).text
    shown = await person.open("/keys")

    assert 'value="Laptop"' in shown.text
    assert 'class="toast"' not in shown.text
    # No form waits any more.
    proved = await ceremonies.prove(person, authenticator, next="/keys")
    assert proved.headers["location"] == "/keys"


async def test_a_long_form_is_not_kept_for_a_proof(house: House) -> None:
    person = await house.owner()
    house.clock.now += TEN_MINUTES

    refused = await person.send("/keys", "/keys", name="n" * 5_000)

    assert refused.headers["location"] == "/reauthenticate?next=/keys"
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize("kept", ["/keys", "/keys?", "/keys?name=%FF", "/keys?name=a&name=b", "?"])
async def test_a_forged_cookie_of_a_form_breaks_nothing(house: House, kept: str) -> None:
    person = await house.owner()
    [session] = [name for name in person.client.cookies if name.endswith("-session")]
    person.client.cookies.set(session.replace("-session", "-unsent"), kept)

    assert (await person.open("/keys")).status_code == 200


async def test_a_proof_needs_a_passkey_of_the_same_account(house: House) -> None:
    owner, member = await house.owner(), await house.member("other@example.com")
    await ceremonies.add(owner)
    others = await ceremonies.add(member)
    house.clock.now += TEN_MINUTES
    before = owner.session

    refused = await ceremonies.prove(owner, others)
    assert REFUSED in refused.text

    # It claims to be the owner's.
    others.user_handle = account_of(owner).to_bytes(8, "big")
    refused = await ceremonies.prove(owner, others)
    assert refused.status_code == 400
    assert REFUSED in refused.text

    others.user_handle = b""
    assert REFUSED in (await ceremonies.prove(owner, others)).text
    assert owner.session == before
    asked = await owner.send("/account/passkeys/options", ceremonies.ANY_PAGE, name="Phone")
    assert asked.status_code == 401


async def test_an_authenticator_need_not_name_the_account_for_a_proof(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    authenticator.user_handle = b""
    house.clock.now += TEN_MINUTES

    assert (await ceremonies.prove(owner, authenticator)).status_code == 303


async def test_a_proof_of_one_session_does_not_prove_another(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    other = house.somebody()
    await ceremonies.sign_in(other, authenticator)
    house.clock.now += TEN_MINUTES

    await ceremonies.prove(owner, authenticator)

    asked = await other.send("/account/passkeys/options", ceremonies.ANY_PAGE, name="Phone")
    assert asked.status_code == 401


async def test_an_attempt_of_another_account_is_no_proof(house: House) -> None:
    owner, member = await house.owner(), await house.member("other@example.com")
    await ceremonies.add(owner)
    authenticator = await ceremonies.add(member)
    wanted = await ceremonies.options(owner, "/reauthenticate/options")
    attempt = {k: v for k, v in owner.client.cookies.items() if k.endswith("-attempt")}
    signed_in = house.somebody()
    assert (await ceremonies.sign_in(signed_in, authenticator)).status_code == 303
    signed_in.client.cookies.update(attempt)

    refused = await signed_in.send(
        "/reauthenticate", ceremonies.ANY_PAGE, credential=authenticator.sign(wanted)
    )

    assert REFUSED in refused.text


async def test_without_a_passkey_the_page_names_the_command(house: House) -> None:
    owner = await house.owner("me@example.com")
    house.clock.now += TEN_MINUTES

    asked = await owner.open("/reauthenticate?next=/keys")

    assert "To create a key" in asked.text
    assert "bowerbird account link me@example.com" in asked.text


async def test_a_person_who_just_signed_in_need_not_prove_it(house: House) -> None:
    owner = await house.owner()

    asked = await owner.client.get("/reauthenticate?next=/account")

    assert (asked.status_code, asked.headers["location"]) == (303, "/account")


async def test_proofs_are_limited_per_account_too(house: House) -> None:
    owner = await house.owner()
    await ceremonies.add(owner)
    house.clock.now += TEN_MINUTES
    answers = []
    for number in range(25):
        # The thief of a session has many addresses.
        thief = visitor(house.service, address=f"198.51.100.{number}")
        thief.client.cookies.update(owner.client.cookies)
        sent = await thief.send("/reauthenticate", ANY_PAGE, credential="{}")
        answers.append(sent.status_code)

    assert answers == [400] * 20 + [429] * 5

    # Its holder signs in again from elsewhere, which nobody can prevent.
    token = await house.links.create_for(account_of(owner))
    entered = await house.somebody().send("/link", "/link", token=token)
    assert entered.status_code == 303


async def test_an_account_without_an_address_is_named_by_its_id(house: House) -> None:
    owner = await house.owner()
    account_id = account_of(owner)
    await house.database.write(lambda t: t.run("UPDATE person SET email = ''", {}))
    house.clock.now += TEN_MINUTES

    asked = (await owner.open("/reauthenticate?next=/keys")).text

    assert f"bowerbird account link {account_id}" in asked
    assert "signed in as" not in asked


async def test_proofs_are_limited_by_address(house: House) -> None:
    owner, token = house.somebody(), await house.links.create_for_owner()
    entered = await owner.send("/link", "/link", token=token, email="owner@example.com")
    assert entered.status_code == 303, entered.text
    await ceremonies.add(owner)

    answers = [
        (await owner.send("/reauthenticate", ceremonies.ANY_PAGE, credential="{}")).status_code
        for _ in range(20)
    ]

    # The link of the owner was an attempt too.
    assert answers == [400] * 19 + [429]


async def test_a_proof_asks_only_for_passkeys_of_the_account(house: House) -> None:
    owner, member = await house.owner(), await house.member("other@example.com")
    await ceremonies.add(owner)
    await ceremonies.add(member)

    wanted = await ceremonies.options(owner, "/reauthenticate/options")

    assert len(wanted["allowCredentials"]) == 1
    assert wanted["allowCredentials"][0]["transports"] == ["hybrid", "internal"]


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
