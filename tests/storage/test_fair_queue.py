"""The fair queue: accounts take turns, none takes every slot, and waiting has bounds."""

import asyncio
import random
from collections import Counter

import pytest

from bowerbird.errors import Code, Refusal, TooManyWaiting
from bowerbird.storage.fair_queue import Bounds, FairQueue

pytestmark = pytest.mark.anyio

ALICE, BOB, CAROL = 1, 2, 3


def queue_of(
    slots: int, per_account: int, *, each: int = 100, total: int = 1_000, wait_s: float = 60
) -> FairQueue:
    return FairQueue("database reader", slots, per_account, Bounds(each, total, wait_s))


class Visitors:
    """Tasks that take a slot and hold it until the test releases them."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.served: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._leaving: dict[str, asyncio.Event] = {}

    async def arrive(self, account_id: int, *names: str, in_background: bool = False) -> None:
        for name in names:
            self._leaving[name] = asyncio.Event()
            visit = self._visit(account_id, name, in_background=in_background)
            self.tasks[name] = asyncio.create_task(visit)
        await settled()

    async def leave(self, name: str) -> None:
        self._leaving[name].set()
        await self.tasks[name]
        await settled()

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await asyncio.gather(self.tasks[name], return_exceptions=True)
        await settled()

    async def _visit(self, account_id: int, name: str, *, in_background: bool) -> None:
        async with self.queue.slot(account_id, in_background=in_background):
            self.served.append(name)
            await self._leaving[name].wait()


async def settled() -> None:
    """Lets every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_free_slot_is_taken_without_waiting() -> None:
    queue = queue_of(3, 2)

    # A coroutine that never waits ends at its first step.
    with pytest.raises(StopIteration):
        queue.acquire(ALICE).send(None)


async def test_no_account_takes_every_slot_even_if_no_other_account_waits() -> None:
    visitors = Visitors(queue_of(3, 2))

    await visitors.arrive(ALICE, "a1", "a2", "a3")
    assert visitors.served == ["a1", "a2"]
    await visitors.arrive(BOB, "b1")

    assert visitors.served == ["a1", "a2", "b1"]
    for name in ("b1", "a1", "a2", "a3"):
        await visitors.leave(name)


async def test_accounts_take_turns_even_if_one_has_many_requests() -> None:
    visitors = Visitors(queue_of(1, 1))
    await visitors.arrive(ALICE, "a0", "a1", "a2", "a3")
    await visitors.arrive(BOB, "b1", "b2")
    await visitors.arrive(CAROL, "c1")

    for turn in range(7):
        await visitors.leave(visitors.served[turn])

    assert visitors.served == ["a0", "a1", "b1", "c1", "a2", "b2", "a3"]


async def test_an_account_at_its_limit_is_skipped() -> None:
    visitors = Visitors(queue_of(2, 1))
    await visitors.arrive(ALICE, "a1", "a2")
    await visitors.arrive(BOB, "b1", "b2")
    await visitors.arrive(CAROL, "c1")

    # Alice is first in the queue, but already holds the maximum number of slots.
    await visitors.leave("b1")

    assert visitors.served == ["a1", "b1", "b2"]
    await visitors.leave("b2")
    assert visitors.served == ["a1", "b1", "b2", "c1"]
    for name in ("c1", "a1", "a2"):
        await visitors.leave(name)


async def test_an_account_with_too_many_waiting_is_refused_and_others_are_not() -> None:
    visitors = Visitors(queue_of(1, 1, each=2))
    await visitors.arrive(ALICE, "a1", "a2", "a3")

    with pytest.raises(Refusal, match="this account") as refused:
        await visitors.queue.acquire(ALICE)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert int(refused.value.headers["Retry-After"]) >= 1
    await visitors.arrive(BOB, "b1")
    for name in ("a1", "a2", "b1", "a3"):
        await visitors.leave(name)


async def test_with_too_many_waiting_in_total_only_accounts_that_wait_are_refused() -> None:
    visitors = Visitors(queue_of(1, 1, total=2))
    await visitors.arrive(ALICE, "a1", "a2")
    await visitors.arrive(BOB, "b1")

    for account_id in (ALICE, BOB):
        with pytest.raises(Refusal, match="Too many requests wait") as refused:
            await visitors.queue.acquire(account_id)
        assert refused.value.code is Code.SERVICE_UNAVAILABLE
        assert int(refused.value.headers["Retry-After"]) >= 1
    await visitors.arrive(CAROL, "c1")

    for name in ("a1", "a2", "b1", "c1"):
        await visitors.leave(name)
    assert visitors.served == ["a1", "a2", "b1", "c1"]


