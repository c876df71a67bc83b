"""Jobs on the operator's page."""

import asyncio
import itertools
import re

import pytest

from bowerbird.jobs import digests, reindexing
from bowerbird.jobs.worker import JobKind, Worker
from bowerbird.model import bulk, connections, jobs, media, vectors
from bowerbird.model.jobs import KIND_NAMES, Job
from bowerbird.storage.database import Transaction
from bowerbird.storage.jobs import JobStore
from tests.web.sign_in.conftest import House

pytestmark = pytest.mark.anyio


async def account_of(house: House) -> int:
    return (await house.accounts.find("owner@example.com")).account_id


async def queue(house: House, account_id: int, kind: str = "errand") -> str:
    async def work(transaction: Transaction) -> str:
        return await JobStore(house.database).add(
            transaction, account_id, kind, b"{}", priority=10, now=house.clock()
        )

    return await house.database.write(work)


async def test_a_waiting_job_is_cancelled_and_can_be_retried(house: House) -> None:
    owner = await house.owner()
    account_id = await account_of(house)
    job_id = await queue(house, account_id)
    store, job = JobStore(house.database), {"account": account_id, "job": job_id}

    cancelled = await owner.send("/operator/jobs/cancel", "/operator#jobs", **job)

    assert cancelled.headers["location"] == "/operator?said=job-cancelled#jobs"
    found = await store.one(account_id, job_id)
    assert found is not None
    assert (found.state, found.error) == ("failed", "The job was cancelled.")
    assert "The job was cancelled." in (await owner.open("/operator")).text
    again = await owner.send("/operator/jobs/cancel", "/operator", **job)
    assert again.status_code == 404
    assert "The job has already ended." in again.text

    retried = await owner.send("/operator/jobs/retry", "/operator", **job)

    assert retried.headers["location"] == "/operator?said=job-queued#jobs"
    found = await store.one(account_id, job_id)
    assert found is not None
    assert (found.state, found.error) == ("pending", None)
    refused = await owner.send("/operator/jobs/retry", "/operator", **job)
    assert refused.status_code == 404


async def test_kinds_of_jobs_are_named_in_words(house: House) -> None:
    owner = await house.owner()
    await queue(house, await account_of(house), "embed")

    page = (await owner.open("/operator")).text

    assert '<th scope="row">search by meaning ' in page
    assert "1 search by meaning job waiting" in page
    assert "embed job" not in page


def test_every_kind_of_job_has_a_name() -> None:
    kinds = {jobs.KIND, bulk.KIND, connections.KIND, media.KIND, vectors.BUILD}
    assert {*kinds, digests.NAME, reindexing.KIND} == set(KIND_NAMES)


async def test_a_running_job_stops_when_it_is_cancelled(house: House) -> None:
    owner = await house.owner()
    account_id = await account_of(house)
    job_id = await queue(house, account_id)
    started, ended = asyncio.Event(), asyncio.Event()

    async def run(_: Job, __: object) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    worker = Worker(
        house.database, [JobKind("errand", run)], [], house.clock, heartbeat_s=0.05, poll_s=0.05
    )
    stopping = asyncio.Event()
    running = asyncio.create_task(worker.run(stopping))
    try:
        await asyncio.wait_for(started.wait(), 30)
        assert ">running<" in (await owner.open("/operator")).text
        await owner.send("/operator/jobs/cancel", "/operator", account=account_id, job=job_id)
        await asyncio.wait_for(ended.wait(), 30)
    finally:
        stopping.set()
        await running
    found = await JobStore(house.database).one(account_id, job_id)
    assert found is not None
    assert found.state == "failed"


async def test_jobs_come_in_pages_that_contain_each_once(house: House) -> None:
    owner = await house.owner()
    account_id = await account_of(house)
    queued = [await queue(house, account_id) for _ in range(15)]

    first = (await owner.open("/operator")).text
    older = re.search(r'href="(/operator\?jobs=[^"#]+)', first)
    assert older
    second = (await owner.open(older[1])).text

    found = [re.findall(r'name="job" value="(\w+)"', page) for page in (first, second)]
    assert [len(page) for page in found] == [10, 5]
    assert sorted(itertools.chain(*found)) == sorted(queued)


async def test_finished_jobs_are_not_listed(house: House) -> None:
    owner = await house.owner()
    account_id = await account_of(house)
    await queue(house, account_id)
    store = JobStore(house.database)
    job = await store.claim(["errand"], 100, lease_s=60, now=house.clock())
    assert job is not None
    await store.complete(job, None, total=1, now=house.clock(), expires_at=None)

    assert "No job is waiting, running or failed." in (await owner.open("/operator")).text


async def test_the_error_and_kind_of_a_job_are_never_markup(house: House) -> None:
    owner = await house.owner()
    account_id = await account_of(house)
    await queue(house, account_id, "<u>kind</u>")
    store = JobStore(house.database)
    job = await store.claim(["<u>kind</u>"], 100, lease_s=60, now=house.clock())
    assert job is not None
    await store.fail(job, "<u>error</u>", now=house.clock())

    page = (await owner.open("/operator")).text

    assert "<u>" not in page
    assert "&lt;u&gt;error" in page
