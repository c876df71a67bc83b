"""The notes that earlier releases did not index."""

import pytest

from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.storage.database import Transaction
from tests.support import writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def run(member: Member, *statements: str) -> None:
    async def work(transaction: Transaction) -> None:
        for sql in statements:
            await transaction.run(sql, {})

    await member.database.write(work)


async def counted(member: Member, table: str) -> int:
    rows = await member.database.rows(f"SELECT count(*) FROM {table}", {})  # noqa: S608 - constants
    return int(rows[0][0])


@pytest.mark.both
async def test_notes_of_earlier_releases_are_indexed(alice: Member, bob: Member) -> None:
    for number in range(25):
        await alice.save(post_id=str(number + 1), note=f"quokka n{number}")
    await bob.save(post_id="1", note="wombat")
    await alice.embed()
    account = await alice.account()
    # As an earlier release left them: no words, a vector of another text, and a mark.
    await run(
        alice,
        "DELETE FROM keyword",
        "UPDATE vector SET text_hash = content_hash FROM bookmark WHERE vector.number = 1"
        " AND bookmark.account_id = vector.account_id AND bookmark.number = vector.number",
        "INSERT INTO unindexed_note (account_id, number) SELECT account_id, number FROM bookmark",
    )
    assert await alice.ids(q="quokka", limit="100") == []

    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()

    assert len(await alice.ids(q="quokka", limit="100")) == 25
    assert await bob.ids(q="wombat") == ["1"]
    assert await counted(alice, "unindexed_note") == 0
    assert (await alice.account()).version > account.version
    assert await alice.embed() == 1
    assert await writing.recount(alice) == []
    assert await writing.recount(bob) == []


@pytest.mark.both
async def test_notes_of_an_account_that_is_being_deleted_hold_up_no_sweep(
    alice: Member, bob: Member
) -> None:
    await alice.save(post_id="1", note="quokka")
    await bob.save(post_id="1", note="wombat")
    await run(
        alice,
        "DELETE FROM keyword",
        "INSERT INTO unindexed_note (account_id, number) SELECT account_id, number FROM bookmark",
    )
    await AccountDeletion(bob.database).start(bob.account_id)

    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()

    assert await alice.ids(q="quokka") == ["1"]
    assert await counted(alice, "unindexed_note") == 0
