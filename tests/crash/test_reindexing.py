"""kill -9 while old posts are indexed: the next run counts the rest, and no post twice."""

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.upkeep.checks import Checks
from bowerbird.settings import Settings
from bowerbird.storage.words.word_counts import WordCounts
from tests.crash import killing
from tests.support import make, serving
from tests.support.word_counts import age, indexed

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
POSTS = 600
# `make crash` repeats it thousands of times.
KILLS = 2
A_TURN_S = 0.03


async def test_a_killed_job_counts_every_post_once(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    environment = serving.environment_of(**settings)
    await asyncio.to_thread(serving.command, "account", "create", EMAIL, environment=environment)
    await fill(tmp_path, settings)
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    for _ in range(KILLS):
        await kill_after_some_turns(environment, chance)

    child = await killing.started("reindexer", environment=environment)
    await child.communicate()
    assert child.returncode == 0
    await check(Settings(**settings))


async def fill(folder: Path, settings: dict[str, Any]) -> None:
    """Imports posts and leaves them as the previous release stored them."""
    file = folder / "posts.json"
    file.write_text(json.dumps([make.post(text=f"bird number{n} #{n}") for n in range(POSTS)]))
    environment = serving.environment_of(**settings)
    command = ("import", EMAIL, str(file))
    await asyncio.to_thread(serving.command, *command, environment=environment)
    async with opened_library(Settings(**settings)) as opened:
        await age(opened.database, await Accounts(opened.database, system_clock).find(EMAIL))


async def check(settings: Settings) -> None:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        counts = WordCounts(opened.database)
        stored = await counts.stored(account)
        assert stored == await indexed(opened.database, account, settings.data_dir)
        assert (stored[""], stored["bird"], stored["number7"]) == (POSTS, POSTS, 1)
        checks = Checks(opened.database, fixes=False, is_deep=True)
        assert await checks.account(account, lambda _: None) == []


async def kill_after_some_turns(environment: dict[str, str], chance: random.Random) -> None:
    turns = chance.randint(1, 3)
    child = await killing.started("reindexer", str(turns), environment=environment)
    assert child.stdout
    for _ in range(turns):
        assert await child.stdout.readline()
    # Sleep on purpose: the kill must be able to hit any moment of a turn.
    await asyncio.sleep(chance.uniform(0, A_TURN_S))
    child.kill()
    await child.wait()
