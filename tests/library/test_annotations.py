"""Notes and highlights: their undo, and the notes that earlier releases did not index."""

from typing import Any

import pytest

from bowerbird.errors import Refusal
from bowerbird.library.bookmarks.writing.annotation_changes import (
    NOTE,
    REPLACED_MAX,
    AnnotationChanges,
)
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.requests.bookmarks import NewHighlight
from bowerbird.storage.bookmarks.annotations import AnnotationStore
from bowerbird.storage.database import Transaction
from tests.support import writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio

DAYS_31 = 31 * writing.DAY


def changes(member: Member) -> AnnotationChanges:
    return AnnotationChanges(member.database, member.clock)


async def run(member: Member, *statements: str) -> None:
    async def work(transaction: Transaction) -> None:
        for sql in statements:
            await transaction.run(sql, {})

    await member.database.write(work)


async def counted(member: Member, table: str) -> int:
    rows = await member.database.rows(f"SELECT count(*) FROM {table}", {})  # noqa: S608 - constants
    return int(rows[0][0])


async def note_of(member: Member, post_id: str = "1") -> Any:
    return (await writing.bookmark(member, post_id)).get("note")


@pytest.mark.both
async def test_a_note_can_be_undone_and_redone_by_its_owner(alice: Member, bob: Member) -> None:
    await alice.save(post_id="1")
    await bob.save(post_id="1")
    account = await alice.account()
    assert await changes(alice).set_note(account, "1", "First") is True
    assert await changes(alice).set_note(account, "1", "Second") is True
    assert await changes(alice).set_note(account, "1", " Second ") is False

    with pytest.raises(Refusal, match="cannot be undone"):
        await changes(bob).undo(await bob.account(), "1", NOTE)
    await changes(alice).undo(account, "1", NOTE)
    assert await note_of(alice) == "First"
    await changes(alice).undo(account, "1", NOTE)
    assert await note_of(alice) == "Second"
    assert await writing.recount(alice) == []


async def test_a_removed_highlight_comes_back_as_it_was_and_once(alice: Member) -> None:
    await alice.save(post_id="1", text="one two three")
    account = await alice.account()
    request = NewHighlight(quote="two", comment="Why")
    passage = await changes(alice).mark(account, "1", request)
    before = await writing.bookmark(alice, "1")

    await changes(alice).unmark(account, "1", passage.id)
    assert "highlights" not in await writing.bookmark(alice, "1")
    await changes(alice).undo(account, "1", passage.id)
    assert await writing.bookmark(alice, "1") == before
    with pytest.raises(Refusal, match="cannot be undone"):
        await changes(alice).undo(account, "1", passage.id)

    await changes(alice).unmark(account, "1", passage.id)
    again = await changes(alice).mark(account, "1", request)
    await changes(alice).undo(account, "1", passage.id)
    stored = (await writing.bookmark(alice, "1"))["highlights"]
    assert [one["id"] for one in stored] == [again.id]


@pytest.mark.both
async def test_a_change_can_be_undone_for_30_days(alice: Member) -> None:
    await alice.save(post_id="1", note="Before")
    account = await alice.account()
    await changes(alice).set_note(account, "1", "")
    alice.clock.now += DAYS_31

    with pytest.raises(Refusal, match="cannot be undone"):
        await changes(alice).undo(account, "1", NOTE)

    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()
    assert await counted(alice, "replaced_annotation") == 0


@pytest.mark.both
async def test_only_the_latest_replaced_annotations_are_kept(alice: Member) -> None:
    await alice.save(post_id="1", note="Before")
    store = AnnotationStore(alice.database)

    async def fill(transaction: Transaction) -> None:
        for n in range(1_010):
            await store.put_replaced(
                transaction, alice.account_id, (str(n), NOTE, b""), n, REPLACED_MAX
            )

    await alice.database.write(fill)

    await changes(alice).set_note(await alice.account(), "1", "After")

    assert await counted(alice, "replaced_annotation") == REPLACED_MAX
    await changes(alice).undo(await alice.account(), "1", NOTE)
    assert await note_of(alice) == "Before"


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
