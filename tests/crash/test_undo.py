"""kill -9 during an undo of an import: repeating it finishes the undo."""

import asyncio
from typing import Any

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.arrival import RunState, UndoCounts
from bowerbird.settings import Settings
from tests.crash import killing
from tests.support import serving
from tests.support.imports import dump_before_updates, found

EMAIL = "you@example.com"
OLD, NEW = 600, 1_200


async def fill(settings: Settings) -> tuple[str, Any]:
    """Imports posts, changes some of them in a run, and returns the state before the run."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        intake = Intake(opened.database, system_clock)
        runs = ImportRuns(opened.database, system_clock)
        old = [found(post_id=str(n), text=f"old {n}", tags=["old"]) for n in range(OLD)]
        await intake.take(account, old, run_id=None)
        before = await dump_before_updates(opened.database, account)
        run = await runs.start(account, source="x", kind="full", client="test")
        new = [found(post_id=str(n), text=f"new {n}", tags=[f"t{n % 9}"]) for n in range(NEW)]
        await intake.take(account, new, run_id=run.run_id)
        return run.run_id, before


async def check(settings: Settings, run_id: str, before: Any) -> None:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        run = await ImportRuns(opened.database, system_clock).get(account, run_id)
        assert run.state is RunState.UNDONE
        assert run.undone == UndoCounts(removed=NEW - OLD, restored=OLD, kept=0)
        assert await dump_before_updates(opened.database, account) == before
        checks = Checks(opened.database, fixes=False, is_deep=True)
        assert await checks.account(account, lambda _: None) == []


def test_an_undo_that_is_killed_is_finished_by_repeating_it(settings: dict[str, Any]) -> None:
    environment = serving.environment_of(**settings)
    serving.command("account", "create", EMAIL, environment=environment)
    run_id, before = asyncio.run(fill(Settings(**settings)))

    killed = killing.in_own_process("undoer", EMAIL, run_id, environment=environment)

    assert int(killed) > 0
    asyncio.run(check(Settings(**settings), run_id, before))
