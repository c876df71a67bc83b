"""Indexes the old posts of all accounts until it is killed, or until nothing is due.

Run as `python -m tests.crash.reindexer [TURNS]`. Prints a line after each turn. After that many,
it waits at the end of the next one until it is killed.
"""

import asyncio
import sys

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.upkeep.corrections import Reindexing
from tests.crash import killing


async def index(report: killing.Report) -> None:
    async def progress(_done: int, _total: int) -> None:
        report()

    async with opened_library(settings_from_environment()) as opened:
        reindexing = Reindexing(opened.database, system_clock, pause_s=0, posts_per_turn=20)
        while due := await reindexing.due_accounts(0, job_kind="reindex"):
            await reindexing.run(due[0], progress)


if __name__ == "__main__":
    turns = int(sys.argv[1]) if sys.argv[1:] else None
    report = killing.up_to(turns, lambda: print("turn", flush=True))  # noqa: T201 - the test reads it
    asyncio.run(index(report))
