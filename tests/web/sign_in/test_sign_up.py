"""Creating accounts on the website: closed, by invitation and open."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access.call_allowance import BURST
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.storage.database import Database
from bowerbird.web.sign_in.sign_up import SIGN_UPS_PER_DAY
from tests.support.hosts.authenticator import Authenticator
from tests.support.visiting import Visitor
from tests.web.sign_in import ceremonies, providing
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of
from tests.web.sign_in.providing import Street

pytestmark = pytest.mark.anyio
DAY = 86_400 * MICROSECONDS
CREATED = "/welcome?said=account-created"


@pytest.fixture
async def street(
    request: pytest.FixtureRequest, database: Database, tmp_path: Path
) -> AsyncIterator[Street]:
    settings: dict[str, Any] = getattr(request, "param", {"sign_up": "open"})
    async with providing.street(database, tmp_path, **settings) as built:
        yield built


def setting(**values: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("street", [values], indirect=True, ids=[values["sign_up"]])


async def with_passkey(
    person: Visitor, authenticator: Authenticator, **fields: str
) -> httpx.Response:
    wanted = await ceremonies.options(person, "/sign-up/options", **fields)
    credential = authenticator.create(wanted)
    return await person.send("/sign-up", ANY_PAGE, credential=credential, **fields)


async def count(street: Street, table: str) -> int:
    rows = await street.house.database.rows(f"SELECT count(*) FROM {table}", {})  # noqa: S608
    return int(rows[0][0])


def invitations(street: Street) -> Invitations:
    return Invitations(street.house.database, street.house.clock)


async def test_a_provider_creates_an_account_with_its_verified_address(street: Street) -> None:
    person = await street.newcomer("ada")

    [member] = await street.house.accounts.all()
    assert (member.account_id, member.email, member.plan) == (
        account_of(person),
        "ada@example.com",
        "pro",
    )


async def test_nothing_is_created_before_the_person_agrees(street: Street) -> None:
    await street.go(street.house.somebody())

    for table in ("person", "provider_identity", "web_session", "spent_attempt"):
        assert await count(street, table) == 0


async def test_an_address_is_stored_only_if_the_provider_has_verified_it(street: Street) -> None:
    person = street.house.somebody()
    begun = await street.start(person)
    street.prepare(begun["nonce"], sub="bob", email="bob@example.com", email_verified=False)
    await street.come_back(person, begun)

    created = await person.send("/sign-up/offer", ANY_PAGE)

    assert created.headers["location"] == CREATED
    assert await street.emails() == [""]


async def test_an_address_that_is_taken_is_left_out_without_a_word(street: Street) -> None:
    owner = await street.house.owner("ADA@example.com")
    taken, free = street.house.somebody(), street.house.somebody()
    pages = [await street.go(person, subject=s) for person, s in ((taken, "ada"), (free, "bob"))]
    offered = [
        re.sub(r'(value|nonce)="[^"]+"', "", page.text).replace("bob@", "ada@") for page in pages
    ]
    assert offered[0] == offered[1]

    created = [await person.send("/sign-up/offer", ANY_PAGE) for person in (taken, free)]

    assert [each.headers["location"] for each in created] == [CREATED, CREATED]
    assert account_of(taken) != account_of(owner)
    assert sorted(await street.emails()) == ["", "ADA@example.com", "bob@example.com"]


async def test_a_passkey_creates_an_account_without_an_address(street: Street) -> None:
    person, authenticator = street.house.somebody(), Authenticator()

    created = await with_passkey(person, authenticator)

    assert created.headers["location"] == CREATED
    assert await street.emails() == [""]
    again = street.house.somebody()
    assert (await ceremonies.sign_in(again, authenticator)).status_code == 303
    assert account_of(again) == account_of(person)
    assert "Firefox on Linux" in (await again.open("/account")).text


async def test_a_new_account_never_becomes_the_owners(street: Street) -> None:
    """Not even the first one of a service that has no owner yet."""
    first = street.house.somebody()
    await with_passkey(first, Authenticator())
    await street.newcomer()

    rows = await street.house.database.rows("SELECT 1 FROM person WHERE is_owner", {})
    assert not rows


@setting(sign_up="open", default_plan="free")
async def test_a_new_account_has_the_plan_of_the_setting(street: Street) -> None:
    await street.newcomer()
    await with_passkey(street.house.somebody(), Authenticator())

    assert {member.plan for member in await street.house.accounts.all()} == {"free"}


@pytest.mark.parametrize("way", ["provider", "passkey"])
async def test_an_attempt_creates_one_account(street: Street, way: str) -> None:
    person, thief = street.house.somebody(), street.house.somebody()
    if way == "provider":
        await street.go(person)
        path, fields = "/sign-up/offer", {}
    else:
        wanted = await ceremonies.options(person, "/sign-up/options")
        path, fields = "/sign-up", {"credential": Authenticator().create(wanted)}
    cookies = {k: v for k, v in person.client.cookies.items() if k.endswith("-attempt")}
    assert (await person.send(path, ANY_PAGE, **fields)).status_code == 303

    await thief.open(ANY_PAGE)
    thief.client.cookies.update(cookies)
    replayed = await thief.send(path, ANY_PAGE, **fields)

    assert replayed.status_code == 400
    assert "has expired or was used already" in replayed.text
    assert thief.session == ""
    assert await count(street, "person") == 1


async def test_one_identity_creates_one_account(street: Street) -> None:
    """Two browsers of one person agree at the same time."""
    first, second = street.house.somebody(), street.house.somebody()
    await street.go(first)
    await street.go(second)

    answers = await asyncio.gather(
        *(person.send("/sign-up/offer", ANY_PAGE) for person in (first, second))
    )

    assert sorted(answer.status_code for answer in answers) == [303, 400]
    assert [await count(street, t) for t in ("person", "library", "web_session")] == [1, 1, 1]


async def test_the_longest_names_of_a_provider_fit_into_the_cookie(street: Street) -> None:
    person = street.house.somebody()
    token = await invitations(street).create()
    begun = await street.start(person, invitation=token)
    email = "\U0001f426" * 230 + "@example.com"
    street.prepare(begun["nonce"], sub='"' * 255, name="\U0001f426" * 1_000, email=email)
    offered = await street.come_back(person, begun)
    assert "Create an account?" in offered.text

    assert (await person.send("/sign-up/offer", ANY_PAGE)).headers["location"] == CREATED


async def test_an_offer_cannot_be_made_up(street: Street) -> None:
    person = street.house.somebody()
    for cookie in ("", "x", "eyJraW5kIjoicHJvdmlkZXIgc2lnbi11cCJ9.x"):
        person.client.cookies.set("bowerbird-8080-attempt", cookie)
        refused = await person.send("/sign-up/offer", ANY_PAGE)
        assert refused.status_code == 400

    # Neither does an attempt of another kind serve, which the service has signed too.
    begun = street.house.somebody()
    await street.start(begun)
    assert (await begun.send("/sign-up/offer", ANY_PAGE)).status_code == 400
    assert await count(street, "person") == 0


@setting(sign_up="closed")
async def test_closed_means_closed(street: Street) -> None:
    await street.house.owner("ada@example.com")
    token = await invitations(street).create()
    person = street.house.somebody()

    for subject in ("ada", "nobody"):
        shown = await street.go(person, subject=subject)
        assert shown.status_code == 403
        assert (
            "No account here is connected to your account at Example ID. "
            "This service accepts no new accounts." in shown.text
        )
    assert (await person.open("/sign-up")).status_code == 404
    refused = await person.send("/sign-up/options", ANY_PAGE, invitation=token)
    assert refused.json()["error"] == "This service accepts no new accounts."
    assert "accepts no new accounts" in (await person.send("/link", "/link", token=token)).text
    assert "accepts no new accounts" in (await person.open("/sign-in")).text
    assert await street.emails() == ["ada@example.com"]


@setting(sign_up="closed")
async def test_closing_the_sign_up_stops_what_was_offered_before(
    street: Street, tmp_path: Path
) -> None:
    opened = providing.house(
        street.house.database, tmp_path, street.openid, street.github, sign_up="open"
    )
    opened.clock.now = street.house.clock.now
    person, closed = opened.somebody(), street.house.somebody()
    await street.go(person)
    closed.client.cookies.update(person.client.cookies)

    refused = await closed.send("/sign-up/offer", ANY_PAGE)

    assert refused.status_code == 404
    assert await count(street, "person") == 0


@setting(sign_up="invite")
async def test_an_invitation_creates_an_account_with_a_passkey(street: Street) -> None:
    token = await invitations(street).create("Ines")
    person, authenticator = street.house.somebody(), Authenticator()
    opened = await person.open("/link?invitation=yes")
    assert "You are invited" in opened.text

    asked = await person.send("/link", "/link", token=token)
    assert asked.status_code == 200
    assert f'name="invitation" value="{token}"' in asked.text
    assert token not in str(asked.url)
    assert await invitations(street).is_open(token)

    created = await with_passkey(person, authenticator, invitation=token)

    assert created.headers["location"] == CREATED
    assert not await invitations(street).is_open(token)
    used = await street.house.somebody().send("/link", "/link", token=token)
    assert used.status_code == 410


@setting(sign_up="invite")
async def test_an_invitation_creates_an_account_with_a_provider(street: Street) -> None:
    token = await invitations(street).create()
    person = street.house.somebody()
    offered = await street.go(person, invitation=token)
    assert "Create an account?" in offered.text
    assert token not in offered.text
    assert await invitations(street).is_open(token)

    created = await person.send("/sign-up/offer", ANY_PAGE)

    assert created.headers["location"] == CREATED
    assert not await invitations(street).is_open(token)


@setting(sign_up="invite")
async def test_without_an_invitation_nobody_gets_an_account(street: Street) -> None:
    person = street.house.somebody()
    link = await street.house.links.create_for_owner()

    shown = await street.go(person)
    assert shown.status_code == 403
    assert "New accounts need an invitation" in shown.text
    assert (await person.open("/sign-up")).status_code == 404
    for token in ("", "x", "A" * 43, link):
        refused = await person.send("/sign-up/options", ANY_PAGE, invitation=token)
        assert refused.status_code == 404
    refused = await person.send("/sign-in/oidc", ANY_PAGE, invitation="A" * 43)
    assert refused.status_code == 404
    assert "Ask the operator for another one." in refused.text
    assert await count(street, "person") == 0


@setting(sign_up="invite")
async def test_an_invitation_is_used_once_even_at_the_same_time(street: Street) -> None:
    token = await invitations(street).create()
    people = [street.house.somebody() for _ in range(2)]
    sent = []
    for person in people:
        wanted = await ceremonies.options(person, "/sign-up/options", invitation=token)
        sent.append(Authenticator().create(wanted))

    answers = await asyncio.gather(
        *(
            person.send("/sign-up", ANY_PAGE, credential=credential, invitation=token)
            for person, credential in zip(people, sent, strict=True)
        )
    )

    assert sorted(answer.status_code for answer in answers) == [303, 404]
    assert [await count(street, t) for t in ("person", "passkey", "web_session")] == [1, 1, 1]


@setting(sign_up="invite")
async def test_an_invitation_that_was_withdrawn_after_the_start_creates_nothing(
    street: Street,
) -> None:
    token = await invitations(street).create()
    person = street.house.somebody()
    await street.go(person, invitation=token)
    [link] = await invitations(street).all()
    await invitations(street).withdraw(link.link_id)

    refused = await person.send("/sign-up/offer", ANY_PAGE)

    assert refused.status_code == 404
    assert "Ask the operator for another one." in refused.text
    assert await count(street, "person") == 0


@setting(sign_up="invite")
async def test_somebody_with_an_account_does_not_use_up_an_invitation(street: Street) -> None:
    owner = await street.house.owner()
    await street.go(owner, "/account/providers/oidc/connect")
    token = await invitations(street).create()
    refused = await owner.send("/link", "/link", token=token)
    assert "You are signed in to an account." in refused.text

    again = street.house.somebody()
    entered = await street.go(again, invitation=token)

    assert entered.status_code == 303
    assert account_of(again) == account_of(owner)
    assert await invitations(street).is_open(token)


async def test_a_passkey_that_cannot_be_checked_creates_nothing(street: Street) -> None:
    person = street.house.somebody()

    refused = await with_passkey(person, Authenticator(origin="https://evil.example"))

    assert refused.status_code == 400
    assert "This passkey could not be checked." in refused.text
    assert "Create an account" in refused.text
    assert await count(street, "person") == 0


async def test_an_address_creates_a_limited_number_of_accounts_per_day(street: Street) -> None:
    async def tried() -> httpx.Response:
        street.house.clock.now += BURST * 3 * MICROSECONDS
        return await with_passkey(street.house.somebody(), Authenticator())

    street.house.clock.now += DAY // 2 - street.house.clock.now % DAY
    for _ in range(SIGN_UPS_PER_DAY):
        assert (await tried()).status_code == 303
    # The next day by the calendar.
    street.house.clock.now += DAY // 2
    refused = await tried()
    assert refused.status_code == 429
    assert "within 24 hours" in refused.text

    street.house.clock.now += DAY // 2
    assert (await tried()).status_code == 303


async def test_a_person_who_is_signed_in_sees_no_sign_up_page(street: Street) -> None:
    owner = await street.house.owner()

    shown = await owner.client.get("/sign-up")

    assert (shown.status_code, shown.headers["location"]) == (303, "/")
