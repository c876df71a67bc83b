"""Two nodes on one PostgreSQL database: each finishes what the other has started."""

from pathlib import Path

import pytest

from tests.support import databases
from tests.support.postgres import ThrowawayPostgres
from tests.support.visiting import Visitor
from tests.web.sign_in import ceremonies
from tests.web.sign_in.conftest import House, build

pytestmark = pytest.mark.anyio


def at(node: House, person: Visitor) -> Visitor:
    """The same browser, whose next request another node gets."""
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
