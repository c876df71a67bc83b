"""Reads the sources of an account until it is killed, or until none is due.

Run as `python -m tests.crash.source_reader EMAIL`.
"""

import asyncio
import sys

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import SourceJobs
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.connections.connections import Connections
from bowerbird.library.connections.syncing import Sync
from tests.crash import killing


async def read(email: str, report: killing.Report = lambda: None, *, lease_s: float = 2.0) -> None:
    settings = settings_from_environment()
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(email)
        connections = Connections(database, system_clock)

        async def is_over() -> bool:
            [connection] = await connections.all(account.account_id)
            return connection.last_run_at is not None and not connection.run_id

        jobs = SourceJobs(database, Sync(database, system_clock, settings), system_clock)
        await killing.work_until(is_over, database, jobs, report, lease_s)


if __name__ == "__main__":
    [email] = sys.argv[1:]
    asyncio.run(read(email))
