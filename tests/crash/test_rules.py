"""kill -9 while rules run: what they have seen and what they did are stored together."""

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.context import LibraryContext, opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.rules.rules import Rules
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.rules import Do, When
from bowerbird.requests.rules import NewAction, NewRule
from bowerbird.settings import Settings
from bowerbird.storage.changes.rules import RuleStore
from tests.crash import killing
from tests.support import make, serving

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
POSTS = 400
KILLS = 3
A_TURN_S = 0.03


async def test_killed_rules_change_every_post_once(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    environment = serving.environment_of(**settings)
    await asyncio.to_thread(serving.command, "account", "create", EMAIL, environment=environment)
    async with opened_library(Settings(**settings)) as opened:
        await make_rules(opened)
    file = tmp_path / "posts.json"
    file.write_text(json.dumps([make.post(text="a bower") for _ in range(POSTS)]))
    command = ("import", EMAIL, str(file))
    await asyncio.to_thread(serving.command, *command, environment=environment)
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    for _ in range(KILLS):
        await kill_after_some_turns(environment, chance)

    child = await killing.started("rule_runner", environment=environment)
    await child.communicate()
    assert child.returncode == 0
    async with opened_library(Settings(**settings)) as opened:
        await check(opened)


async def make_rules(opened: LibraryContext) -> None:
    account = await opened.account(EMAIL)
    rules = Rules(opened.database, system_clock)
    for request in (
        NewRule(name="A", when=When.ARRIVES, actions=[NewAction(Do.ADD_LABEL, "birds")]),
        NewRule(name="B", when=When.LABELLED, actions=[NewAction(Do.ARCHIVE)]),
    ):

        async def work(transaction: Any, request: NewRule = request) -> None:
            await rules.create(transaction, account, request)

        await opened.database.write(work, account.account_id)


async def check(opened: LibraryContext) -> None:
    account = await Accounts(opened.database, system_clock).find(EMAIL)
    store = RuleStore(opened.database)
    rules = await store.all(opened.database, account.account_id)
    assert [rule.fired for rule in rules] == [POSTS, POSTS]
    log = await store.log(account.account_id, 1_000)
    assert sum(one.entry.posts for one in log) == 2 * POSTS
    found = await opened.account(EMAIL)
    assert (found.total, found.archived) == (POSTS, POSTS)
    checks = Checks(opened.database, fixes=False, is_deep=True)
    assert await checks.account(account, lambda _: None) == []


async def kill_after_some_turns(environment: dict[str, str], chance: random.Random) -> None:
    turns = chance.randint(1, 3)
    child = await killing.started("rule_runner", str(turns), environment=environment)
    assert child.stdout
    for _ in range(turns):
        assert await child.stdout.readline()
    # Sleep on purpose: the kill must be able to hit any moment of a turn.
    await asyncio.sleep(chance.uniform(0, A_TURN_S))
    child.kill()
    await child.wait()
