"""Servers that send their answers slowly: a step ends in time, and no renewed token is lost."""

import asyncio

import pytest

from bowerbird.connections.fetching import Fetcher
from bowerbird.connections.records import SourceProblem
from bowerbird.library.connections.syncing import Sync
from bowerbird.model.connections import Problem
from tests.support.hosts.networks import Networks, Received, record
from tests.support.posts.sources import Desk, no_report

pytestmark = pytest.mark.anyio
LIST = "/app.bsky.bookmark.getBookmarks"
RENEWAL = "/com.atproto.server.refreshSession"


def impatient(desk: Desk, *, least_s: float = 0.5) -> Sync:
    def fetcher() -> Fetcher:
        return Fetcher([f"127.0.0.1:{desk.networks.port}"], least_s=least_s)

    return Sync(desk.member.database, desk.member.clock, desk.settings, fetcher)


def renewals(networks: Networks) -> int:
    return sum(one.path.endswith(RENEWAL) for one in networks.received)


async def test_the_requests_of_a_step_share_its_time_left(desk: Desk, networks: Networks) -> None:
    networks.records = [record(number) for number in range(20, 0, -1)]
    connection = await desk.bluesky()
    networks.sessions = {"access-of-another-time": "refresh-1"}
    networks.dripping[LIST] = 0.01

    await impatient(desk).run(desk.account_id, no_report, 2.0)

    found = await desk.one(connection)
    assert (found.problem, found.failures) == (Problem.UNREACHABLE, 1)
    assert found.next_run_at > desk.member.clock()
    assert renewals(networks) == 1
    networks.dripping.clear()
    await desk.an_hour_later()
    # With the tokens of the step that was cut.
    assert renewals(networks) == 1
    assert len(await desk.texts()) == 20


async def test_a_step_that_begins_late_has_some_seconds(desk: Desk, networks: Networks) -> None:
    networks.records = [record(1)]
    connection = await desk.bluesky()

    await impatient(desk, least_s=10).run(desk.account_id, no_report, 0.0)

    assert (await desk.one(connection)).problem is Problem.NONE
    assert await desk.texts() == ["Record number 1"]


async def test_a_renewal_goes_on_though_earlier_requests_were_slow(networks: Networks) -> None:
    url = f"{networks.address}/xrpc/com.atproto.server.deleteSession"
    fetcher = Fetcher([f"127.0.0.1:{networks.port}"], least_s=2)
    async with fetcher:
        with fetcher.within(0):
            networks.silent = asyncio.Event()
            with pytest.raises(SourceProblem):
                await fetcher.get(url)
            networks.silent = None
            with pytest.raises(SourceProblem):
                await fetcher.get(url)

            with fetcher.in_any_case():
                answer = await fetcher.post_json(url, is_json=False)

    assert answer.status == 200


async def test_a_worker_that_stops_waits_until_a_renewed_token_is_stored(
    desk: Desk, networks: Networks
) -> None:
    networks.records = [record(1)]
    connection = await desk.bluesky()
    networks.sessions = {"access-of-another-time": "refresh-1"}
    asked, answered = asyncio.Event(), asyncio.Event()

    def hold(request: Received) -> None:
        if request.path.endswith(RENEWAL):
            networks.silent = answered
            asked.set()

    networks.special.append(hold)
    running = asyncio.create_task(desk.run())
    await asyncio.wait_for(asked.wait(), 30)

    running.cancel()
    # The cancellation arrives before the answer.
    await asyncio.sleep(0)
    answered.set()
    with pytest.raises(asyncio.CancelledError):
        await running

    networks.special.clear()
    await desk.run()
    assert (await desk.one(connection)).problem is Problem.NONE
    assert renewals(networks) == 1
    assert await desk.texts() == ["Record number 1"]
