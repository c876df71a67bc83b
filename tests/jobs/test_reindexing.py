"""Jobs that index old posts and add counts: started by a sweep, in turns, with their progress."""

from collections.abc import Sequence
from itertools import chain

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import REINDEX, reindex_jobs
from bowerbird.model.jobs import JobResponse
from bowerbird.storage.database import Row, Values
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.word_counts import WordCounts
from tests.support import make, waiting, working
from tests.support.engines.watched_writes import WatchedWrites
from tests.support.engines.word_counts import age
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

POSTS = 450


async def jobs_of(member: Member) -> list[JobResponse]:
    return await JobStore(member.database).of_kind(member.account_id, REINDEX, 10)


async def fill(member: Member, count: int) -> None:
    await member.save_all([make.post(text=f"bird number{n}") for n in range(count)])


async def have_ended(*members: Member) -> bool:
    jobs = [job for member in members for job in await jobs_of(member)]
    return all(job.state not in ("pending", "processing") for job in jobs)


@pytest.mark.both
async def test_a_sweep_starts_a_job_per_account_with_old_posts(alice: Member, bob: Member) -> None:
    await fill(alice, POSTS)
    await fill(bob, 3)
    await age(alice.database, await alice.account())
    jobs = reindex_jobs(alice.database, system_clock, turn_s=0)
    worker = working.worker(alice.database, jobs.kind.run, kinds=[jobs.kind])

    async with working.at_work(worker):
        await jobs.sweep()
        await jobs.sweep()
        await waiting.until(lambda: have_ended(alice, bob))
        await jobs.sweep()

    # One job, which was paused after each turn.
    [job] = await jobs_of(alice)
    assert (job.state, job.done, job.total) == ("completed", POSTS, POSTS)
    counts, account = WordCounts(alice.database), await alice.account()
    assert await counts.total(account) == POSTS
    assert await counts.of(account, ["bird", "number7"]) == {"bird": POSTS, "number7": 1}
    assert await jobs_of(bob) == []


@pytest.mark.both
async def test_a_sweep_reads_many_accounts_at_once_and_writes_none_that_has_a_job(
    cast: Service,
) -> None:
    members = [cast.alice, cast.bob, cast.free]
    for member in members:
        await fill(member, 2)
        await age(cast.database, await member.account())
    jobs = reindex_jobs(cast.database, system_clock)
    read, statements = cast.database.slow_rows, []

    async def watched(sql: str, values: Values) -> Sequence[Row]:
        statements.append(sql)
        return await read(sql, values)

    setattr(cast.database, "slow_rows", watched)  # noqa: B010 - mypy forbids the assignment
    writes = WatchedWrites(cast.database)
    await jobs.sweep()
    # The second page is empty. Jobs are added together.
    assert (len(statements), len(writes.rows)) == (2, 1)
    await jobs.sweep()

    # The accounts with a job are passed over, and then none is left.
    assert (len(statements), len(writes.rows)) == (4, 1)
    assert [len(await jobs_of(member)) for member in members] == [1, 1, 1]


async def test_due_accounts_are_read_page_by_page(cast: Service) -> None:
    members = [cast.alice, cast.bob, cast.free]
    counts, found, after = WordCounts(cast.database), [], 0
    for member in members:
        await fill(member, 2)
        await age(cast.database, await member.account())

    while page := await counts.due_accounts(after, 2, job_kind=REINDEX):
        found.append(page)
        after = page[-1]

    assert [len(page) for page in found] == [2, 1]
    assert [*chain(*found)] == sorted(member.account_id for member in members)


async def test_a_sweep_starts_a_job_for_counts_that_an_import_has_left(alice: Member) -> None:
    await alice.save(text=" ".join(f"word{n}" for n in range(2_100)))
    jobs = reindex_jobs(alice.database, system_clock)
    worker = working.worker(alice.database, jobs.kind.run, kinds=[jobs.kind])
    changes = "SELECT count(*) FROM word_change"
    assert (await alice.database.rows(changes, {}))[0][0] == 1

    async with working.at_work(worker):
        await jobs.sweep()
        await waiting.until(lambda: have_ended(alice))

    assert (await alice.database.rows(changes, {}))[0][0] == 0
    assert await WordCounts(alice.database).of(await alice.account(), ["word7"]) == {"word7": 1}
