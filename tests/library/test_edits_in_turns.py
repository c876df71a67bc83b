"""Transactions that need something else to be done first, and what a caller is told if it fails."""

import pytest

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.turns import DoFirst
from bowerbird.storage.database import Database, Transaction

pytestmark = pytest.mark.anyio

FULL = errors.unavailable("The disk is full; this change was not made.", 30)


async def refusing(_: Transaction) -> None:
    raise FULL


async def refuse() -> None:
    raise FULL


async def test_a_transaction_runs_again_after_what_it_asks_for(database: Database) -> None:
    done: list[str] = []

    async def first() -> None:
        done.append("first")

    async def work(_: Transaction) -> list[str]:
        if not done:
            raise DoFirst(first)
        return [*done, "then"]

    assert await turns.run(database, work) == ["first", "then"]


async def test_a_refused_transaction_says_that_nothing_was_made(database: Database) -> None:
    with pytest.raises(Refusal) as refused:
        await turns.run(database, refusing)

    assert refused.value.sentence == FULL.sentence


async def test_a_refusal_of_what_comes_first_says_that_a_part_is_made(database: Database) -> None:
    async def work(_: Transaction) -> None:
        raise DoFirst(refuse)

    with pytest.raises(Refusal) as refused:
        await turns.run(database, work)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.headers == {"Retry-After": "30"}
    assert refused.value.sentence == (
        "The database became unavailable before the whole change was made; repeat the request to "
        "make the rest."
    )
