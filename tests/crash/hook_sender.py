"""Sends the messages of an account's webhooks until it is killed, or until none is left.

Run as `python -m tests.crash.hook_sender EMAIL`.
"""

import asyncio
import sys

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import WebhookJobs
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.webhooks.delivering import Delivering
from tests.crash import killing


async def send(email: str) -> None:
    settings = settings_from_environment()
    async with opened_library(settings) as opened:
        database = opened.database
        account = await Accounts(database, system_clock).find(email)
        delivering = Delivering(database, system_clock, settings)

        async def is_over() -> bool:
            return account.account_id not in await delivering.due_accounts(0)

        jobs = WebhookJobs(database, delivering, system_clock)
        await killing.work_until(is_over, database, jobs, lambda: None, 1.0)


if __name__ == "__main__":
    asyncio.run(send(sys.argv[1]))
