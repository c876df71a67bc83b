"""Digests made and mailed by a worker that a sweep sends."""

import asyncio

import pytest

from bowerbird.jobs.digests import DigestJobs
from bowerbird.jobs.worker import Worker
from bowerbird.model.jobs import Job, State
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.jobs import JobStore
from tests.support import digesting, service, working
from tests.support.digesting import MONDAY, instant
from tests.support.service import Member, Service
from tests.support.smtp import MailServer, mail_server
from tests.support.waiting import until
from tests.support.writing import SECOND

pytestmark = pytest.mark.anyio


def of(cast: Service, server: MailServer | None = None) -> DigestJobs:
    """The jobs as the service builds them."""
    settings = Settings()
    if server is not None:
        settings = Settings(smtp_url=server.url, mail_from="birds@example.org")
    return DigestJobs(cast.database, settings, cast.clock)


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


async def test_every_account_s_digest_is_made_and_mailed(cast: Service) -> None:
    members = (cast.alice, cast.bob, cast.free)
    await save(*members)
    await digesting.prefer(cast.bob, "2026-07-18T12:00:00+00:00", mail=True)
    cast.clock.now = instant(MONDAY)

    async with mail_server() as server:
        await sweep(cast)
        async with working.at_work(worker(cast, server)):
            await until_done(cast)

    for member in members:
        assert await digesting.ids(member) == ["weekly-2026-07-13"]
    assert server.recipients == ["bob@example.com"]
    assert {state for _, state in await jobs(cast)} == {State.COMPLETED}


async def test_two_workers_and_many_sweeps_do_it_once(cast: Service) -> None:
    await save(cast.alice)
    await digesting.prefer(cast.alice, "2026-07-18T12:00:00+00:00", mail=True)
    cast.clock.now = instant(MONDAY)

    async with (
        mail_server() as server,
        working.at_work(worker(cast, server), worker(cast, server)),
    ):
        await asyncio.gather(*(sweep(cast) for _ in range(5)))
        await until_done(cast)
        await sweep(cast)
        await until_done(cast)

    assert server.recipients == ["alice@example.com"]
    assert await digesting.ids(cast.alice) == ["weekly-2026-07-13"]
    mine = [account for account, _ in await jobs(cast) if account == cast.alice.account_id]
    assert len(mine) == 1


async def test_a_sweep_leaves_those_alone_that_are_not_due(cast: Service) -> None:
    cast.clock.now = instant(MONDAY)
    async with mail_server() as server:
        await sweep(cast)
        async with working.at_work(worker(cast, server)):
            await until_done(cast)
    first = len(await jobs(cast))

    await sweep(cast)

    assert first == 3
    assert len(await jobs(cast)) == 3


async def test_a_fault_does_not_come_round_every_minute(cast: Service) -> None:
    cast.clock.now = instant(MONDAY)
    members = (cast.alice, cast.bob, cast.free)
    for member in members:
        await member.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    # Nothing can be made of what these hold now.
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


async def test_a_letter_that_waits_is_found_by_the_sweep(cast: Service) -> None:
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


async def test_the_service_itself_makes_them(sqlite: Database) -> None:
    cast = await service.build(sqlite)
    await save(cast.alice)
    cast.clock.now = instant(MONDAY)

    async with working.at_work(cast.app.worker):
        made = await until(lambda: digesting.ids(cast.alice))

    assert made == ["weekly-2026-07-13"]


async def test_a_sweep_leaves_the_queue_short(
    cast: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.jobs.digests.MOST_UNFINISHED", 2)
    monkeypatch.setattr("bowerbird.jobs.digests._AT_ONCE", 1)
    await save(cast.alice, cast.bob, cast.free)
    cast.clock.now = instant(MONDAY)

    await sweep(cast)
    assert len(await jobs(cast)) == 2
    for job in await JobStore(cast.database).latest(100):
        await JobStore(cast.database).cancel(job.account_id, job.job_id, now=1)
    await sweep(cast)

    assert len([state for _, state in await jobs(cast) if state == State.PENDING]) == 2
