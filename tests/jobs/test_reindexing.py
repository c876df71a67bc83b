"""Jobs that index old posts and add counts: started by a sweep, in turns, with their progress."""

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.reindexing import KIND, ReindexJobs
from bowerbird.model.jobs import JobResponse
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.word_counts import WordCounts
from tests.support import make, waiting, working
from tests.support.service import Member
from tests.support.word_counts import age

pytestmark = pytest.mark.anyio

POSTS = 450


async def jobs_of(member: Member) -> list[JobResponse]:
    return await JobStore(member.database).of_kind(member.account_id, KIND, 10)


async def fill(member: Member, count: int) -> None:
    await member.save_all([make.post(text=f"bird number{n}") for n in range(count)])


async def have_ended(*members: Member) -> bool:
    jobs = [job for member in members for job in await jobs_of(member)]
    return all(job.state not in ("pending", "processing") for job in jobs)


async def test_a_sweep_starts_a_job_per_account_with_old_posts(alice: Member, bob: Member) -> None:
    await fill(alice, POSTS)
    await fill(bob, 3)
    await age(alice.database, await alice.account())
    jobs = ReindexJobs(alice.database, system_clock, turn_s=0)
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


async def test_a_sweep_starts_a_job_for_counts_that_an_import_has_left(alice: Member) -> None:
    await alice.save(text=" ".join(f"word{n}" for n in range(2_100)))
    jobs = ReindexJobs(alice.database, system_clock)
    worker = working.worker(alice.database, jobs.kind.run, kinds=[jobs.kind])
    changes = "SELECT count(*) FROM word_change"
    assert (await alice.database.rows(changes, {}))[0][0] == 1

    async with working.at_work(worker):
        await jobs.sweep()
        await waiting.until(lambda: have_ended(alice))

    assert (await alice.database.rows(changes, {}))[0][0] == 0
    assert await WordCounts(alice.database).of(await alice.account(), ["word7"]) == {"word7": 1}
