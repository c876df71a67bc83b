"""Repeats work that is killed with SIGKILL again and again until it is finished.

Each life is a forked process that is killed after a few turns, at a random moment.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Database, Transaction

MOST_TURNS = 3
A_TURN_S = 0.03
# The first turn of the work: what it did, or the rest of it.
Begin = Callable[[Database, Transaction, Account], Awaitable[object]]


def until_finished(email: str, begin: Begin) -> None:
    """Prints how many lives were killed."""
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    killed = 0
    while not _one_life(email, begin, chance):
        killed += 1
    print(killed)  # noqa: T201 - the test reads it


async def _work(email: str, begin: Begin, turns: int) -> None:
    """Reports each turn, so that the parent can kill between and within turns."""
    async with opened_library(settings_from_environment()) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(email)
        step = await database.write(lambda transaction: begin(database, transaction, account))
        while isinstance(step, Unfinished):
            os.write(turns, b".\n")
            step = await database.write(step.rest)


def _one_life(email: str, begin: Begin, chance: random.Random) -> bool:
    """Whether the process finished before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(_work(email, begin, writing))
        except BaseException:  # noqa: BLE001 - the parent reads the exit code
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as turns:
        for _ in range(chance.randint(1, MOST_TURNS)):
            turns.readline()
        # Sleep on purpose: the kill must be able to hit any moment of a turn.
        time.sleep(chance.uniform(0, A_TURN_S))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit("the work failed")
    return os.WIFEXITED(status)
