"""Makes or undoes a change of many posts, and is killed again and again until it is finished.

Run as `python -m tests.crash.changer EMAIL CHANGE_ID`. Each life is a forked process that is killed
with SIGKILL after a few turns, at a random moment. Prints how many lives were killed.
"""

import asyncio
import os
import random
import signal
import sys
import time

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.bulk.changes import BulkChanges

MOST_TURNS = 3
A_TURN_S = 0.03


async def finish(email: str, change_id: str, turns: int) -> None:
    """Reports each turn, so that the parent can kill between and within turns."""
    async with opened_library(settings_from_environment()) as opened:
        account = await Accounts(opened.database, system_clock).find(email)
        changes = BulkChanges(opened.database, system_clock)
        step = await opened.database.write(lambda t: changes.rest(t, account, change_id))
        while isinstance(step, Unfinished):
            os.write(turns, b".\n")
            step = await opened.database.write(step.rest)


def one_life(email: str, change_id: str, chance: random.Random) -> bool:
    """Whether the process finished before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(finish(email, change_id, writing))
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
        sys.exit("the change failed")
    return os.WIFEXITED(status)


def main() -> None:
    email, change_id = sys.argv[1:]
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    killed = 0
    while not one_life(email, change_id, chance):
        killed += 1
    print(killed)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
