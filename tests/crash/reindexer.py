"""Indexes the old posts of all accounts until it is killed, or until nothing is due.

Run as `python -m tests.crash.reindexer`. Prints a line after each turn.
"""

import asyncio

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.writing.reindexing import Reindexing


async def report(done: int, total: int) -> None:
    print(done, total, flush=True)  # noqa: T201 - the test reads it


async def main() -> None:
    async with opened_library(settings_from_environment()) as opened:
        reindexing = Reindexing(opened.database, system_clock, pause_s=0, posts_per_turn=20)
        while due := await reindexing.due_accounts(0, job_kind="reindex"):
            await reindexing.run(due[0], report)


if __name__ == "__main__":
    asyncio.run(main())
