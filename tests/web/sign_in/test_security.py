"""What must not work: fixation, stolen cookies, foreign hosts, redirects, races, a wrong clock."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access.activity import Activity
from bowerbird.library.access.call_allowance import BURST
from bowerbird.model.accounts import ActivityKind
from tests.support import databases
from tests.support.hosts.authenticator import Authenticator
from tests.support.postgres import ThrowawayPostgres
from tests.support.visiting import Visitor, form_token, visitor
from tests.web.house import House, build
from tests.web.sign_in import ceremonies
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize("end", ["/sign-out", "/account/sessions/end-others", "passkey", "/link"])
async def test_the_cookie_of_a_session_that_ended_is_worthless(house: House, end: str) -> None:
    owner, thief = await house.owner(), house.somebody()
    authenticator = await ceremonies.add(owner)
    victim = owner
    if end == "/account/sessions/end-others":
        victim = house.somebody()
        await ceremonies.sign_in(victim, authenticator)
    thief.client.cookies.set(*session_cookie(victim))
    assert await is_signed_in(thief)

    if end == "passkey":
        await ceremonies.sign_in(owner, authenticator)
    else:
        fields = {"token": await house.links.create_for_owner()} if end == "/link" else {}
        await owner.send(end, ANY_PAGE, **fields)

    assert not await is_signed_in(thief)
    assert await is_signed_in(owner) == (end != "/sign-out")


ELSEWHERE = (
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/%0d%0aSet-Cookie:x=1\r\nX: y",
    "/\t/evil.example",
    "javascript:alert(1)",
    "evil.example",
    "/" + "x" * 3_000,
)


async def test_signing_in_leads_only_to_pages_of_this_site(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    for number, target in enumerate(ELSEWHERE):
        person = visitor(house.service, address=f"198.51.100.{number}")
        entered = await ceremonies.sign_in(person, authenticator, next=target)
        assert (entered.status_code, entered.headers["location"]) == (303, "/"), target
        shown = await house.somebody().client.get("/sign-in", params={"next": target})
        assert "evil.example" not in shown.text
    proved = await ceremonies.prove(owner, authenticator, next="//evil.example")
    assert (proved.status_code, proved.headers["location"]) == (303, "/")


async def test_a_name_that_is_not_ours_is_refused(house: House) -> None:
    owner = await house.owner()
    token = form_token((await owner.open(ANY_PAGE)).text)
    for host in ["evil.example", "localhost.evil.example:8080", "localhost:1"]:
        for path in ("/sign-in", "/reauthenticate"):
            refused = await owner.client.get(path, headers={"Host": host})
            assert refused.status_code == 400, host
            assert "not available under that name" in refused.text
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert (await owner.post("/sign-out", csrf=token, headers=headers)).status_code == 400


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
    page = await Activity(house.database).page(account_of(member))
    assert ActivityKind.OWNER_CHANGED in [entry.kind for entry in page]


async def test_a_query_that_is_no_form_does_not_break_a_page(house: House) -> None:
    person = house.somebody()
    for query in ("?a=1&a=2", "?a=%ff", "?" + "&".join(f"a{n}" for n in range(200)), "?a=%00"):
        assert (await person.client.get("/" + query)).status_code == 200, query


HOUR = 3_600 * MICROSECONDS


def at_address(house: House, address: str) -> Visitor:
    return visitor(house.service, address=address)


async def test_of_many_who_use_the_owners_link_at_once_one_enters(house: House) -> None:
    token = await house.links.create_for_owner()
    people = [at_address(house, f"192.0.2.{number}") for number in range(20)]
    forms = [form_token((await person.open("/link")).text) for person in people]

    answers = await asyncio.gather(
        *(
            person.post("/link", csrf=form, token=token, email=f"person{number}@example.com")
            for number, (person, form) in enumerate(zip(people, forms, strict=True))
        )
    )

    assert Counter(answer.status_code for answer in answers) == {303: 1, 410: 19}
    assert len(await house.accounts.all()) == 1


async def test_of_two_owners_links_used_at_once_one_makes_an_account(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    async with databases.two_of_postgres(postgres) as (one, two):
        nodes = [build(one, tmp_path), build(two, tmp_path)]
        tokens = [await node.links.create_for_owner() for node in nodes]
        people = [node.somebody() for node in nodes]
        forms = [form_token((await person.open("/link")).text) for person in people]

        async def enter(number: int) -> int:
            email = f"person{number}@example.com"
            answer = await people[number].post(
                "/link", csrf=forms[number], token=tokens[number], email=email
            )
            return answer.status_code

        statuses = await asyncio.gather(enter(0), enter(1))

        assert 303 in statuses
        # The one that came too late creates nothing, and can be used again.
        assert set(statuses) <= {303, 400}
        assert len(await nodes[0].accounts.all()) == 1
        for number, status in enumerate(statuses):
            assert status == 303 or await enter(number) == 303
        pages = [await person.open("/operator") for person in people]
        assert [page.status_code for page in pages] == [200, 200]


async def test_no_path_makes_the_database_fail(house: House) -> None:
    owner = await house.owner()
    form = form_token((await owner.open("/account")).text)

    for odd in ("%00", "a%00b", "%ED%A0%80"):
        answer = await owner.post(f"/account/sessions/{odd}/end", csrf=form)
        assert answer.status_code in (303, 404), odd


async def test_cookies_may_arrive_in_several_headers(house: House) -> None:
    """HTTP/2 clients and proxies send each cookie by itself (RFC 9113, 8.2.3)."""
    owner = await house.owner()
    [(name, value)] = [(n, v) for n, v in owner.client.cookies.items() if n.endswith("-session")]
    somebody = house.somebody()

    for cookies in ([f"{name}={value}", "theme=dark"], ["theme=dark", f"{name}={value}"]):
        shown = await somebody.client.get("/account", headers=[("Cookie", c) for c in cookies])
        assert shown.status_code == 200, cookies
        assert 'data-theme="dark"' in shown.text


async def test_pages_of_other_sites_cannot_use_up_somebodys_attempts(house: House) -> None:
    authenticator = await ceremonies.add(await house.owner())
    person = house.somebody()

    for _ in range(BURST + 5):
        # As an image on another site: without cookies.
        await house.somebody().client.get("/sign-in/google/return?code=1&state=2")

    assert (await ceremonies.sign_in(person, authenticator)).status_code == 303


async def test_a_clock_that_is_set_back_locks_nobody_out(house: House) -> None:
    authenticator = await ceremonies.add(await house.owner())
    house.clock.now += 5 * HOUR
    for _ in range(BURST):
        await house.somebody().send("/link", "/link", token="A" * 43)

    house.clock.now -= 5 * HOUR

    assert (await ceremonies.sign_in(house.somebody(), authenticator)).status_code == 303


def at(node: House, person: Visitor) -> Visitor:
    """This browser, whose next request another node gets."""
    moved = node.somebody()
    moved.client.cookies = person.client.cookies
    return moved


async def test_a_person_signs_in_on_one_node_and_acts_on_the_other(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    async with databases.two_of_postgres(postgres) as (one, two):
        first, second = build(one, tmp_path), build(two, tmp_path)
        authenticator = await ceremonies.add(await first.owner())
        person = first.somebody()
        wanted = await ceremonies.options(person, "/sign-in/passkey/options")

        elsewhere = at(second, person)
        entered = await elsewhere.send(
            "/sign-in/passkey", ceremonies.ANY_PAGE, credential=authenticator.sign(wanted)
        )
        assert entered.status_code == 303

        back = at(first, elsewhere)
        await ceremonies.add(back, "Phone")
        thief = second.somebody()
        thief.client.cookies.update(dict(back.client.cookies))
        assert (await thief.client.get("/sign-in")).status_code == 303
        await back.send("/sign-out", ceremonies.ANY_PAGE)
        assert (await thief.client.get("/sign-in")).status_code == 200
