"""First runs that take longer than the answers to pages are kept."""

import pytest

from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.connections import Connection, Problem
from tests.support.hosts.networks import Networks, tweet
from tests.support.posts.sources import Desk

pytestmark = pytest.mark.anyio

DAY_S = 86_400


async def slow(desk: Desk, networks: Networks, posts: int) -> Connection:
    """A source that reads one page per day."""
    networks.tweets = [tweet(number) for number in range(posts, 0, -1)]
    connection = await desk.x()
    await desk.bound(connection, 90)
    return connection


async def a_day(desk: Desk) -> None:
    await desk.run()
    desk.wait(DAY_S)
    await Sweeping(desk.member.database, desk.member.clock, pause_s=0).sweep()


async def test_a_first_run_of_many_days_completes_and_is_not_read_again(
    desk: Desk, networks: Networks
) -> None:
    # Longer than the answers are kept.
    posts = 90 * 32
    connection = await slow(desk, networks, posts)

    for _ in range(posts // 90):
        await a_day(desk)

    found = await desk.one(connection)
    assert (found.total, found.run_id, found.problem) == (posts, "", Problem.NONE)
    before = len(networks.lists())
    assert before == posts // 90
    await desk.bound(connection, 10_000)

    await a_day(desk)

    assert len(networks.lists()) == before + 1


@pytest.mark.both
async def test_a_first_run_goes_on_after_a_pause_of_weeks(desk: Desk, networks: Networks) -> None:
    connection = await slow(desk, networks, 270)
    await a_day(desk)
    await desk.connections.pause(desk.account_id, connection.connection_id)
    for _ in range(40):
        await a_day(desk)
    await desk.connections.run_now(desk.account_id, connection.connection_id)

    await a_day(desk)
    await a_day(desk)
    await desk.bound(connection, 10_000)
    await a_day(desk)

    asked = [one.query.get("pagination_token") for one in networks.lists()]
    assert asked == [None, "90", "180", None]
    assert len(await desk.texts()) == 270


async def test_the_pages_of_a_run_that_ended_are_removed(desk: Desk, networks: Networks) -> None:
    await slow(desk, networks, 90)
    await desk.run()
    desk.wait(8 * DAY_S)
    await Sweeping(desk.member.database, desk.member.clock, pause_s=0).sweep()

    rows = await desk.member.database.rows(
        "SELECT count(*) FROM ingest_page AS p WHERE p.account_id = :account_id",
        {"account_id": desk.account_id},
    )

    assert rows[0][0] == 0
