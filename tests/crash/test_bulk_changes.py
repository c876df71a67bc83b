"""kill -9 during two changes of many posts and their undos: all are finished, in their order."""

import asyncio
from typing import Any

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.imports.intake import Intake
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.bulk import BulkAction, BulkState
from bowerbird.settings import Settings
from tests.crash import killing
from tests.support import serving
from tests.support.imports import dump_before_updates, found

EMAIL = "you@example.com"
POSTS = 1_200
SOME = 500


async def start(settings: Settings) -> tuple[list[str], Any]:
    """Starts a change of many posts and one that takes some of it back; and the state before."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        ids = [str(n) for n in range(1, POSTS + 1)]
        posts = [found(post_id=one, text=f"post {one}", tags=["old"]) for one in ids]
        await Intake(opened.database, system_clock).take(account, posts, run_id=None)
        before = await dump_before_updates(opened.database, account)
        changes = BulkChanges(opened.database, system_clock)
        rows = [
            await changes.run(account, NewChange(action, packed_parts(some), len(some), "new"))
            for action, some in [
                (BulkAction.ADD_LABEL, ids),
                (BulkAction.REMOVE_LABEL, ids[-SOME:]),
            ]
        ]
        assert [row.state for row in rows] == [BulkState.WORKING] * 2
        return [row.change_id for row in rows], before


async def check_done(settings: Settings, change_ids: list[str]) -> None:
    """Also starts the undos, that of the later change first."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        changes = BulkChanges(opened.database, system_clock)
        rows = [await changes.get(account, one) for one in change_ids]
        assert [(row.state, row.done, row.changed) for row in rows] == [
            (BulkState.DONE, POSTS, POSTS),
            (BulkState.DONE, SOME, SOME),
        ]
        checks = Checks(opened.database, fixes=False, is_deep=True)
        assert await checks.account(account, lambda _: None) == []
        for one in reversed(change_ids):
            assert (await changes.run_undo(account, one)).state is BulkState.UNDOING


async def check_undone(settings: Settings, change_ids: list[str], before: Any) -> None:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        changes = BulkChanges(opened.database, system_clock)
        rows = [await changes.get(account, one) for one in change_ids]
        assert [(row.state, row.restored) for row in rows] == [
            (BulkState.UNDONE, POSTS),
            (BulkState.UNDONE, SOME),
        ]
        assert await dump_before_updates(opened.database, account) == before
        checks = Checks(opened.database, fixes=False, is_deep=True)
        assert await checks.account(account, lambda _: None) == []


def finish_under_fire(change_id: str, environment: dict[str, str]) -> None:
    killed = killing.in_own_process("changer", EMAIL, change_id, environment=environment)
    assert int(killed) > 0


def test_changes_that_are_killed_are_finished_later(settings: dict[str, Any]) -> None:
    environment = serving.environment_of(**settings)
    serving.command("account", "create", EMAIL, environment=environment)
    change_ids, before = asyncio.run(start(Settings(**settings)))

    # Who works on the last one works on all that were accepted before it.
    finish_under_fire(change_ids[-1], environment)
    asyncio.run(check_done(Settings(**settings), change_ids))
    finish_under_fire(change_ids[0], environment)
    asyncio.run(check_undone(Settings(**settings), change_ids, before))
