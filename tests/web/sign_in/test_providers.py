"""Signing in and proofs with providers: whom they sign in, and everything that must not work."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access.activity import Activity
from bowerbird.model.accounts import ActivityKind
from bowerbird.storage.database import Database
from bowerbird.storage.sign_in import IdentityStore, PasskeyStore
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres
from tests.support.visiting import ORIGIN, Visitor
from tests.web.sign_in import ceremonies, providing
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of
from tests.web.sign_in.providing import Street

pytestmark = pytest.mark.anyio
MINUTE = 60 * MICROSECONDS
CONNECT = "/account/providers/{}/connect"
ELSEWHERE = "expired or was started in another browser"


@pytest.fixture
async def street(database: Database, tmp_path: Path) -> AsyncIterator[Street]:
    async with providing.street(database, tmp_path, sign_up="open") as built:
        yield built


async def connected(street: Street, person: Visitor) -> dict[str, str]:
    """Issuer -> how the identity is shown."""
    found = await IdentityStore(street.house.database).all(account_of(person))
    return {identity.issuer: identity.shown for identity in found}


async def test_a_known_person_signs_in_to_the_same_account(street: Street) -> None:
    first = await street.newcomer()
    again = street.house.somebody()
    street.house.clock.now += 1

    entered = await street.go(again, next="/account")

    assert (entered.status_code, entered.headers["location"]) == (303, "/account")
    assert account_of(again) == account_of(first)
    assert len(await street.emails()) == 1
    page = await Activity(street.house.database).page(account_of(first))
    entry = page[0]
    assert (entry.kind, entry.detail) == (
        ActivityKind.SIGNED_IN,
        "Example ID “ada@example.com”",
    )


async def test_the_same_address_does_not_sign_in(street: Street) -> None:
    owner = await street.house.owner("ada@example.com")
    stranger = street.house.somebody()

    offered = await street.go(stranger, subject="ada")

    assert "Create an account?" in offered.text
    assert stranger.session == ""
    assert await connected(street, owner) == {}


async def test_a_second_provider_is_connected_and_disconnected(street: Street) -> None:
    person = await street.newcomer()
    page = (await person.open("/account")).text
    assert "ada@example.com" in page
    assert "Not connected" in page

    added = await street.go(person, CONNECT.format("github"))

    assert added.headers["location"] == "/account?said=provider-connected#methods"
    assert await connected(street, person) == {
        street.openid.url: "ada@example.com",
        street.github.url: "Octo Cat",
    }
    other = street.house.somebody()
    assert (await street.go(other, "/sign-in/github")).status_code == 303
    assert account_of(other) == account_of(person)

    found = await IdentityStore(street.house.database).all(account_of(person))
    [first] = [each.identity_id for each in found if each.issuer == street.openid.url]
    removed = await person.send("/account/providers/disconnect", ANY_PAGE, provider=first)
    assert removed.headers["location"] == "/account?said=provider-disconnected#methods"
    assert await connected(street, person) == {street.github.url: "Octo Cat"}
    assert "Create an account?" in (await street.go(street.house.somebody())).text


async def test_the_last_way_in_stays(street: Street) -> None:
    person = await street.newcomer()
    [identity] = await IdentityStore(street.house.database).all(account_of(person))

    refused = await person.send(
        "/account/providers/disconnect", ANY_PAGE, provider=identity.identity_id
    )

    assert refused.status_code == 400
    assert "your only way to sign in" in refused.text
    assert await connected(street, person)

    await ceremonies.add(person)
    removed = await person.send(
        "/account/providers/disconnect", ANY_PAGE, provider=identity.identity_id
    )
    assert removed.status_code == 303


async def test_a_provider_that_the_operator_removed_is_no_way_in(
    street: Street, tmp_path: Path
) -> None:
    person = await street.newcomer()
    await ceremonies.add(person)
    street.house = providing.house(
        street.house.database, tmp_path, street.openid, street.github, oidc_client_id=""
    )
    later = street.house.somebody()
    later.client.cookies = person.client.cookies
    [identity] = await IdentityStore(street.house.database).all(account_of(person))
    [passkey] = await PasskeyStore(street.house.database).all(account_of(person), 10)
    shown = (await later.open("/account")).text
    assert "ada@example.com</bdi>, no longer available here" in shown
    assert "Remove the passkey" not in shown

    refused = await later.send("/account/passkeys/remove", ANY_PAGE, passkey=passkey.passkey_id)
    assert refused.status_code == 400
    removed = await later.send(
        "/account/providers/disconnect", ANY_PAGE, provider=identity.identity_id
    )

    assert removed.status_code == 303
    assert await connected(street, person) == {}


async def test_a_provider_of_another_account_cannot_be_disconnected(street: Street) -> None:
    victim, thief = await street.newcomer("ada"), await street.newcomer("eve")
    await ceremonies.add(thief)
    [identity] = await IdentityStore(street.house.database).all(account_of(victim))

    refused = await thief.send(
        "/account/providers/disconnect", ANY_PAGE, provider=identity.identity_id
    )

    assert refused.status_code == 404
    assert await connected(street, victim)


async def test_an_identity_of_another_account_is_not_connected(street: Street) -> None:
    ada = await street.newcomer("ada")
    owner = await street.house.owner()

    refused = await street.go(owner, CONNECT.format("oidc"), subject="ada")

    assert refused.status_code == 400
    assert "is already connected to another account here." in refused.text
    assert await connected(street, owner) == {}
    assert await connected(street, ada)


async def test_an_account_has_one_identity_per_provider(street: Street) -> None:
    person = await street.newcomer("ada")

    again = await street.go(person, CONNECT.format("oidc"), subject="ada")
    other = await street.go(person, CONNECT.format("oidc"), subject="eve")

    assert again.status_code == 303
    assert other.status_code == 400
    assert "Disconnect it first." in other.text
    assert len(await connected(street, person)) == 1


async def test_a_return_works_once(street: Street) -> None:
    """Even if the provider accepts the code twice, and the browser keeps the cookie."""
    await street.newcomer()
    person = street.house.somebody()
    begun = await street.start(person)
    street.prepare(begun["nonce"], sub="ada")
    cookies = dict(person.client.cookies)
    # A return with another state does not spoil it.
    assert ELSEWHERE in (await street.come_back(person, begun, state="x")).text
    assert (await street.come_back(person, begun)).status_code == 303

    thief = street.house.somebody()
    thief.client.cookies.update(cookies)
    replayed = await street.come_back(thief, begun)

    assert replayed.status_code == 400
    assert "has expired or was used already" in replayed.text
    assert thief.session == ""


async def test_a_return_in_another_browser_is_refused(street: Street) -> None:
    """Somebody sends a link with their own sign-in, so that the victim uses their account."""
    await street.newcomer("eve")
    eve, victim = street.house.somebody(), street.house.somebody()
    begun = await street.start(eve)
    street.prepare(begun["nonce"], sub="eve")

    refused = await street.come_back(victim, begun)
    assert refused.status_code == 400
    assert victim.session == ""

    own = await street.start(victim)
    street.prepare(own["nonce"], sub="eve")
    assert ELSEWHERE in (await street.come_back(victim, begun)).text
    assert victim.session == ""


async def test_a_connection_does_not_serve_somebody_who_signed_in_later(street: Street) -> None:
    """A stolen identity must not be connected by a link to the second half."""
    owner = await street.house.owner()
    begun = await street.start(owner, CONNECT.format("oidc"))
    street.prepare(begun["nonce"], sub="eve")
    await owner.send("/sign-out", ANY_PAGE)

    gone = await street.come_back(owner, begun)

    assert gone.headers["location"] == "/sign-in?next=/account"
    rows = await street.house.database.rows("SELECT * FROM provider_identity", {})
    assert not rows


async def test_the_attempt_of_one_provider_does_not_serve_another(street: Street) -> None:
    person = street.house.somebody()
    begun = await street.start(person, "/sign-in/oidc")

    refused = await street.come_back(person, begun, "github")

    assert refused.status_code == 400
    assert "started with another provider" in refused.text


async def test_an_attempt_expires_after_ten_minutes(street: Street) -> None:
    await street.newcomer()
    person = street.house.somebody()
    begun = await street.start(person)
    street.prepare(begun["nonce"], sub="ada")
    street.house.clock.now += 10 * MINUTE

    assert "has expired" in (await street.come_back(person, begun)).text
    assert person.session == ""


async def test_a_sign_in_never_ends_on_another_site(street: Street) -> None:
    await street.newcomer()
    # The last is too long for the cookie.
    for target in (
        *["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x()"],
        "/account?" + "x" * 1_900,
    ):
        entered = await street.go(street.house.somebody(), next=target)
        assert (entered.status_code, entered.headers["location"]) == (303, "/"), target


async def test_a_person_who_is_signed_in_stays_so(street: Street) -> None:
    owner = await street.house.owner()
    before = owner.session

    shown = await owner.send("/sign-in/oidc", ANY_PAGE, next="/keys")

    assert shown.headers["location"] == "/keys"
    assert owner.session == before


async def test_names_of_providers_are_text(street: Street) -> None:
    person = street.house.somebody()
    begun = await street.start(person)
    name = "<b>Ada</b>\u202e"
    street.prepare(begun["nonce"], sub="s", name=name, email=None)

    offered = await street.come_back(person, begun)

    assert "<bdi>&lt;b&gt;Ada&lt;/b&gt;</bdi>" in offered.text


async def test_what_one_node_starts_another_finishes(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    async with (
        databases.two_of_postgres(postgres) as (first, second),
        providing.street(first, tmp_path, sign_up="open") as street,
    ):
        other = providing.house(second, tmp_path, street.openid, street.github, sign_up="open")
        nodes = Nodes([httpx.ASGITransport(each.service.asgi) for each in (street.house, other)])
        person = Visitor(httpx.AsyncClient(transport=nodes, base_url=ORIGIN))

        begun = await street.start(person)
        street.prepare(begun["nonce"], sub="ada", email="ada@example.com")
        nodes.turn()
        offered = await street.come_back(person, begun)
        assert "Create an account?" in offered.text
        nodes.turn()
        assert (await person.send("/sign-up/offer", ANY_PAGE)).status_code == 303

        nodes.turn()
        assert "ada@example.com" in (await person.open("/account")).text
        assert (await street.go(person, CONNECT.format("github"))).status_code == 303
        nodes.turn()
        assert "Octo Cat" in (await person.open("/account")).text
        token = person.session
        await person.send("/sign-out", ANY_PAGE)
        nodes.turn()
        person.client.cookies.set("bowerbird-8080-session", token)
        assert (await person.client.get("/account")).headers["location"].startswith("/sign-in")


@dataclass
class Nodes(httpx.AsyncBaseTransport):
    """A load balancer: the first node answers, until it is another one's turn."""

    nodes: list[httpx.ASGITransport]

    def turn(self) -> None:
        self.nodes.append(self.nodes.pop(0))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self.nodes[0].handle_async_request(request)


