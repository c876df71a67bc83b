"""The access of a source ends at its network too, if the network can be reached."""

import asyncio
import base64

import pytest

from bowerbird.library.connections.connecting import revoke
from bowerbird.model.connections import Connection
from tests.support.hosts.networks import Networks, Reply, json_reply
from tests.support.posts.sources import Desk

pytestmark = pytest.mark.anyio


async def disconnect(desk: Desk, connection: Connection, patience_s: float = 30.0) -> None:
    account = await desk.member.account()
    removed = await desk.connections.disconnect(account, connection.connection_id)
    await revoke(desk.settings, desk.member.clock, desk.account_id, removed, patience_s=patience_s)
    assert await desk.all() == []


async def test_x_ends_both_tokens_for_the_app_of_the_person(desk: Desk, networks: Networks) -> None:
    connection = await desk.x()
    tokens = {*networks.x_tokens, *networks.x_tokens.values()}

    await disconnect(desk, connection)

    asked = [one for one in networks.received if one.path == "/2/oauth2/revoke"]
    assert {one.form["token"] for one in asked} == tokens
    basic = base64.b64encode(b"client:secret").decode()
    assert {one.headers["authorization"] for one in asked} == {f"Basic {basic}"}
    assert networks.x_tokens == {}


async def test_bluesky_ends_the_session(
    desk: Desk, networks: Networks, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = await desk.bluesky()

    await disconnect(desk, connection)

    assert networks.sessions == {}
    assert "access not revoked" not in capsys.readouterr().out


async def test_mastodon_is_not_asked(desk: Desk, networks: Networks) -> None:
    connection = await desk.mastodon()
    before = len(networks.received)

    await disconnect(desk, connection)

    assert len(networks.received) == before


async def test_a_sign_in_that_was_not_finished_has_nothing_to_end(
    desk: Desk, networks: Networks
) -> None:
    await desk.connecting.begin_x(desk.account_id, "client", "")
    [unfinished] = await desk.all()

    await disconnect(desk, unfinished)

    assert networks.received == []


@pytest.mark.parametrize("reply", [Reply(500), json_reply({"error": "no"}, 401), Reply(302)])
async def test_a_network_that_refuses_does_not_keep_the_source(
    desk: Desk, networks: Networks, capsys: pytest.CaptureFixture[str], reply: Reply
) -> None:
    connection = await desk.x()
    networks.answer_always("/revoke", reply)

    await disconnect(desk, connection)

    logged = capsys.readouterr().out
    assert "access not revoked" in logged
    assert "x-refresh" not in logged


async def test_a_silent_network_is_not_waited_for(desk: Desk, networks: Networks) -> None:
    connection = await desk.bluesky()
    networks.silent = asyncio.Event()

    async with asyncio.timeout(120):
        await disconnect(desk, connection, patience_s=0.05)

    networks.silent.set()


async def test_without_the_key_the_source_is_disconnected(desk: Desk, networks: Networks) -> None:
    connection = await desk.bluesky()
    before = len(networks.received)
    (desk.folder / "sources.key").unlink()

    await disconnect(desk, connection)

    assert len(networks.received) == before
