"""Runs work in forked processes that are killed with SIGKILL at random moments.

A life is one such process. It reports its turns, so that the kill can hit any moment of them.
"""

import asyncio
import itertools
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import AccountJobs
from bowerbird.jobs.worker import JobKind, Progress, Recurring, Worker
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import Job
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support import waiting

ROOT = Path(__file__).parents[2]
EMAIL = "you@example.com"

Report = Callable[[], object]
Work = Callable[[Report], object]
# The whole work, in transactions of its own.
Begin = Callable[[Database, Account], Awaitable[object]]


class Moment(NamedTuple):
    """A life is killed after some of its turns, at any moment of the next one."""

    least: int = 1
    most: int = 3
    turn_s: float = 0.03


AFTER_SOME_TURNS = Moment()


class LifeFailed(Exception):  # noqa: N818 - named for what it is
    """The work ended with an error. Its traceback is on stderr."""


def one_life(work: Work, chance: random.Random, moment: Moment | None) -> bool:
    """Whether the work finished before it was killed. It is not killed without a moment."""
    most = None if moment is None else chance.randint(moment.least, moment.most)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _live(work, writing, most)
    os.close(writing)
    with os.fdopen(reading) as turns:
        if moment is not None and most is not None:
            for _ in range(most):
                turns.readline()
            # Sleep on purpose: the kill must be able to hit any moment of a turn.
            time.sleep(chance.uniform(0, moment.turn_s))
            os.kill(child, signal.SIGKILL)
        turns.read()
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise LifeFailed("the work failed")
    return os.WIFEXITED(status)


def until_finished(
    begin: Begin, chance: random.Random | None = None, moment: Moment = AFTER_SOME_TURNS
) -> int:
    """Repeats the work until a life finishes it; returns how many were killed."""
    chance = chance or random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    killed = 0
    while not one_life(lambda report: asyncio.run(_work(begin, report)), chance, moment):
        killed += 1
    return killed


@asynccontextmanager
async def opened(settings: Settings | None = None) -> AsyncIterator[tuple[Database, Account]]:
    """The library and its account; that of this process without settings."""
    async with opened_library(settings or settings_of_process()) as library:
        yield library.database, await Accounts(library.database, system_clock).find(EMAIL)


settings_of_process = settings_from_environment


async def assert_sound(database: Database, account: Account, *, is_deep: bool = True) -> None:
    checks = Checks(database, fixes=False, is_deep=is_deep)
    assert await checks.account(account, lambda _: None) == []


async def killed_and_finished(
    *command: str, environment: dict[str, str], kills: int, done: Callable[[], int], of: int
) -> None:
    """Kills a program after several parts of its work; the last life finishes it.

    `done` counts what it has done of all there is.
    """
    for life in range(1, kills + 1):
        child = await started(*command, environment=environment)

        async def is_far(enough: int = life * of // (kills + 2)) -> bool:
            return done() >= enough

        await waiting.until(is_far)
        child.kill()
        assert await child.wait() == -signal.SIGKILL
    child = await started(*command, environment=environment)
    async with asyncio.timeout(600):
        assert await child.wait() == 0


async def killed_in_turns(name: str, environment: dict[str, str], kills: int) -> None:
    """Kills a program in the middle of some turns; the last life finishes it."""
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    for _ in range(kills):
        turns = chance.randint(AFTER_SOME_TURNS.least, AFTER_SOME_TURNS.most)
        child = await started(name, str(turns), environment=environment)
        assert child.stdout
        for _ in range(turns):
            assert await child.stdout.readline()
        # Sleep on purpose: the kill must be able to hit any moment of a turn.
        await asyncio.sleep(chance.uniform(0, AFTER_SOME_TURNS.turn_s))
        child.kill()
        await child.wait()
    child = await started(name, environment=environment)
    await child.communicate()
    assert child.returncode == 0


def in_own_process(module: str, *arguments: str, environment: dict[str, str]) -> str:
    """Runs a program of this folder, which forks, because a test has threads. What it printed."""
    ran = subprocess.run(
        [sys.executable, "-m", f"tests.crash.{module}", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


async def started(*command: str, environment: dict[str, str]) -> asyncio.subprocess.Process:
    """Starts one of the programs, which a test kills."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.crash.programs", *command),
        env=environment,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )


async def work_until(
    is_over: Callable[[], Awaitable[bool]],
    database: Database,
    jobs: AccountJobs,
    report: Report,
    lease_s: float,
) -> None:
    """Works on jobs of one kind."""
    worker = Worker(
        database,
        [reporting(jobs.kind, report)],
        # A job fails after three killed workers; the sweep starts another one.
        [Recurring("sweep", 0.2, jobs.sweep)],
        system_clock,
        lease_s=lease_s,
        heartbeat_s=lease_s / 4,
        poll_s=0.05,
    )
    stopping = asyncio.Event()
    running = asyncio.create_task(worker.run(stopping))
    # The test that started this process gives up sooner.
    await waiting.until(is_over, 600)
    stopping.set()
    await running


def reporting(kind: JobKind, report: Report) -> JobKind:
    """The kind of job, which reports a turn at each of its steps."""

    async def run(job: Job, progress: Progress) -> Any:
        async def told(done: int, total: int) -> None:
            report()
            await progress(done, total)

        return await kind.run(job, told)

    return msgspec.structs.replace(kind, run=run)


def up_to(most: int | None, report: Report) -> Report:
    """Reports so many turns, and waits for the kill at the end of the next one.

    On a busy machine the work could otherwise end before the kill.
    """
    numbers = itertools.count()

    def told() -> None:
        if next(numbers) == most:
            while True:
                signal.pause()
        report()

    return told


def _live(work: Work, turns: int, most: int | None) -> NoReturn:
    try:
        work(up_to(most, lambda: os.write(turns, b".\n")))
    except BaseException:  # noqa: BLE001 - the parent reads the exit code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


async def _work(begin: Begin, report: Report) -> None:
    async with opened() as (database, account):
        write = database.write

        async def reported(*arguments: Any, **options: Any) -> Any:
            result = await write(*arguments, **options)
            report()
            return result

        setattr(database, "write", reported)  # noqa: B010 - mypy forbids the assignment
        await begin(database, account)
