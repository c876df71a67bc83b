"""Serves a library; every line on stdin kills the server and starts a new one.

Run as `python -m tests.crash.lives`, with the library and port from the environment. Each server is
forked from a process that has already imported everything, so it starts quickly. When stdin closes,
the last server gets SIGTERM and shuts down cleanly.
"""

import os
import signal
import sys

from bowerbird import server
from bowerbird.cli.context import settings_from_environment
from bowerbird.settings import Settings


def start(settings: Settings) -> int:
    """Starts a server and returns its process id."""
    child = os.fork()
    if child == 0:
        try:
            server.run(settings)
        finally:
            os._exit(1)
    return child


def main() -> None:
    settings = settings_from_environment()
    life = start(settings)
    for _ in sys.stdin:
        os.kill(life, signal.SIGKILL)
        _, status = os.waitpid(life, 0)
        if not os.WIFSIGNALED(status):
            sys.exit("a life ended by itself")
        life = start(settings)
        print("begun", flush=True)  # noqa: T201 - the test waits for it
    os.kill(life, signal.SIGTERM)
    os.waitpid(life, 0)


if __name__ == "__main__":
    main()
