"""Edits in several transactions: what a caller is told if one of them is refused."""

import pytest

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.storage.database import Database, Transaction

pytestmark = [pytest.mark.anyio, pytest.mark.both]

FULL = errors.unavailable("The disk is full; this change was not made.", 30)


async def refusing(_: Transaction) -> None:
    raise FULL


async def test_a_refused_first_turn_says_that_nothing_was_made(database: Database) -> None:
    with pytest.raises(Refusal) as refused:
        await turns.run(database, refusing)

    assert refused.value.sentence == FULL.sentence


async def test_a_refused_later_turn_says_that_a_part_was_made(database: Database) -> None:
    async def first(_: Transaction) -> Unfinished[None] | None:
        return Unfinished(refusing)

    with pytest.raises(Refusal) as refused:
        await turns.run(database, first)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.headers == {"Retry-After": "30"}
    assert refused.value.sentence == (
        "Only a part of the change was made before the database became unavailable; repeat the "
        "request to make the rest."
    )
