"""kill -9 while old posts are indexed: the next run counts the rest, and no post twice."""

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.upkeep.checks import Checks
from bowerbird.settings import Settings
from bowerbird.storage.word_counts import WordCounts
from tests.support import make, serving
from tests.support.word_counts import age, indexed

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
POSTS = 600
# `make crash` repeats it thousands of times.
KILLS = 2
A_TURN_S = 0.03


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_killed_job_counts_every_post_once(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"data_dir": tmp_path / "data"}
    if kind == "sqlite":
        await assert_all_are_counted(tmp_path, settings)
        return
    with request.getfixturevalue("postgres").fresh_database("migrated") as url:
        await assert_all_are_counted(tmp_path, {**settings, "database_url": url})


async def assert_all_are_counted(folder: Path, settings: dict[str, Any]) -> None:
    environment = serving.environment_of(**settings)
    await asyncio.to_thread(serving.command, "account", "create", EMAIL, environment=environment)
    await fill(folder, settings)
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    for _ in range(KILLS):
        await kill_after_some_turns(environment, chance)
    child = await started(environment)
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
    child = await started(environment, str(turns))
    assert child.stdout
    for _ in range(turns):
        assert await child.stdout.readline()
    # Sleep on purpose: the kill must be able to hit any moment of a turn.
    await asyncio.sleep(chance.uniform(0, A_TURN_S))
    child.kill()
    await child.wait()


async def started(environment: dict[str, str], *turns: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.crash.reindexer", *turns),
        env=environment,
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
