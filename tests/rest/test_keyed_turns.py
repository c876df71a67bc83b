"""The key of a label edit between the transactions of the edit: nobody else can use it."""

import asyncio

import httpx
import pytest

from bowerbird import app
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.settings import Settings
from bowerbird.storage.idempotency import LEASE_S
from tests.rest.test_label_turns import POSTS, fill, path_of, short_turns
from tests.support import writing
from tests.support.service import Member
from tests.support.watched_writes import WatchedWrites, interrupted
from tests.support.writing import HOUR, SECOND

pytestmark = [pytest.mark.anyio, pytest.mark.both]

__all__ = ["short_turns"]


class Merge:
    """A keyed merge that is stopped between two of its turns."""

    def __init__(self, member: Member, path: str, into: str) -> None:
        self.member, self.path, self.body = member, path, {"into": into}

    async def send(self, on: Member | None = None) -> httpx.Response:
        return await writing.send(
            on or self.member, "POST", f"{self.path}/merge", self.body, key="k"
        )


async def a_merge(member: Member) -> Merge:
    await fill(member)
    into = await writing.label_id(member, "other")
    return Merge(member, await path_of(member, "wide"), into)


async def test_a_key_belongs_to_its_request_between_two_turns(alice: Member) -> None:
    merge = await a_merge(alice)
    pause = WatchedWrites(alice.database).pause_after(1)
    merging = asyncio.ensure_future(merge.send())
    await pause.reached.wait()

    reused = await writing.send(alice, "PATCH", merge.path, {"metadata": {"a": 1}}, key="k")
    again = await merge.send()
    # However long the first request waits for its next turn.
    alice.clock.now += 3 * HOUR
    later = await merge.send()
    pause.over.set()
    first = await merging

    assert writing.refused(reused) == (422, "IDEMPOTENCY_KEY_REUSED")
    for refused in (again, later):
        assert writing.refused(refused) == (409, "IDEMPOTENCY_IN_PROGRESS")
        assert writing.sentence(refused) == (
            "Idempotency-Key: the first request with this key is still running."
        )
        assert refused.headers["retry-after"] == "1"
    assert first.json()["data"]["count"] == POSTS
    assert (await merge.send()).headers["idempotency-replayed"] == "true"
    assert await writing.recount(alice) == []


async def test_an_interrupted_request_keeps_its_key_from_other_requests(alice: Member) -> None:
    merge = await a_merge(alice)
    await interrupted(WatchedWrites(alice.database), 1, merge.send())

    reused = await writing.send(alice, "PATCH", merge.path, {"metadata": {"a": 1}}, key="k")

    assert writing.refused(reused) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert (await merge.send()).status_code == 200


def another_process(member: Member) -> Member:
    """The same account on a second service, which knows nothing of the first one's requests."""
    return member.on(app.build(Settings(), member.database, member.clock))


async def test_another_process_takes_an_interrupted_request_over_after_a_while(
    alice: Member,
) -> None:
    merge = await a_merge(alice)
    other = another_process(alice)
    await interrupted(WatchedWrites(alice.database), 1, merge.send())

    early = await merge.send(other)
    alice.clock.now += LEASE_S * SECOND
    still = await merge.send(other)
    alice.clock.now += 1
    taken_over = await merge.send(other)

    assert [early.status_code, still.status_code] == [409, 409]
    assert taken_over.json()["data"]["count"] == POSTS
    assert "idempotency-replayed" not in taken_over.headers
    assert await writing.labels(alice) == {"other": POSTS}
    assert await writing.recount(alice) == []


async def test_a_request_that_was_taken_over_returns_the_answer_of_the_other(
    alice: Member,
) -> None:
    merge = await a_merge(alice)
    watched = WatchedWrites(alice.database)
    pause = watched.pause_after(1)
    merging = asyncio.ensure_future(merge.send())
    await pause.reached.wait()
    alice.clock.now += LEASE_S * SECOND + 1
    taken_over = await merge.send(another_process(alice))
    pause.over.set()

    first = await merging

    assert first.content == taken_over.content
    assert first.headers["idempotency-replayed"] == "true"
    assert await writing.recount(alice) == []


async def test_a_request_that_is_being_taken_over_ends_with_409(alice: Member) -> None:
    merge = await a_merge(alice)
    watched = WatchedWrites(alice.database)
    first_pause = watched.pause_after(1)
    merging = asyncio.ensure_future(merge.send())
    await first_pause.reached.wait()
    alice.clock.now += LEASE_S * SECOND + 1
    second_pause = watched.pause_after(1)
    taking_over = asyncio.ensure_future(merge.send(another_process(alice)))
    await second_pause.reached.wait()

    first_pause.over.set()
    first = await merging
    second_pause.over.set()

    assert writing.refused(first) == (409, "IDEMPOTENCY_IN_PROGRESS")
    assert (await taking_over).json()["data"]["count"] == POSTS
    assert await writing.recount(alice) == []


async def test_each_turn_renews_the_claim_on_a_key(alice: Member) -> None:
    merge = await a_merge(alice)
    watched = WatchedWrites(alice.database)
    pauses = [watched.pause_after(1), watched.pause_after(2)]
    merging = asyncio.ensure_future(merge.send())
    other = another_process(alice)
    for pause in pauses:
        await pause.reached.wait()
        alice.clock.now += LEASE_S * SECOND
        assert (await merge.send(other)).status_code == 409
        pause.over.set()

    assert (await merging).status_code == 200


async def test_the_sweep_leaves_the_key_of_a_running_request(alice: Member) -> None:
    merge = await a_merge(alice)
    pause = WatchedWrites(alice.database).pause_after(1)
    merging = asyncio.ensure_future(merge.send())
    await pause.reached.wait()
    alice.clock.now += 23 * HOUR

    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()

    assert (await merge.send()).status_code == 409
    pause.over.set()
    assert (await merging).status_code == 200
