"""Keeps the images of an account until it is killed, or until nothing is due.

Run as `python -m tests.crash.media_keeper EMAIL PORT FOLDER`: the hosts of images are at the port,
and their certificate is in the folder.
"""

import asyncio
import sys
from pathlib import Path

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import MediaJobs
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import MediaPreferences
from bowerbird.storage.files import Files
from tests.crash import killing
from tests.support.image_hosts import ImageHosts


async def keep(
    email: str,
    port: int,
    folder: Path,
    report: killing.Report = lambda: None,
    *,
    lease_s: float = 1.0,
) -> None:
    settings = settings_from_environment()
    hosts = ImageHosts(folder, port=port)
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(email)
        preferences = MediaPreferences(database, system_clock, settings)
        await preferences.switch(account, is_keeping=True)
        keeping = Keeping(database, Files(settings), system_clock, settings, hosts.fetcher)

        async def is_over() -> bool:
            state = await preferences.state(account)
            return bool(state.total and not state.waiting)

        jobs = MediaJobs(database, keeping, system_clock)
        await killing.work_until(is_over, database, jobs, report, lease_s)


if __name__ == "__main__":
    email, port, folder = sys.argv[1:]
    asyncio.run(keep(email, int(port), Path(folder)))