async def test_every_account_is_refused_at_the_most_that_may_wait() -> None:
    queue = FairQueue("database reader", 1, 1, Bounds(total=1, at_most=2))
    visitors = Visitors(queue)
    await visitors.arrive(ALICE, "a1", "a2")
    await visitors.arrive(BOB, "b1")

    with pytest.raises(Refusal, match="Too many requests wait"):
        await queue.acquire(CAROL)

    for name in ("a1", "a2", "b1"):
        await visitors.leave(name)
    await queue.acquire(CAROL)


async def test_waiting_ends_at_the_time_limit() -> None:
    queue = queue_of(1, 1, wait_s=0)
    await queue.acquire(ALICE)

    with pytest.raises(Refusal, match="No database reader became free") as refused:
        await queue.acquire(BOB)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert int(refused.value.headers["Retry-After"]) >= 1
    # The slot is not granted to a waiter that has timed out.
    queue.release(ALICE)
    await queue.acquire(BOB)


async def test_a_background_job_waits_beyond_the_bounds_and_goes_first_of_its_account() -> None:
    visitors = Visitors(queue_of(1, 1, each=2, total=3))
    await visitors.arrive(ALICE, "a1", "a2", "a3")
    await visitors.arrive(BOB, "b1")

    await visitors.arrive(ALICE, "job", in_background=True)

    assert not visitors.tasks["job"].done()
    with pytest.raises(Refusal, match="this account"):
        await visitors.queue.acquire(ALICE)
    for name in ("a1", "job", "b1", "a2", "a3"):
        await visitors.leave(name)
    assert visitors.served == ["a1", "job", "b1", "a2", "a3"]


async def test_a_background_job_does_not_time_out() -> None:
    visitors = Visitors(queue_of(1, 1, wait_s=0))
    await visitors.queue.acquire(ALICE)
    await visitors.arrive(BOB, "job", in_background=True)

    with pytest.raises(Refusal, match="No database reader became free"):
        await visitors.queue.acquire(CAROL)

    assert not visitors.tasks["job"].done()
    visitors.queue.release(ALICE)
    await visitors.leave("job")


async def test_a_cancelled_waiter_leaves_the_queue() -> None:
    visitors = Visitors(queue_of(1, 1, each=1))
    await visitors.arrive(ALICE, "a1", "a2")

    await visitors.cancel("a2")
    await visitors.arrive(ALICE, "a3")
    await visitors.leave("a1")

    assert visitors.served == ["a1", "a3"]
    await visitors.leave("a3")


async def test_a_slot_granted_to_a_cancelled_waiter_goes_to_the_next() -> None:
    visitors = Visitors(queue_of(1, 1))
    await visitors.queue.acquire(ALICE)
    await visitors.arrive(ALICE, "a1")
    await visitors.arrive(BOB, "b1")

    # a1 is granted the slot and cancelled before it runs again.
    visitors.queue.release(ALICE)
    await visitors.cancel("a1")

    assert visitors.served == ["b1"]
    await visitors.leave("b1")


async def test_a_closed_queue_refuses_current_and_later_waiters() -> None:
    visitors = Visitors(queue_of(1, 1))
    await visitors.arrive(ALICE, "a1", "a2")
    await visitors.arrive(BOB, "b1")
    await visitors.arrive(CAROL, "job", in_background=True)
    visitors.queue.close()

    for name in ("a2", "b1", "job"):
        with pytest.raises(Refusal, match="The service is stopping"):
            await visitors.tasks[name]
    with pytest.raises(Refusal, match="The service is stopping"):
        await visitors.queue.acquire(CAROL)
    await visitors.leave("a1")


async def test_slots_are_neither_lost_nor_granted_twice() -> None:
    chance = random.Random("slots")  # noqa: S311 - no secret
    slots, per_account = 3, 2
    queue = queue_of(slots, per_account, each=4, total=10)
    used: Counter[int] = Counter()
    served: Counter[int] = Counter()

    async def visit(account_id: int) -> None:
        async with queue.slot(account_id):
            used[account_id] += 1
            served[account_id] += 1
            assert used[account_id] <= per_account
            assert used.total() <= slots
            try:
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
            finally:
                used[account_id] -= 1

    tasks = []
    for _ in range(2_000):
        tasks.append(asyncio.create_task(visit(chance.randrange(5))))
        if chance.random() < 0.3:
            chance.choice(tasks[-10:]).cancel()
        if chance.random() < 0.5:
            await asyncio.sleep(0)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)

    assert {type(outcome) for outcome in outcomes} <= {
        *(type(None), asyncio.CancelledError, Refusal, TooManyWaiting),
    }
    assert min(served.values()) > 100
    # All slots are free again: as many accounts get one without waiting.
    for account_id in range(slots):
        with pytest.raises(StopIteration):
            queue.acquire(account_id).send(None)
