"""Sweeps find due accounts, and workers create and email their digests."""

import pytest

from bowerbird.jobs.account_jobs import AccountJobs, digest_jobs
from bowerbird.jobs.worker import Worker
from bowerbird.model.jobs import Job, JobState
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import digesting, service, working
from tests.support.digesting import MONDAY, instant
from tests.support.hosts.smtp import MailServer, mail_server
from tests.support.service import Member, Service
from tests.support.waiting import until
from tests.support.writing import SECOND

pytestmark = pytest.mark.anyio


def of(cast: Service, server: MailServer | None = None) -> AccountJobs:
    """The digest jobs as the service creates them."""
    settings = Settings()
    if server is not None:
        settings = Settings(smtp_url=server.url, mail_from="birds@example.org")
    return digest_jobs(cast.database, settings, cast.clock)


def worker(cast: Service, server: MailServer) -> Worker:
    kind = of(cast, server).kind
    return working.worker(cast.database, kind.run, kinds=[kind])


async def sweep(cast: Service) -> None:
    await of(cast).sweep()


async def jobs(cast: Service) -> list[tuple[int, str]]:
    return [(job.account_id, job.state) for job in await JobStore(cast.database).latest(100)]


async def until_done(cast: Service) -> None:
    for job in await JobStore(cast.database).latest(100):
        await working.until(cast.database, job.account_id, job.job_id, "completed")


async def save(*members: Member) -> None:
    for member in members:
        await member.save(bookmarked_at="2026-07-14T12:00:00+00:00")


@pytest.mark.both
async def test_the_digest_of_every_account_is_created_and_emailed(cast: Service) -> None:
    members = (cast.alice, cast.bob, cast.free)
    await save(*members)
    await digesting.prefer(cast.bob, "2026-07-18T12:00:00+00:00", mail=True)
    cast.clock.now = instant(MONDAY)
    async with mail_server() as server:
        await sweep(cast)
        async with working.at_work(worker(cast, server)):
            await until_done(cast)
    # Now no account is due.
    await sweep(cast)

    for member in members:
        assert await digesting.ids(member) == ["weekly-2026-07-13"]
    assert server.recipients == ["bob@example.com"]
    assert [state for _, state in await jobs(cast)] == [JobState.COMPLETED] * 3


async def test_after_an_error_an_account_is_retried_an_hour_later(cast: Service) -> None:
    cast.clock.now = instant(MONDAY)
    members = (cast.alice, cast.bob, cast.free)
    for member in members:
        await member.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    # No digest can be created with an unknown frequency.
    await cast.database.write(lambda transaction: transaction.run(_BREAK, {}))
    for member in members:
        with pytest.raises(ValueError, match="hourly"):
            await of(cast).kind.run(Job(member.account_id, "1", "digest", b"{}", 1), _no_progress)

    cast.clock.now += 3_600 * SECOND - 1
    await sweep(cast)
    assert await jobs(cast) == []

    cast.clock.now += 1
    await sweep(cast)
    assert len(await jobs(cast)) == 3


_BREAK = "UPDATE digest_preference SET frequency = 'hourly'"


async def _no_progress(_done: int, _total: int) -> None:
    pass


async def test_a_sweep_finds_a_pending_email(cast: Service) -> None:
    await save(cast.alice)
    await digesting.prefer(cast.alice, "2026-07-18T12:00:00+00:00", mail=True)
    cast.clock.now = instant(MONDAY)
    async with mail_server() as server:
        server.at_recipient = lambda _: "450 Not now"
        async with working.at_work(worker(cast, server)):
            await sweep(cast)
            await until_done(cast)
            assert server.letters == []
            server.at_recipient = lambda _: None
            cast.clock.now += 300 * SECOND
            await sweep(cast)
            await until_done(cast)

    assert server.recipients == ["alice@example.com"]


async def test_the_service_creates_digests(sqlite: Database) -> None:
    cast = await service.build(sqlite)
    await save(cast.alice)
    cast.clock.now = instant(MONDAY)

    async with working.at_work(cast.app.worker):
        made = await until(lambda: digesting.ids(cast.alice))

    assert made == ["weekly-2026-07-13"]


async def test_a_sweep_stops_when_the_queue_is_full(
    cast: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.jobs.account_jobs.MAX_UNFINISHED", 2)
    monkeypatch.setattr("bowerbird.jobs.account_jobs._ACCOUNTS", 1)
    await save(cast.alice, cast.bob, cast.free)
    cast.clock.now = instant(MONDAY)

    await sweep(cast)
    assert len(await jobs(cast)) == 2
    for job in await JobStore(cast.database).latest(100):
        await JobStore(cast.database).cancel(job.account_id, job.job_id, now=1)
    await sweep(cast)

    assert len([state for _, state in await jobs(cast) if state == JobState.PENDING]) == 2
