"""Serves a library and is killed, again and again; the last life goes on until its input ends.

Run as `python -m tests.crash.lives ROUNDS`, on the library and port that the environment names.
Each life is forked from a process that has imported everything, so that one begins in no time.
"""

import os
import random
import signal
import sys
import time

from bowerbird import server
from bowerbird.cli.context import settings_from_environment
from bowerbird.settings import Settings

# From before the first answer to hundreds of writes.
SHORTEST_LIFE_S, LONGEST_LIFE_S = 0.03, 0.4


def begun(settings: Settings) -> int:
    """The process number of a new life."""
    child = os.fork()
    if child == 0:
        try:
            server.run(settings)
        finally:
            os._exit(1)
    return child


def one_life(settings: Settings, number: int) -> None:
    child = begun(settings)
    chance = random.Random(number)  # noqa: S311 - a repeatable choice, not a secret
    time.sleep(chance.uniform(SHORTEST_LIFE_S, LONGEST_LIFE_S))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(f"life {number} ended by itself")


def main() -> None:
    settings = settings_from_environment()
    for number in range(int(sys.argv[1])):
        one_life(settings, number)
    last = begun(settings)
    print("The last life has begun.", flush=True)  # noqa: T201 - whoever started this waits for it
    sys.stdin.read()
    os.kill(last, signal.SIGTERM)
    os.waitpid(last, 0)


if __name__ == "__main__":
    main()
