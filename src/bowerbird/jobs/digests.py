"""Digests as work: a sweep finds the accounts whose time has come, a job makes and mails.

The sweep may run on any number of nodes and find an account twice; its job is added once, and
what the job does is done once.
"""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.leases import Progress
from bowerbird.jobs.worker import Kind, Recurring
from bowerbird.library.digest_mail import DigestMail
from bowerbird.library.digest_making import DigestMaking
from bowerbird.model.jobs import DIGESTS, Job
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.digests import DigestStore
from bowerbird.storage.jobs import JobStore

NAME: Final = "digest"
EVERY_S: Final = 60.0
# Keeps a transaction below 20 ms, so that other writers do not wait for it.
_AT_ONCE: Final = 50
# A fault that stays does not come round every minute.
_AFTER_A_FAULT: Final = 3_600 * MICROSECONDS


def kind(database: Database, clock: Clock, making: DigestMaking, mail: DigestMail) -> Kind:
    store = DigestStore(database)

    async def run(job: Job, _: Progress) -> None:
        try:
            await making.make_due(job.account_id)
            await mail.send_due(job.account_id)
        except Refusal:
            raise
        except Exception:
            await store.put_off(job.account_id, clock() + _AFTER_A_FAULT)
            raise

    return Kind(NAME, run)


def recurring(database: Database, clock: Clock) -> Recurring:
    store, jobs = DigestStore(database), JobStore(database)

    async def add(account_ids: Sequence[int], now: int) -> None:
        async def work(transaction: Transaction) -> None:
            for account_id in account_ids:
                await _add(jobs, transaction, account_id, now)

        await database.write(work)

    async def sweep() -> None:
        now, after = clock(), 0
        while found := await store.due_accounts(after, now, _AT_ONCE, job_kind=NAME):
            await add(found, now)
            after = found[-1]

    return Recurring("digests", EVERY_S, sweep)


async def _add(jobs: JobStore, transaction: Transaction, account_id: int, now: int) -> None:
    try:
        async with transaction.savepoint():
            await jobs.add(
                transaction, account_id, NAME, b"{}", priority=DIGESTS, now=now, unique=NAME
            )
    except Refusal as refused:
        # Deleted since it was found.
        if refused.code is not Code.NOT_FOUND:
            raise
