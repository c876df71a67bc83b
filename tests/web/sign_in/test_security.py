"""What must not work: fixation, forged forms, stolen cookies, foreign hosts and redirects."""

import pytest

from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import ActivityKind
from tests.support.authenticator import Authenticator
from tests.support.visiting import Visitor, form_token
from tests.web.sign_in import ceremonies
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of
from tests.web.sign_in.conftest import House

pytestmark = pytest.mark.anyio
POSTS = [
    "/sign-in/passkey/options",
    "/sign-in/passkey",
    "/reauthenticate/options",
    "/reauthenticate",
    "/account/passkeys/options",
    "/account/passkeys",
    "/account/passkeys/rename",
    "/account/passkeys/remove",
    "/account/sessions/end-others",
    "/sign-out",
    "/link",
]


def session_cookie(person: Visitor) -> tuple[str, str]:
    [found] = [(k, v) for k, v in person.client.cookies.items() if k.endswith("-session")]
    return found


async def is_signed_in(person: Visitor) -> bool:
    went = await person.client.get("/sign-in")
    return went.status_code == 303


async def test_signing_in_changes_the_session_and_the_form_token(house: House) -> None:
    authenticator = await ceremonies.add(await house.owner())
    person = house.somebody()
    token = form_token((await person.open("/sign-in")).text)

    await ceremonies.sign_in(person, authenticator)
    first = person.session

    refused = await person.post("/account/sessions/end-others", csrf=token)
    assert refused.status_code == 403

    await ceremonies.sign_in(person, authenticator)
    assert person.session != first


async def test_a_session_that_somebody_planted_is_replaced(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    thief = await house.member("thief@example.com")
    victim = house.somebody()
    victim.client.cookies.set(*session_cookie(thief))
    assert await is_signed_in(victim)

    entered = await ceremonies.sign_in(victim, authenticator)

    [cookie] = [c for c in entered.headers.get_list("set-cookie") if "-session=" in c]
    assert f"{account_of(owner):016x}." in cookie
    assert thief.session not in cookie


async def test_a_session_that_was_ended_elsewhere_is_worthless(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    victim = house.somebody()
    await ceremonies.sign_in(victim, authenticator)
    thief = house.somebody()
    thief.client.cookies.set(*session_cookie(victim))
    assert await is_signed_in(thief)

    await owner.send("/account/sessions/end-others", ANY_PAGE)

    assert not await is_signed_in(thief)
    assert await is_signed_in(owner)


async def test_a_cookie_from_before_the_sign_out_is_worthless(house: House) -> None:
    owner = await house.owner()
    thief = house.somebody()
    thief.client.cookies.set(*session_cookie(owner))

    await owner.send("/sign-out", ANY_PAGE)

    assert not await is_signed_in(thief)
    assert not await is_signed_in(owner)


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_of_another_site_changes_nothing(house: House, path: str) -> None:
    owner, stranger = await house.owner(), house.somebody()
    own = form_token((await owner.open(ANY_PAGE)).text)
    foreign = form_token((await stranger.open(ANY_PAGE)).text)
    for origin in ("http://evil.example", "null", "", "http://localhost:8081", "https://localhost"):
        refused = await owner.post(path, csrf=own, headers={"Origin": origin})
        assert refused.status_code == 403, origin
    for token in (foreign, "", ".", "x.y", own[:-1], "é.é"):
        refused = await owner.post(path, csrf=token)
        assert refused.status_code == 403, token
    assert await is_signed_in(owner)
    assert len(await Sessions(house.database, house.clock).all(account_of(owner))) == 1


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\/evil.example",
        "/%0d%0aSet-Cookie:x=1\r\nX: y",
        "/\t/evil.example",
        "javascript:alert(1)",
        "evil.example",
        "/" + "x" * 3_000,
    ],
)
async def test_signing_in_leads_only_to_pages_of_this_site(house: House, target: str) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)

    entered = await ceremonies.sign_in(house.somebody(), authenticator, next=target)
    assert (entered.status_code, entered.headers["location"]) == (303, "/")

    proved = await ceremonies.prove(owner, authenticator, next=target)
    assert (proved.status_code, proved.headers["location"]) == (303, "/")

    shown = await house.somebody().client.get("/sign-in", params={"next": target})
    assert "evil.example" not in shown.text


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8080", "localhost:1"])
async def test_a_name_that_is_not_ours_is_refused(house: House, host: str) -> None:
    owner = await house.owner()
    token = form_token((await owner.open(ANY_PAGE)).text)
    for path in ("/sign-in", "/reauthenticate"):
        refused = await owner.client.get(path, headers={"Host": host})
        assert refused.status_code == 400
        assert "not available under that name" in refused.text
    for path in POSTS:
        headers = {"Host": host, "Origin": f"http://{host}"}
        refused = await owner.post(path, csrf=token, headers=headers)
        assert refused.status_code == 400, path


async def test_a_session_is_no_api_key(house: House) -> None:
    owner = await house.owner()

    for path in ("/v1/account", "/v1/bookmarks"):
        assert (await owner.client.get(path)).status_code == 401
        bearer = {"Authorization": f"Bearer {owner.session}"}
        assert (await owner.client.get(path, headers=bearer)).status_code == 401


async def test_unknown_and_known_accounts_get_the_same_page(house: House) -> None:
    owner = await house.owner()
    known = await ceremonies.add(owner)
    known.key = Authenticator().key
    unknown = Authenticator(user_handle=(12345).to_bytes(8, "big"))
    pages = []
    for authenticator in (known, unknown):
        person = house.somebody()
        answer = await ceremonies.sign_in(person, authenticator)
        pages.append((answer.status_code, without_secrets(answer.text)))

    assert pages[0] == pages[1]


def without_secrets(page: str) -> list[str]:
    """The lines that are the same for every visitor: without nonces and tokens."""
    return [line for line in page.splitlines() if "nonce" not in line and "csrf" not in line]


async def test_the_cookies_are_not_for_scripts_or_other_sites(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    person = house.somebody()
    entered = await ceremonies.sign_in(person, authenticator)

    cookies = entered.headers.get_list("set-cookie")

    assert any("-session=" in cookie for cookie in cookies)
    for cookie in cookies:
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert "Path=/" in cookie
        assert "Domain" not in cookie


async def test_a_session_from_before_does_not_become_the_owners(house: House) -> None:
    await house.owner()
    member = await house.member("ann@example.com")

    await house.accounts.set_owner("ann@example.com")

    assert not await is_signed_in(member)
    page = await Activity(house.database, house.clock).page(account_of(member))
    assert ActivityKind.OWNER_CHANGED in [entry.kind for entry in page]


async def test_a_query_that_is_no_form_does_not_break_a_page(house: House) -> None:
    person = house.somebody()
    for query in ("?a=1&a=2", "?a=%ff", "?" + "&".join(f"a{n}" for n in range(200)), "?a=%00"):
        assert (await person.client.get("/" + query)).status_code == 200, query
