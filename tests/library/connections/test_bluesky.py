"""Bookmarks on Bluesky, in both shapes of its answers, with sessions that are renewed."""

import pytest

from bowerbird.errors import Refusal
from bowerbird.library.connections.access import place_of
from bowerbird.model.connections import Problem
from tests.support.hosts.networks import APP_PASSWORD, DID, Networks, json_reply, record
from tests.support.posts.sources import Desk

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("shape", ["present", "older"])
async def test_all_pages_are_read_in_the_order_of_saving(
    desk: Desk, networks: Networks, shape: str
) -> None:
    is_old_shape = shape == "older"
    networks.records = [record(n, is_old_shape=is_old_shape) for n in range(230, 0, -1)]
    connection = await desk.bluesky()

    await desk.run()

    assert await desk.texts() == [f"Record number {number}" for number in range(230, 0, -1)]
    assert [one.query.get("cursor") for one in networks.lists()] == [None, "100", "200"]
    assert {one.query["limit"] for one in networks.lists()} == {"100"}
    found = await desk.one(connection)
    assert (found.source_user_id, found.name, found.total) == (DID, "@alice.test", 230)

    networks.records.insert(0, record(231, is_old_shape=is_old_shape))
    await desk.an_hour_later()

    assert (await desk.texts())[:2] == ["Record number 231", "Record number 230"]
    assert len(networks.lists()) == 5
    assert (await desk.one(connection)).new == 1


async def test_an_expired_session_is_renewed_and_stored_before_it_is_used(
    desk: Desk, networks: Networks
) -> None:
    networks.records = [record(1)]
    connection = await desk.bluesky()
    # The access token has expired; the refresh token has not.
    networks.sessions = {"expired": "refresh-1"}

    await desk.run()

    tokens = [(one.path.rpartition(".")[2], one.token) for one in networks.received[1:]]
    assert tokens == [
        ("getBookmarks", "access-1"),
        ("refreshSession", "refresh-1"),
        ("getBookmarks", "access-2"),
    ]
    found = await desk.one(connection)
    assert (found.problem, found.version) == ("", 2)
    assert await desk.texts() == ["Record number 1"]

    await desk.an_hour_later()

    assert networks.received[-1].token == "access-2"


async def test_a_session_that_is_revoked_asks_the_person_to_connect_again(
    desk: Desk, networks: Networks
) -> None:
    connection = await desk.bluesky()
    networks.sessions.clear()

    await desk.run()

    assert (await desk.one(connection)).problem is Problem.REVOKED
    await desk.bluesky()
    await desk.run()
    [found] = await desk.all()
    assert (found.connection_id, found.problem) == (connection.connection_id, "")


async def test_a_wrong_password_is_refused(desk: Desk, networks: Networks) -> None:
    with pytest.raises(Refusal, match="Use an app password, not your own"):
        await desk.connecting.bluesky(desk.account_id, "alice.test", "wrong", networks.address)

    assert await desk.all() == []


async def test_the_app_password_is_not_stored(desk: Desk) -> None:
    connection = await desk.bluesky()

    place = place_of(desk.account_id, connection.connection_id)
    tokens = desk.connecting._vault.open(connection.sealed, place)  # noqa: SLF001 - what is stored
    assert APP_PASSWORD not in str([tokens.access, tokens.refresh, tokens.client_secret])


async def test_a_cursor_that_is_forgotten_starts_the_list_again(
    desk: Desk, networks: Networks
) -> None:
    networks.records = [record(number) for number in range(150, 0, -1)]
    connection = await desk.bluesky()
    assert await desk.step(connection)
    networks.answer_once("getBookmarks", json_reply({"error": "InvalidRequest"}, 400))

    assert not await desk.step(connection)
    assert (await desk.one(connection)).problem is Problem.UNREADABLE_ANSWER
    assert (await desk.one(connection)).run_id == ""

    await desk.an_hour_later()

    assert (await desk.one(connection)).problem is Problem.NONE
    assert len(await desk.texts()) == 150
