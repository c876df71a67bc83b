"""Changes that several jobs work on at once are made and undone in the order of acceptance."""

import random

import pytest

from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing import trash_batch
from bowerbird.model.bulk import BulkRow, BulkState
from tests.library.bulk.test_undo_of_changes import ACTIONS, IDS, Model, fill, state
from tests.support import writing
from tests.support.posts.bulk import change, changes, finish, step, undo
from tests.support.service import Member

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "POSTS_PER_TURN", 3)
    monkeypatch.setattr(trash_batch, "TRASHED_PER_TURN", 2)


OPPOSED = [
    ("read", "unread"),
    ("archive", "unarchive"),
    ("trash", "restore"),
    ("add_label", "remove_label"),
]


async def some_turns(member: Member, open_: list[BulkRow], chance: random.Random) -> None:
    """Jobs take turns in any order."""
    for _ in range(chance.randint(0, 2) if open_ else 0):
        row = chance.choice(open_)
        if await step(member, row) is not None:
            open_.remove(row)
        if not open_:
            return


@pytest.mark.both
@pytest.mark.parametrize("seed", range(4))
async def test_overlapping_changes_are_made_and_undone_in_order(alice: Member, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable
    await fill(alice)
    await writing.add(alice, "Blue", *IDS[:1])
    before, model = await state(alice), Model(await state(alice))
    actions = [*chance.choice(OPPOSED), *chance.choice(OPPOSED)]
    made: list[BulkRow] = []
    working: list[BulkRow] = []
    for _ in range(5):
        action = chance.choice(actions)
        field, value = ACTIONS[action]
        label = None if field else chance.choice(["Birds", "Blue"])
        chosen = chance.sample(IDS, chance.randint(8, 12))
        row = await change(alice, action, chosen, label)
        made.append(row)
        working += [] if row.is_finished else [row]
        for one in chosen:
            model.set(row.number, one, field or str(label), value=value)
        await some_turns(alice, working, chance)
    is_finished_first = chance.random() < 0.5
    while is_finished_first and working:
        await some_turns(alice, working, chance)
    assert not is_finished_first or await state(alice) == model.library

    undoing: list[BulkRow] = []
    for row in reversed(made):
        undone = await changes(alice).run_undo(await alice.account(), row.change_id)
        undoing += [] if undone.is_finished else [undone]
        await some_turns(alice, undoing, chance)
    while undoing:
        await some_turns(alice, undoing, chance)

    assert await state(alice) == before
    assert await writing.recount(alice) == []
    rows = [await changes(alice).get(await alice.account(), row.change_id) for row in made]
    assert {row.state for row in rows} == {BulkState.UNDONE}


async def test_a_later_change_waits_for_one_of_its_account(alice: Member, bob: Member) -> None:
    await fill(alice)
    await fill(bob)
    first = await change(alice, "archive", IDS)
    second = await change(alice, "unarchive", IDS)
    assert (second.state, second.done) == (BulkState.WORKING, 0)
    # Neither a change without posts nor another account waits.
    assert (await change(alice, "read", [])).state is BulkState.DONE
    assert (await change(bob, "archive", IDS[:2])).state is BulkState.DONE

    done = await finish(alice, second)

    assert (done.state, done.changed) == (BulkState.DONE, len(IDS))
    made = await changes(alice).get(await alice.account(), first.change_id)
    assert made.state is BulkState.DONE
    assert not any(is_archived for _, is_archived, _ in (await state(alice)).values())


async def test_a_waiting_change_that_is_undone_changes_nothing(alice: Member) -> None:
    await fill(alice)
    first = await change(alice, "archive", IDS)
    second = await change(alice, "read", IDS)

    undone = await changes(alice).run_undo(await alice.account(), second.change_id)

    assert (undone.state, undone.restored) == (BulkState.UNDONE, 0)
    await finish(alice, first)
    assert sum(is_read for is_read, _, _ in (await state(alice)).values()) == len(IDS) // 2


async def test_a_change_whose_job_has_failed_holds_up_no_other(alice: Member) -> None:
    await fill(alice)
    first = await change(alice, "archive", IDS)
    sql = "UPDATE job SET state = 'failed', error = 'x', completed_at = 1 WHERE job_id = :job_id"
    await alice.database.write(lambda t: t.run(sql, {"job_id": first.job_id}))

    second = await change(alice, "read", IDS[:2])

    assert second.state is BulkState.DONE
    assert (await undo(alice, first)).restored == first.changed
