"""The notes that earlier releases did not index."""

import pytest

from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.storage.database import Transaction
from tests.support import writing
from tests.support.posts.sources import no_report
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def run(member: Member, *statements: str) -> None:
    async def work(transaction: Transaction) -> None:
        for sql in statements:
            await transaction.run(sql, {})

    await member.database.write(work)


@pytest.mark.both
async def test_notes_of_earlier_releases_are_indexed(alice: Member, bob: Member) -> None:
    for number in range(25):
        await alice.save(post_id=str(number + 1), note=f"quokka n{number}")
    await bob.save(post_id="1", note="wombat")
    await alice.embed()
    account = await alice.account()
    # As an earlier release left them: no words, and a vector of another text.
    await run(
        alice,
        "DELETE FROM keyword",
        "UPDATE vector SET text_hash = content_hash FROM bookmark WHERE vector.number = 1"
        " AND bookmark.account_id = vector.account_id AND bookmark.number = vector.number",
        "UPDATE bookmark SET word_form = 1",
        "DELETE FROM word_count",
    )
    assert await alice.ids(q="quokka", limit="100") == []

    for member in (alice, bob):
        await Reindexing(member.database, member.clock, 0).run(member.account_id, no_report)

    assert len(await alice.ids(q="quokka", limit="100")) == 25
    assert await bob.ids(q="wombat") == ["1"]
    assert (await alice.account()).version > account.version
    assert await alice.embed() == 1
    assert await writing.recount(alice) == []
    assert await writing.recount(bob) == []
