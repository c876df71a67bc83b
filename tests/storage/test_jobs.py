"""The job queue: adding, claiming, retrying, cancelling and deleting jobs."""

import pytest

from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.errors import Refusal
from bowerbird.jobs.worker import LEASE_S, PAUSES_S
from bowerbird.model.jobs import EMBEDDING, MAX_TRIES, Job
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support.working import add, new_account, shown

pytestmark = pytest.mark.anyio


async def claimed(database: Database, lease_s: float = 60) -> Job:
    job = await JobStore(database).claim(["errand"], EMBEDDING, lease_s=lease_s, now=system_clock())
    assert job is not None
    return job


async def test_a_job_is_not_added_twice_while_it_is_unfinished(database: Database) -> None:
    account_id = await new_account(database)
    first = await add(database, account_id, unique="version 7")

    assert await add(database, account_id, unique="version 7") == first
    await JobStore(database).complete(
        await claimed(database), None, total=0, now=1, expires_at=None
    )
    others = [
        await add(database, account_id, unique="version 7"),
        await add(database, account_id, unique="version 8"),
        await add(database, account_id, "another kind", unique="version 7"),
        await add(database, await new_account(database), unique="version 7"),
        await add(database, account_id),
        await add(database, account_id),
    ]
    assert len({first, *others}) == 7


async def test_no_job_is_added_for_a_deleted_account(database: Database) -> None:
    with pytest.raises(Refusal, match="The account has been deleted"):
        await add(database, 77)


async def test_a_worker_that_lost_a_job_cannot_change_it(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)
    lost = await claimed(database, lease_s=0)
    holding = await claimed(database)

    assert not await store.renew_lease(lost, 1, 2, lease_s=60)
    assert not await store.complete(lost, b'"lost"', total=2, now=1, expires_at=None)
    assert not await store.postpone(lost, "no", pause_s=0)
    assert not await store.release(lost)
    assert not await store.fail(lost, "no", now=1)
    assert await store.complete(holding, b'"holding"', total=2, now=1, expires_at=None)

    job = await shown(database, account_id, job_id)
    assert (job.state, job.result) == ("completed", b'"holding"')


async def test_a_failed_job_is_retried_with_all_attempts_unless_it_was_added_again(
    database: Database,
) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id, unique="version 7")
    store = JobStore(database)
    assert not await store.retry(account_id, job_id)
    await store.fail(await claimed(database), "It broke.", now=1)

    assert await store.retry(account_id, job_id)
    job = await shown(database, account_id, job_id)
    assert (job.state, job.tries, job.error, job.completed_at) == ("pending", 0, None, None)
    again = await claimed(database)
    assert again.job_id == job_id

    await store.fail(again, "It broke again.", now=1)
    await add(database, account_id, unique="version 7")
    assert not await store.retry(account_id, job_id)


async def test_only_an_unfinished_job_of_ones_own_can_be_cancelled(database: Database) -> None:
    account_id, other = await new_account(database), await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)

    assert await store.one(other, job_id) is None
    assert not await store.cancel(other, job_id, now=4)
    assert await store.cancel(account_id, job_id, now=5)
    assert not await store.cancel(account_id, job_id, now=6)
    assert (await shown(database, account_id, job_id)).completed_at == 5


async def test_old_jobs_are_deleted_per_account(database: Database) -> None:
    store = JobStore(database)
    account_id, other = await new_account(database), await new_account(database)
    for at in (1, 2, 9):
        job_id = await add(database, account_id)
        await store.cancel(account_id, job_id, now=at)
    await add(database, other)

    assert await store.accounts_with_old(before=5, limit=10) == [account_id]
    assert await store.delete_old(account_id, before=5, limit=1) == 1
    assert await store.delete_old(account_id, before=5, limit=9) == 1
    assert await store.accounts_with_old(before=5, limit=10) == []
    assert len(await store.latest(10)) == 2


async def test_a_completed_job_expires(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)
    await store.complete(await claimed(database), b"{}", total=1, now=1, expires_at=MICROSECONDS)

    assert await store.due_to_expire(MICROSECONDS - 1, 10) == []
    due = await store.due_to_expire(MICROSECONDS, 10)
    assert [job.job_id for job in due] == [job_id]
    await store.expire(account_id, job_id)

    assert await store.due_to_expire(MICROSECONDS, 10) == []
    assert (await shown(database, account_id, job_id)).state == "expired"


async def test_jobs_are_counted_by_kind_and_state(database: Database) -> None:
    account_id = await new_account(database)
    await add(database, account_id)
    await add(database, account_id)
    job_id = await add(database, account_id, "other")
    store = JobStore(database)
    await store.cancel(account_id, job_id, now=1)

    counts = await store.counts()

    assert [(c.kind, c.state, c.count) for c in counts] == [
        ("errand", "pending", 2),
        ("other", "failed", 1),
    ]
    assert await store.counts(only_unfinished=True) == counts[:1]
    assert abs(counts[0].oldest_at - system_clock()) < 60 * MICROSECONDS


async def test_a_job_that_was_claimed_or_postponed_before_the_clock_was_set_back_is_claimed_again(
    database: Database,
) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)

    # The lease of a worker whose clock was an hour ahead of the present one.
    lost = await claimed(database, lease_s=3_600 + LEASE_S)
    again = await claimed(database, lease_s=LEASE_S)
    assert (again.job_id, again.tries) == (job_id, 2)
    assert not await store.renew_lease(lost, 1, 2, lease_s=LEASE_S)
    assert await store.claim(["errand"], EMBEDDING, lease_s=1, now=1) is None

    await store.postpone(again, "later", pause_s=3_600 + PAUSES_S[-1])
    assert (await claimed(database)).job_id == job_id


async def test_a_job_of_the_last_attempt_fails_after_a_clock_set_back(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    for _ in range(MAX_TRIES):
        await claimed(database, lease_s=3_600)

    assert await JobStore(database).claim(["errand"], EMBEDDING, lease_s=60, now=1) is None
    assert (await shown(database, account_id, job_id)).state == "failed"
