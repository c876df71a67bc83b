"""Turns that end by the clock: a slow machine takes more of them, with the same result."""

import pytest

from bowerbird.library.access import turns
from bowerbird.library.access.turns import TURN_US, TurnTime, Unfinished
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.labels.labels import Labels
from bowerbird.requests.bookmarks import FlagsRequest
from bowerbird.requests.labels import LabelOperation, LabelRequest
from tests.support import make, writing
from tests.support.service import Member, SetClock
from tests.support.watched_writes import WatchedWrites

pytestmark = [pytest.mark.anyio, pytest.mark.both]

POSTS = 40
FIRST = 10
IDS = [str(1_000 + number) for number in range(POSTS)]


class SlowClock(SetClock):
    """Time passes whenever somebody looks."""

    def __init__(self, step_us: int) -> None:
        super().__init__()
        self._step = step_us

    def __call__(self) -> int:
        self.now += self._step
        return self.now


# So slow that each look takes a whole turn; and so that the first posts take half of one.
VERY_SLOW = TURN_US
SLOW = TURN_US // 4


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "POSTS_PER_TURN", FIRST)
    monkeypatch.setattr(turns, "POSTS_ALONE", POSTS)


async def fill(member: Member) -> None:
    await member.save_all([make.post(post_id=post_id, tags=["old"]) for post_id in IDS])


def test_a_turn_has_room_for_posts_at_the_pace_of_those_before() -> None:
    clock = SetClock()
    time = TurnTime(clock)

    clock.now += TURN_US // 3
    assert time.more(100) == 200

    clock.now += TURN_US // 3
    assert time.more(300) == 150

    clock.now += TURN_US
    assert time.more(400) == 0


def test_a_clock_that_is_set_back_ends_no_turn() -> None:
    clock = SetClock()
    time = TurnTime(clock)

    clock.now -= TURN_US

    assert time.more(1) == turns.POSTS_ALONE


@pytest.mark.parametrize(("step_us", "transactions"), [(0, 1), (VERY_SLOW, 4)])
async def test_marking_posts_takes_more_turns_on_a_slow_machine(
    alice: Member, step_us: int, transactions: int
) -> None:
    await fill(alice)
    flags = Flags(alice.database, SlowClock(step_us))
    account, watched = await alice.account(), WatchedWrites(alice.database)
    asked = [*IDS[:5], "7", *IDS[5:]]

    result = await turns.run(
        alice.database,
        lambda t: flags.update_many(t, account, asked, FlagsRequest(is_read=True)),
        account.account_id,
    )

    assert len(watched.rows) in (transactions, transactions + 1)
    assert [post.post_id for post in result.posts] == IDS
    assert all(post.is_read for post in result.posts)
    assert (result.affected, result.not_found) == (POSTS, ["7"])
    assert await writing.recount(alice) == []


async def test_a_turn_goes_on_with_as_many_posts_as_fit(alice: Member) -> None:
    await fill(alice)
    flags = Flags(alice.database, SlowClock(SLOW))
    account, watched = await alice.account(), WatchedWrites(alice.database)

    await turns.run(
        alice.database,
        lambda t: flags.update_many(t, account, IDS, FlagsRequest(is_read=True)),
        account.account_id,
    )

    # A fast machine takes one turn, and the slowest takes four.
    assert len(watched.rows) == 2


@pytest.mark.parametrize(("step_us", "transactions"), [(0, 1), (VERY_SLOW, 4)])
async def test_labelling_posts_takes_more_turns_on_a_slow_machine(
    alice: Member, step_us: int, transactions: int
) -> None:
    await fill(alice)
    labels = Labels(alice.database, SlowClock(step_us))
    account, watched = await alice.account(), WatchedWrites(alice.database)
    request = LabelRequest(post_ids=[*IDS[:5], "7", *IDS[5:]], label_name="New")

    result = await turns.run(
        alice.database,
        lambda t: labels.change(t, account, "add", request),
        account.account_id,
    )

    assert len(watched.rows) in (transactions, transactions + 1)
    assert [post.post_id for post in result.posts] == IDS
    assert all(post.tags == ["New", "old"] for post in result.posts)
    assert (result.affected, result.not_found, result.not_changed) == (POSTS, ["7"], [])
    assert await writing.recount(alice) == []


async def test_a_post_that_arrives_between_two_turns_stays_not_found(alice: Member) -> None:
    await fill(alice)
    labels, account = Labels(alice.database, SlowClock(VERY_SLOW)), await alice.account()
    request = LabelRequest(post_ids=[*IDS[:30], "7"], label_name="New")

    step = await alice.database.write(lambda t: labels.change(t, account, "add", request))
    assert isinstance(step, Unfinished)
    await alice.save_all([make.post(post_id="7")])
    result = await turns.run(alice.database, step.rest, account.account_id)

    assert (result.affected, result.not_found) == (30, ["7"])
    assert [post.post_id for post in result.posts] == IDS[:30]
    assert await writing.recount(alice) == []


@pytest.mark.parametrize("step_us", [0, SLOW, VERY_SLOW])
async def test_operations_that_undo_each_other_have_the_same_result_on_every_machine(
    alice: Member, step_us: int
) -> None:
    await fill(alice)
    labels, account = Labels(alice.database, SlowClock(step_us)), await alice.account()
    operations = [
        LabelOperation(op="add", post_ids=IDS[:15], label_name="a"),
        LabelOperation(op="remove", post_ids=IDS[:10], label_name="a"),
        LabelOperation(op="remove", post_ids=IDS[:4], label_name="absent"),
        LabelOperation(op="add", post_ids=IDS[5:12], label_name="a"),
        LabelOperation(op="remove", post_ids=IDS[:3], label_name="old"),
    ]

    result = await turns.run(
        alice.database,
        lambda t: labels.batch(t, account, operations),
        account.account_id,
    )

    assert [one.affected for one in result.results] == [15, 10, None, 5, 3]
    assert [one.ok for one in result.results] == [True, True, False, True, True]
    assert await writing.labels(alice) == {"a": 10, "old": POSTS - 3}
    assert await writing.recount(alice) == []
