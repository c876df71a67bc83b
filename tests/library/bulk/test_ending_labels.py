"""Labels that are added while a change of many posts deletes or merges them."""

import pytest

from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.labels.labels import Labels
from bowerbird.model.bulk import BulkRow, BulkState
from tests.library.bulk.test_undo_of_changes import IDS, fill, state
from tests.support import make, writing
from tests.support.posts.bulk import change, changes, finish, step, undo
from tests.support.service import Member

pytestmark = pytest.mark.anyio

# `fill` gives Birds to these, in the order in which a deletion reaches them.
BIRDS = [one for index, one in enumerate(IDS) if index % 3 != 1]
OTHERS = [one for index, one in enumerate(IDS) if index % 3 == 1]


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "POSTS_PER_TURN", 3)


async def started(member: Member, into: str | None = None) -> BulkRow:
    """Birds is being deleted, or merged, and three posts do not have it any more."""
    await fill(member)
    birds = await writing.label_id(member, "Birds")
    into_id = None if into is None else await writing.label_id(member, into)
    row = await changes(member).run_label(await member.account(), birds, into_id)
    assert (row.state, row.done) == (BulkState.WORKING, 3)
    return row


async def with_birds(member: Member) -> list[str]:
    found = await state(member)
    return sorted([one for one in found if found[one][2] & {"birds", "Birds"}], key=int)


@pytest.mark.both
@pytest.mark.parametrize("into", [None, "Blue"])
@pytest.mark.parametrize("added", [OTHERS[-1:], [BIRDS[0], BIRDS[-1], OTHERS[2]]])
async def test_a_label_that_is_added_meanwhile_stays_on_these_posts_only(
    alice: Member, added: list[str], into: str | None
) -> None:
    row = await started(alice, into)

    assert (await writing.add(alice, "Birds", *added)).status_code == 200
    await step(alice, row)
    await finish(alice, row)

    assert await with_birds(alice) == sorted(added, key=int)
    assert (await writing.labels(alice))["Birds"] == len(added)
    await undo(alice, row)
    assert await with_birds(alice) == sorted({*BIRDS, *added}, key=int)
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_label_that_is_added_and_removed_meanwhile_is_deleted(alice: Member) -> None:
    row = await started(alice)

    await writing.add(alice, "Birds", OTHERS[0], BIRDS[-1])
    await writing.remove(alice, "Birds", OTHERS[0], BIRDS[-1])
    await finish(alice, row)

    assert "Birds" not in await writing.labels(alice)


@pytest.mark.both
async def test_a_post_that_is_saved_with_the_label_meanwhile_keeps_it(alice: Member) -> None:
    row = await started(alice)
    await alice.save_all([make.post(post_id="900", tags=["birds"])])
    # Another client adds it, and removes it again.
    await writing.add(alice, "Birds", OTHERS[0], BIRDS[-1])
    await writing.remove(alice, "Birds", OTHERS[0], BIRDS[-1])
    await finish(alice, row)

    assert await writing.tags(alice, "900") == ["Birds"]
    assert await writing.labels(alice) == {"Birds": 1, "Blue": 4}


@pytest.mark.both
async def test_a_label_that_is_created_meanwhile_is_there_without_posts(alice: Member) -> None:
    row = await started(alice)

    labels = Labels(alice.database, alice.clock)
    await turns.change(alice.database, await alice.account(), labels.create, "birds")
    await finish(alice, row)

    assert (await writing.labels(alice))["Birds"] == 0


@pytest.mark.both
async def test_a_change_that_adds_the_label_is_made_after_its_deletion(alice: Member) -> None:
    row = await started(alice)
    adding = await change(alice, "add_label", [BIRDS[0], *OTHERS], "birds")
    done = await finish(alice, adding)

    assert (done.state, done.changed) == (BulkState.DONE, 5)
    assert await with_birds(alice) == sorted([BIRDS[0], *OTHERS], key=int)
    await undo(alice, done)
    await undo(alice, row)
    assert await with_birds(alice) == BIRDS
    assert await writing.recount(alice) == []


async def test_a_label_that_is_being_deleted_is_not_deleted_or_merged_again(alice: Member) -> None:
    row = await started(alice)
    birds, blue = [await writing.label_id(alice, name) for name in ("Birds", "Blue")]
    account = await alice.account()

    for ids in ((birds, None), (birds, blue), (blue, birds)):
        with pytest.raises(Refusal, match="No label"):
            await changes(alice).run_label(account, *ids)

    await finish(alice, row)
    assert list(await writing.labels(alice)) == ["Blue"]
