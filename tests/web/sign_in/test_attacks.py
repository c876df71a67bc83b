"""What strangers, other sites and a wrong clock must not be able to break."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.sign_in.attempt_limits import BURST
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres
from tests.support.visiting import Visitor, form_token, visitor
from tests.web.sign_in import ceremonies
from tests.web.sign_in.conftest import House, build

pytestmark = pytest.mark.anyio
HOUR = 3_600 * MICROSECONDS


def at_address(house: House, address: str) -> Visitor:
    return visitor(house.service, address=address)


async def is_signed_in(person: Visitor) -> bool:
    return (await person.client.get("/sign-in")).status_code == 303


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


async def test_a_proof_from_the_future_does_not_count(house: House) -> None:
    house.clock.now += 5 * HOUR
    owner = await house.owner()
    assert (await owner.send("/keys", "/keys", name="now")).status_code == 200

    house.clock.now -= 5 * HOUR

    asked = await owner.send("/keys", "/keys", name="later")
    assert asked.headers["location"] == "/reauthenticate?next=/keys"


async def test_signing_in_again_ends_the_session_of_the_browser(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    thief = house.somebody()
    thief.client.cookies.update(dict(owner.client.cookies))
    assert await is_signed_in(thief)

    assert (await ceremonies.sign_in(owner, authenticator)).status_code == 303

    assert await is_signed_in(owner)
    assert not await is_signed_in(thief)


async def test_another_account_in_the_same_browser_ends_the_first_session(
    house: House,
) -> None:
    owner = await house.owner()
    before = house.somebody()
    before.client.cookies.update(dict(owner.client.cookies))
    account_id = await house.accounts.create("other@example.com")
    token = await house.links.create_for(account_id)

    entered = await owner.send("/link", "/link", token=token)

    assert entered.status_code == 303
    assert not await is_signed_in(before)
    assert await is_signed_in(owner)
