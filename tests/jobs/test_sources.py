"""Jobs that read sources: started by a sweep, one per account, and in turns."""

from pathlib import Path

import pytest

from bowerbird.jobs.account_jobs import source_jobs
from bowerbird.jobs.worker import Paused
from bowerbird.model.connections import KIND
from bowerbird.model.jobs import Job, JobResponse
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import waiting, working
from tests.support.hosts.networks import Networks, record, status
from tests.support.posts.sources import Desk, no_report
from tests.support.service import Member

pytestmark = pytest.mark.anyio


@pytest.mark.both
async def test_a_sweep_starts_one_job_per_account_with_a_source_that_is_due(
    alice: Member, bob: Member, networks: Networks, tmp_path: Path
) -> None:
    desk, other = Desk(alice, networks, tmp_path), Desk(bob, networks, tmp_path)
    networks.statuses, networks.records = [status(1)], [record(1)]
    await desk.mastodon()
    await desk.bluesky()
    worker = working.worker(alice.database, desk.jobs.kind.run, kinds=[desk.jobs.kind])

    async def is_read() -> bool:
        return not [one for one in await desk.all() if one.last_run_at is None]

    async def has_ended() -> bool:
        return {job.state for job in await jobs_of(desk)} == {"completed"}

    async with working.at_work(worker):
        await desk.jobs.sweep()
        await waiting.until(is_read)
        await waiting.until(has_ended)
        await desk.jobs.sweep()

    assert len(await jobs_of(desk)) == 1
    assert await jobs_of(other) == []
    assert sorted(await desk.texts()) == ["Record number 1", "Status number 1"]


async def test_a_long_run_pauses_for_others_and_continues(
    alice: Member, networks: Networks, tmp_path: Path
) -> None:
    desk = Desk(alice, networks, tmp_path)
    networks.statuses = [status(number) for number in range(120, 0, -1)]
    await desk.mastodon()
    jobs = source_jobs(alice.database, desk.sync, alice.clock, turn_s=0)
    job = Job(alice.account_id, "job", KIND, b"{}", 1)

    for _ in range(2):
        with pytest.raises(Paused):
            await jobs.kind.run(job, no_report)
    await jobs.kind.run(job, no_report)

    assert len(await desk.texts()) == 120
    assert len(networks.lists()) == 3


async def test_sources_of_an_account_take_turns(
    alice: Member, networks: Networks, tmp_path: Path
) -> None:
    desk = Desk(alice, networks, tmp_path)
    networks.statuses = [status(number) for number in range(120, 0, -1)]
    networks.records = [record(1)]
    await desk.mastodon()
    desk.wait(1)
    await desk.bluesky()

    await desk.run()

    kinds = [one.path.startswith("/xrpc") for one in networks.lists()]
    assert kinds == [False, True, False, False]


async def jobs_of(desk: Desk) -> list[JobResponse]:
    return await JobStore(desk.member.database).of_kind(desk.account_id, KIND, 10)