EVIL = {"iss": "https://evil.example"}
UNVERIFIED = "could not be verified"


@pytest.mark.parametrize(
    ("nonce", "claims", "query", "sentence"),
    [
        ("", {}, {"state": ""}, ELSEWHERE),
        ("of another sign-in", {}, {}, UNVERIFIED),
        ("", EVIL, {}, UNVERIFIED),
        ("", {}, EVIL, UNVERIFIED),
    ],
)
async def test_a_return_of_another_sign_in_or_issuer_is_refused(
    street: Street, nonce: str, claims: dict[str, str], query: dict[str, str], sentence: str
) -> None:
    await street.newcomer()
    person = street.house.somebody()
    begun = await street.start(person)
    street.prepare(nonce or begun["nonce"], sub="ada", **claims)

    refused = await street.come_back(person, begun, **query)

    assert (refused.status_code, person.session) == (400, "")
    assert sentence in refused.text


async def test_what_went_wrong_is_explained(street: Street) -> None:
    person, elsewhere = street.house.somebody(), street.house.somebody("http://127.0.0.1:8080")
    begun = await street.start(person)
    hostile = {"error": "access_denied", "error_description": "<script>alert(1)</script>"}

    cancelled = await street.come_back(person, begun, **hostile)
    unknown = await person.send("/sign-in/google", ANY_PAGE)
    street.openid.requests.clear()
    misplaced = await elsewhere.send("/sign-in/oidc", ANY_PAGE)

    assert {page.status_code for page in (cancelled, unknown, misplaced)} == {400}
    assert "You cancelled the sign-in at Example ID." in cancelled.text
    assert 'href="/sign-in"' in cancelled.text
    assert "alert" not in cancelled.text
    assert "This site has no sign-in with that provider." in unknown.text
    assert "Open http://localhost:8080 to sign in with a provider." in misplaced.text
    assert not street.openid.requests


async def test_a_provider_that_does_not_answer_is_explained(street: Street) -> None:
    street.openid.answers["/.well-known/openid-configuration"] = b"nonsense\r\n\r\n"

    shown = await street.house.somebody().send("/sign-in/oidc", ANY_PAGE)

    assert shown.status_code == 400
    assert "Example ID did not answer. Try again in a few minutes." in shown.text


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
