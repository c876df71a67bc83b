"""Serves a library; each line of its input kills the server and begins another.

Run as `python -m tests.crash.lives`, on the library and port that the environment names. Each life
is forked from a process that has imported everything, so that one begins in no time. The last one
ends in order, with the input.
"""

import os
import signal
import sys

from bowerbird import server
from bowerbird.cli.context import settings_from_environment
from bowerbird.settings import Settings


def begun(settings: Settings) -> int:
    """The process number of a new life."""
    child = os.fork()
    if child == 0:
        try:
            server.run(settings)
        finally:
            os._exit(1)
    return child


def main() -> None:
    settings = settings_from_environment()
    life = begun(settings)
    for _ in sys.stdin:
        os.kill(life, signal.SIGKILL)
        _, status = os.waitpid(life, 0)
        if not os.WIFSIGNALED(status):
            sys.exit("a life ended by itself")
        life = begun(settings)
        print("begun", flush=True)  # noqa: T201 - the test waits for it
    os.kill(life, signal.SIGTERM)
    os.waitpid(life, 0)


if __name__ == "__main__":
    main()
