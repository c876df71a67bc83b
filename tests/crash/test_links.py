"""kill -9 while the texts of links are read: the next worker reads the rest, and none is lost."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.settings import Settings
from bowerbird.storage.links import LinkStore
from tests.crash import killing
from tests.support import serving, waiting
from tests.support.image_hosts import ImageHosts, image_hosts
from tests.support.links import JSON, NAMES, quoted, x_link, x_url

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
LINKS = 60
KILLS = 2
# A round asks one host for so many posts before it stores what it has.
PER_ROUND = 3


async def test_a_killed_worker_loses_no_link(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["fetch_posts"] = "on"
    environment = serving.environment_of(**settings)
    links = [x_link(number) for number in range(LINKS)]
    async with image_hosts(tmp_path, NAMES) as hosts:
        for link in links:
            body = json.dumps(quoted(link, f"Post {link}")).encode()
            hosts.put(x_url(link), body, headers=JSON)
        for command in (("account", "create", EMAIL), ("save", EMAIL, *links)):
            await asyncio.to_thread(serving.command, *command, environment=environment)
        reader = ("link_reader", EMAIL, str(hosts.port), str(hosts.folder))
        for life in range(1, KILLS + 1):
            child = await killing.started(*reader, environment=environment)
            await waiting.until(lambda n=life: has_sent(hosts, n * LINKS // (KILLS + 2)))  # type: ignore[misc]
            child.kill()
            assert await child.wait() == -signal.SIGKILL
        child = await killing.started(*reader, environment=environment)
        async with asyncio.timeout(120):
            assert await child.wait() == 0
        assert set(hosts.requests) == {x_url(link).removeprefix("https://") for link in links}
        assert len(hosts.requests) <= LINKS + KILLS * PER_ROUND
    await assert_read(Settings(**settings))


async def has_sent(hosts: ImageHosts, count: int) -> bool:
    return len(hosts.requests) >= count


async def assert_read(settings: Settings) -> None:
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(EMAIL)
        counts = await LinkStore(database).counts(account.account_id)
        assert (counts.waiting, counts.left) == (0, 0)
        assert account.total == LINKS
        rows = await database.rows(
            "SELECT count(*) FROM bookmark WHERE account_id = :account_id AND completeness > 0",
            {"account_id": account.account_id},
        )
        assert rows[0][0] == LINKS
