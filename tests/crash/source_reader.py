"""Reads the sources of an account until it is killed, or until none is due.

Run as `python -m tests.crash.source_reader EMAIL`.
"""

import asyncio
import sys

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.jobs.sources import SourceJobs
from bowerbird.jobs.worker import Recurring, Worker
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.connections.connections import Connections
from bowerbird.library.connections.syncing import Sync
from tests.crash import killing


async def read(email: str, report: killing.Report = lambda: None, *, lease_s: float = 2.0) -> None:
    settings = settings_from_environment()
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(email)
        jobs = SourceJobs(database, Sync(database, system_clock, settings), system_clock)
        worker = Worker(
            database,
            [killing.reporting(jobs.kind, report)],
            # A job fails after three killed workers; the sweep starts another one.
            [Recurring("read sources", 0.2, jobs.sweep)],
            system_clock,
            lease_s=lease_s,
            heartbeat_s=lease_s / 4,
            poll_s=0.05,
        )
        stopping = asyncio.Event()
        running = asyncio.create_task(worker.run(stopping))
        connections = Connections(database, system_clock)
        while True:
            [connection] = await connections.all(account.account_id)
            if connection.last_run_at is not None and not connection.run_id:
                break
            await asyncio.sleep(0.05)
        stopping.set()
        await running


def main() -> None:
    [email] = sys.argv[1:]
    asyncio.run(read(email))


if __name__ == "__main__":
    main()
