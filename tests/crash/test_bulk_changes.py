"""kill -9 during a change of many posts and during its undo: both are finished afterwards."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.bulk.changes import BulkChanges, NewChange
from bowerbird.library.bulk.selection import packed_parts
from bowerbird.library.imports.intake import Intake
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.bulk import BulkAction, BulkState
from bowerbird.settings import Settings
from tests.support import serving
from tests.support.imports import dump_of, found

ROOT = Path(__file__).parents[2]
EMAIL = "you@example.com"
POSTS = 1_600


async def start(settings: Settings) -> tuple[str, Any]:
    """Starts a change of many posts, and returns the state before it."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        ids = [str(n) for n in range(1, POSTS + 1)]
        posts = [found(post_id=one, text=f"post {one}", tags=["old"]) for one in ids]
        await Intake(opened.database, system_clock).take(account, posts, run_id=None)
        before = await dump_of(opened.database, account)
        changes = BulkChanges(opened.database, system_clock)
        new = NewChange(BulkAction.ADD_LABEL, packed_parts(ids), len(ids), "new")
        row = await changes.run(account, new)
        assert row.state is BulkState.WORKING
        return row.change_id, before


async def check_done(settings: Settings, change_id: str) -> None:
    """Also starts the undo."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        changes = BulkChanges(opened.database, system_clock)
        row = await changes.get(account, change_id)
        assert (row.state, row.done, row.changed) == (BulkState.DONE, POSTS, POSTS)
        checks = Checks(opened.database, fixes=False, is_deep=True)
        assert await checks.account(account, lambda _: None) == []
        undoing = await changes.run_undo(account, change_id)
        assert undoing.state is BulkState.UNDOING


async def check_undone(settings: Settings, change_id: str, before: Any) -> None:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        row = await BulkChanges(opened.database, system_clock).get(account, change_id)
        assert (row.state, row.restored) == (BulkState.UNDONE, POSTS)
        assert await dump_of(opened.database, account) == before
        checks = Checks(opened.database, fixes=False, is_deep=True)
        assert await checks.account(account, lambda _: None) == []


def finish_under_fire(change_id: str, environment: dict[str, str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.crash.changer", EMAIL, change_id],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 0


def change_and_undo(settings: dict[str, Any]) -> None:
    environment = serving.environment_of(**settings)
    serving.command("account", "create", EMAIL, environment=environment)
    change_id, before = asyncio.run(start(Settings(**settings)))

    finish_under_fire(change_id, environment)
    asyncio.run(check_done(Settings(**settings), change_id))
    finish_under_fire(change_id, environment)

    asyncio.run(check_undone(Settings(**settings), change_id, before))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_change_that_is_killed_is_finished_later(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "sqlite":
        change_and_undo({"data_dir": tmp_path / "data"})
        return
    with request.getfixturevalue("postgres").fresh_database("migrated") as url:
        change_and_undo({"data_dir": tmp_path / "data", "database_url": url})
