"""Reads the texts of an account's links until it is killed, or until nothing waits.

Run as `python -m tests.crash.link_reader EMAIL PORT FOLDER`: the hosts of the networks are at the
port, and their certificate is in the folder.
"""

import asyncio
import sys
from pathlib import Path

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.connections.fetching import PublicFetcher
from bowerbird.jobs.account_jobs import LinkJobs
from bowerbird.library import links
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.links import LinkReading
from tests.crash import killing
from tests.support.image_hosts import ImageHosts

# Hosts on loopback need not wait for a second.
links.BETWEEN_REQUESTS = 20_000  # type: ignore[misc]


async def read(email: str, port: int, folder: Path) -> None:
    settings = settings_from_environment()
    hosts = ImageHosts(folder, port=port)
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(email)
        reading = LinkReading(
            database,
            system_clock,
            settings,
            lambda: PublicFetcher(resolve=hosts.resolve, connect=hosts.connect),
        )

        async def is_over() -> bool:
            return not (await reading.counts(account)).waiting

        jobs = LinkJobs(database, reading, system_clock)
        await killing.work_until(is_over, database, jobs, lambda: None, 1.0)


if __name__ == "__main__":
    email, port, folder = sys.argv[1:]
    asyncio.run(read(email, int(port), Path(folder)))
