"""Jobs that do the rest of large changes of posts, and of their undos."""

import msgspec

from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.worker import Failed, JobKind, Progress
from bowerbird.library.access import plans
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.model.bulk import KIND
from bowerbird.model.jobs import Job
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database


def kind(database: Database, clock: Clock) -> JobKind:
    """A change stores its own progress: each turn leaves the rest of it in the database."""
    accounts, changes = AccountStore(database), BulkChanges(database, clock)

    async def run(job: Job, _: Progress) -> None:
        account = await accounts.by_id(job.account_id, month_of(clock()))
        try:
            if account is None:
                raise plans.account_gone()
            await changes.finish(account, msgspec.json.decode(job.parameters, type=str))
        except Refusal as refused:
            if refused.code is Code.NOT_FOUND:
                raise Failed(refused.sentence) from refused
            raise

    return JobKind(KIND, run)
