"""kill -9 while a source is read: the next worker continues, nothing is lost or stored twice."""

import asyncio
import signal
from typing import Any

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.connections.connecting import Connecting
from bowerbird.library.connections.connections import Connections
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.connections import Problem
from bowerbird.settings import Settings
from bowerbird.storage.accounts.account_removal import AccountExportStore
from tests.crash import killing
from tests.support import serving, waiting
from tests.support.networks import ALICE_TOKEN, Networks, playing, status

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
POSTS = 600
PAGES = POSTS // 40
KILLS = 2


async def test_a_killed_worker_loses_no_post_and_stores_none_twice(
    settings: dict[str, Any],
) -> None:
    async with playing() as networks:
        networks.statuses = [status(number) for number in range(POSTS, 0, -1)]
        await assert_all_are_read(networks, {**settings, **networks.settings})


async def assert_all_are_read(networks: Networks, settings: dict[str, Any]) -> None:
    environment = serving.environment_of(**settings)
    await asyncio.to_thread(serving.command, "account", "create", EMAIL, environment=environment)
    await connect(networks, Settings(**settings))
    for life in range(1, KILLS + 1):
        child = await killing.started("source_reader", EMAIL, environment=environment)
        await waiting.until(lambda n=life: has_sent(networks, n * PAGES // (KILLS + 2)))  # type: ignore[misc]
        child.send_signal(signal.SIGKILL)
        assert await child.wait() == -signal.SIGKILL
    child = await killing.started("source_reader", EMAIL, environment=environment)
    async with asyncio.timeout(120):
        assert await child.wait() == 0
    await assert_stored(Settings(**settings))
    # A life continues where the last one stopped, instead of at the top.
    assert len([one for one in networks.lists() if "max_id" not in one.query]) <= 2


async def connect(networks: Networks, settings: Settings) -> None:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        connections = Connections(opened.database, system_clock)
        connecting = Connecting(opened.database, system_clock, settings, connections)
        await connecting.mastodon(account.account_id, networks.address, ALICE_TOKEN)


async def has_sent(networks: Networks, pages: int) -> bool:
    return len(networks.lists()) >= pages


async def assert_stored(settings: Settings) -> None:
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(EMAIL)
        assert account.total == POSTS
        pages = AccountExportStore(database).bookmarks(account)
        stored = [one async for page in pages for one in page]
        assert len(set(stored)) == POSTS
        [listed] = (await ImportRuns(database, system_clock).list(account, 10, None)).runs
        assert (listed.counts.new, listed.state, listed.reason) == (POSTS, "finished", "end")
        [connection] = await Connections(database, system_clock).all(account.account_id)
        assert (connection.total, connection.problem) == (POSTS, Problem.NONE)
