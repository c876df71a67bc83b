"""kill -9 between the turns of long work: the next process finishes it, and does nothing twice."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import system_clock
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.rules.rules import Rules
from bowerbird.model.arrival import RunState, UndoCounts
from bowerbird.model.bulk import BulkAction, BulkState
from bowerbird.model.rules import Do, When
from bowerbird.requests.rules import NewAction, NewRule
from bowerbird.settings import Settings
from bowerbird.storage.changes.events import RuleStore
from bowerbird.storage.database import Readable
from bowerbird.storage.words.word_counts import WordCounts
from tests.crash import killing
from tests.crash.killing import EMAIL, assert_sound, killed_in_turns, opened
from tests.support import make, serving
from tests.support.engines.word_counts import age, indexed
from tests.support.imports import dump_before_updates, found

pytestmark = pytest.mark.anyio

# Posts of each test.
INDEXED, RULED, CHANGED, SOME, OLD, NEW = 600, 400, 1_200, 500, 600, 1_200


async def run(settings: dict[str, Any], *command: str) -> dict[str, str]:
    environment = serving.environment_of(**settings)
    await asyncio.to_thread(serving.command, *command, environment=environment)
    return environment


async def test_a_killed_job_indexes_and_counts_every_post_once(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    environment = await run(settings, "account", "create", EMAIL)
    await fill_old(tmp_path, settings)
    # `make crash` repeats it thousands of times.
    await killed_in_turns("index", environment, kills=2)
    await check_indexed(Settings(**settings))


async def fill_old(folder: Path, settings: dict[str, Any]) -> None:
    """Imports posts and leaves them as an earlier release stored them."""
    file = folder / "posts.json"
    file.write_text(json.dumps([make.post(text=f"bird number{n} #{n}") for n in range(INDEXED)]))
    await run(settings, "import", EMAIL, str(file))
    async with opened(Settings(**settings)) as (database, account):
        await age(database, account)


async def check_indexed(settings: Settings) -> None:
    async with opened(settings) as (database, account):
        stored = await WordCounts(database).stored(account)
        assert stored == await indexed(database, account, settings.data_dir)
        assert (stored[""], stored["bird"], stored["number7"]) == (INDEXED, INDEXED, 1)
        await assert_sound(database, account)


async def test_killed_rules_change_every_post_once(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    environment = await run(settings, "account", "create", EMAIL)
    async with opened(Settings(**settings)) as (database, account):
        rules = Rules(database, system_clock)
        for request in (
            NewRule(name="A", when=When.ARRIVES, actions=[NewAction(Do.ADD_LABEL, "birds")]),
            NewRule(name="B", when=When.LABELLED, actions=[NewAction(Do.ARCHIVE)]),
        ):

            async def create(transaction: Any, request: NewRule = request) -> None:
                await rules.create(transaction, account, request)

            await database.write(create, account.account_id)
    file = tmp_path / "posts.json"
    file.write_text(json.dumps([make.post(text="a bower") for _ in range(RULED)]))
    await run(settings, "import", EMAIL, str(file))

    await killed_in_turns("run_rules", environment, kills=3)

    async with opened(Settings(**settings)) as (database, account):
        store = RuleStore(database)
        fired = [rule.fired for rule in await store.all(Readable(database, account.account_id))]
        assert fired == [RULED, RULED]
        log = await store.log(account.account_id, 1_000)
        assert sum(one.entry.posts for one in log) == 2 * RULED
        assert (account.total, account.archived) == (RULED, RULED)
        await assert_sound(database, account)


async def start_changes(settings: Settings) -> tuple[list[str], Any]:
    """Starts a change of many posts and one that takes some of it back; and the state before."""
    async with opened(settings) as (database, account):
        ids = [str(n) for n in range(1, CHANGED + 1)]
        posts = [found(post_id=one, text=f"post {one}", tags=["old"]) for one in ids]
        await Intake(database, system_clock).take(account, posts, run_id=None)
        before = await dump_before_updates(database, account)
        changes = BulkChanges(database, system_clock)
        rows = [
            await changes.run(account, NewChange(action, packed_parts(some), len(some), "new"))
            for action, some in [
                (BulkAction.ADD_LABEL, ids),
                (BulkAction.REMOVE_LABEL, ids[-SOME:]),
            ]
        ]
        assert [row.state for row in rows] == [BulkState.WORKING] * 2
        return [row.change_id for row in rows], before


async def check_changed(settings: Settings, change_ids: list[str]) -> None:
    """Also starts the undos, that of the later change first."""
    async with opened(settings) as (database, account):
        changes = BulkChanges(database, system_clock)
        rows = [await changes.get(account, one) for one in change_ids]
        assert [(row.state, row.done, row.changed) for row in rows] == [
            (BulkState.DONE, CHANGED, CHANGED),
            (BulkState.DONE, SOME, SOME),
        ]
        await assert_sound(database, account)
        for one in reversed(change_ids):
            assert (await changes.run_undo(account, one)).state is BulkState.UNDOING


async def check_unchanged(settings: Settings, change_ids: list[str], before: Any) -> None:
    async with opened(settings) as (database, account):
        changes = BulkChanges(database, system_clock)
        rows = [await changes.get(account, one) for one in change_ids]
        assert [(row.state, row.restored) for row in rows] == [
            (BulkState.UNDONE, CHANGED),
            (BulkState.UNDONE, SOME),
        ]
        assert await dump_before_updates(database, account) == before
        await assert_sound(database, account)


def finish_under_fire(settings: dict[str, Any], *program: str) -> None:
    environment = serving.environment_of(**settings)
    killed = killing.in_own_process("programs", *program, environment=environment)
    assert int(killed) > 0


def test_changes_that_are_killed_are_finished_later(settings: dict[str, Any]) -> None:
    serving.command("account", "create", EMAIL, environment=serving.environment_of(**settings))
    change_ids, before = asyncio.run(start_changes(Settings(**settings)))

    # Who works on the last one works on all that were accepted before it.
    finish_under_fire(settings, "change", change_ids[-1])
    asyncio.run(check_changed(Settings(**settings), change_ids))
    finish_under_fire(settings, "change", change_ids[0])
    asyncio.run(check_unchanged(Settings(**settings), change_ids, before))


async def fill_for_undo(settings: Settings) -> tuple[str, Any]:
    """Imports posts, changes some of them in a run, and returns the state before the run."""
    async with opened(settings) as (database, account):
        intake, runs = Intake(database, system_clock), ImportRuns(database, system_clock)
        old = [found(post_id=str(n), text=f"old {n}", tags=["old"]) for n in range(OLD)]
        await intake.take(account, old, run_id=None)
        before = await dump_before_updates(database, account)
        run = await runs.start(account, source="x", kind="full", client="test")
        new = [found(post_id=str(n), text=f"new {n}", tags=[f"t{n % 9}"]) for n in range(NEW)]
        await intake.take(account, new, run_id=run.run_id)
        return run.run_id, before


async def check_undone(settings: Settings, run_id: str, before: Any) -> None:
    async with opened(settings) as (database, account):
        run = await ImportRuns(database, system_clock).get(account, run_id)
        assert run.state is RunState.UNDONE
        assert run.undone == UndoCounts(removed=NEW - OLD, restored=OLD, kept=0)
        assert await dump_before_updates(database, account) == before
        await assert_sound(database, account)


def test_an_undo_that_is_killed_is_finished_by_repeating_it(settings: dict[str, Any]) -> None:
    serving.command("account", "create", EMAIL, environment=serving.environment_of(**settings))
    run_id, before = asyncio.run(fill_for_undo(Settings(**settings)))

    finish_under_fire(settings, "undo", run_id)

    asyncio.run(check_undone(Settings(**settings), run_id, before))
