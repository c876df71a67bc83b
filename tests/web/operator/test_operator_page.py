"""The page of the operator."""

import asyncio
import itertools
import re
from datetime import date
from pathlib import Path

import pytest

from bowerbird import app
from bowerbird.clock import MICROSECONDS, day_of
from bowerbird.jobs import account_jobs
from bowerbird.jobs.worker import JobKind, Worker
from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.library.upkeep.installation_checks import Remembered
from bowerbird.model import bulk, connections, events, jobs, rules, words
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.jobs import KIND_NAMES, Job
from bowerbird.model.posts import media, networks
from bowerbird.settings import Settings
from bowerbird.storage.accounts.credentials import VersionUseStore
from bowerbird.storage.backup import archives
from bowerbird.storage.backup.archives import LastBackup
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.vectors import VectorStore
from bowerbird.wire.deprecation import Deprecation
from tests.support.models import MODELS
from tests.support.service import SetClock
from tests.support.visiting import visitor
from tests.web.house import House, build

pytestmark = pytest.mark.anyio


def listed(page: str) -> list[str]:
    """The addresses in the table of accounts."""
    section = page.partition('id="accounts"')[2].partition("</section>")[0]
    return re.findall(r'<th scope="row"><bdi>([^<]+)</bdi>', section)


async def test_the_owner_sees_accounts_the_newest_first(house: House) -> None:
    owner = await house.owner()
    for name in ("ann", "ben"):
        house.clock.now += 1 * MICROSECONDS
        await house.accounts.create(f"{name}@example.com", "free")

    page = await owner.open("/operator")

    assert page.status_code == 200
    assert listed(page.text) == ["ben@example.com", "ann@example.com", "owner@example.com"]
    assert "3 accounts" in page.text
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.both
async def test_changing_a_plan_is_in_the_activity_of_the_account(house: House) -> None:
    owner = await house.owner()
    account_id = await house.accounts.create("ann@example.com", "free")

    changed = await owner.send("/operator/plan", "/operator", account=account_id, plan="pro")

    assert changed.headers["location"] == "/operator?said=plan-changed#accounts"
    assert (await house.accounts.find("ann@example.com")).plan == "pro"
    [entry] = [
        each
        for each in await Activity(house.database).page(account_id)
        if each.kind is ActivityKind.PLAN_CHANGED
    ]
    assert (entry.detail, entry.address) == ("pro", "192.0.2.7")


async def test_accounts_come_in_pages_that_contain_each_once(house: House) -> None:
    owner = await house.owner()
    expected = ["owner@example.com"]
    for number in range(44):
        # Some are created at the same instant.
        house.clock.now += (number % 2) * MICROSECONDS
        expected.append(f"n{number:02d}@example.com")
        await house.accounts.create(expected[-1])

    found, path = [], "/operator"
    for _ in range(3):
        page = (await owner.open(path)).text
        found.append(listed(page))
        older = re.search(r'href="(/operator\?accounts=[^"#]+)', page)
        path = older[1] if older else ""

    assert [len(page) for page in found] == [20, 20, 5]
    assert path == ""
    assert sorted(itertools.chain(*found)) == sorted(expected)


@pytest.mark.both
async def test_accounts_are_found_by_the_start_of_their_address(house: House) -> None:
    owner = await house.owner()
    for email in ("Ann@example.com", "anna@example.org", "hannah@example.com", "ä@example.com"):
        await house.accounts.create(email)

    assert listed((await owner.open("/operator?search=ANN")).text) == [
        "Ann@example.com",
        "anna@example.org",
    ]
    assert listed((await owner.open("/operator?search=%C3%84")).text) == ["ä@example.com"]
    none = (await owner.open("/operator?search=%25")).text
    assert listed(none) == []
    assert "No address starts with" in none


@pytest.mark.parametrize("query", ["accounts=x", "accounts=1-x", "jobs=-", "stores=1-zz"])
async def test_an_unknown_page_of_a_list_is_refused(house: House, query: str) -> None:
    owner = await house.owner()

    assert (await owner.open(f"/operator?{query}")).status_code == 400


LINK = re.compile(r"http://localhost:8080/link\?invitation=yes#([\w.-]+)")


async def test_the_link_of_an_invitation_is_shown_once_and_works(house: House) -> None:
    owner = await house.owner()

    created = await owner.send("/operator/invitations", "/operator", note="Ines")

    found = LINK.search(created.text)
    assert created.status_code == 200
    assert found
    assert await Invitations(house.database, house.clock).is_open(found[1])
    again = await owner.open("/operator")
    assert found[1] not in again.text
    assert "Ines" in again.text


async def test_a_withdrawn_invitation_no_longer_works(house: House) -> None:
    owner = await house.owner()
    invitations = Invitations(house.database, house.clock)
    token = await invitations.create("Ines")
    [link] = await invitations.all()

    withdrawn = await owner.send(
        "/operator/invitations/withdraw", "/operator", invitation=link.link_id
    )

    assert withdrawn.headers["location"] == "/operator?said=invitation-withdrawn#invitations"
    assert not await invitations.is_open(token)
    again = await owner.send("/operator/invitations/withdraw", "/operator", invitation=link.link_id)
    assert again.status_code == 404
    assert "used or withdrawn already" in again.text


async def test_a_closed_service_says_how_to_invite(database: Database, tmp_path: Path) -> None:
    house = build(database, tmp_path)
    owner = await house.owner()

    page = (await owner.open("/operator")).text

    assert "Nobody can create an account here." in page
    assert 'action="/operator/invitations"' not in page


async def queue(house: House, account_id: int, kind: str = "errand") -> str:
    async def work(transaction: Transaction) -> str:
        return await JobStore(house.database).add(
            Writable(transaction, account_id), kind, b"{}", priority=10, now=house.clock()
        )

    return await house.database.write(work)


async def test_a_waiting_job_is_cancelled_and_can_be_retried(house: House) -> None:
    owner = await house.owner()
    account_id = await house.account_id()
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


def test_every_kind_of_job_has_a_name() -> None:
    kinds = {jobs.KIND, bulk.KIND, connections.KIND, networks.KIND, media.KIND, words.BUILD}
    kinds |= {rules.KIND, events.KIND}
    assert {*kinds, account_jobs.NAME, account_jobs.REINDEX} == set(KIND_NAMES)


async def test_a_running_job_stops_when_it_is_cancelled(house: House) -> None:
    owner = await house.owner()
    account_id = await house.account_id()
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
    account_id = await house.account_id()
    queued = [await queue(house, account_id) for _ in range(15)]

    first = (await owner.open("/operator")).text
    older = re.search(r'href="(/operator\?jobs=[^"#]+)', first)
    assert older
    second = (await owner.open(older[1])).text

    found = [re.findall(r'name="job" value="(\w+)"', page) for page in (first, second)]
    assert [len(page) for page in found] == [10, 5]
    assert sorted(itertools.chain(*found)) == sorted(queued)


DAY = 86_400


async def test_the_page_shows_versions_database_and_disk(house: House) -> None:
    owner = await house.owner()
    await VersionUseStore(house.database).put(
        {(await house.account_id(), "v1"): day_of(house.clock())}
    )

    page = (await owner.open("/operator")).text

    assert "<dt>Version</dt>" in page
    assert "SQLite 3." in page or "PostgreSQL 1" in page
    assert "<dt>Free disk space</dt>" in page
    versions = page.partition('aria-label="Versions in use"')[2].partition("</table>")[0]
    assert ">v1<" in versions
    assert "no date set" in versions


async def test_a_version_that_ends_has_its_date(house: House) -> None:
    owner = await house.owner()
    await VersionUseStore(house.database).put(
        {(await house.account_id(), "v1"): day_of(house.clock())}
    )
    ending = Deprecation(
        method="*", path="/v1", since=date(2026, 1, 1), sunset=date(2027, 3, 4), note="/docs"
    )
    service = app.build(Settings(), house.database, house.clock, MODELS, deprecations=[ending])
    again = visitor(service)
    again.client.cookies = owner.client.cookies

    assert "4 Mar 2027" in (await again.open("/operator")).text


async def test_the_last_backup_is_shown_and_a_warning_when_it_is_old(
    sqlite_house: House, tmp_path: Path
) -> None:
    owner = await sqlite_house.owner()
    assert "there is none yet" in (await owner.open("/operator")).text

    archives.remember_last(tmp_path, LastBackup(sqlite_house.clock(), 5_000_000))
    sqlite_house.clock.now += 61 * MICROSECONDS
    assert "made within the last 24 hours, 5.0 MB" in (await owner.open("/operator")).text

    sqlite_house.clock.now += (8 * DAY) * MICROSECONDS
    page = (await owner.open("/operator")).text
    assert "made 8 days ago" in page
    assert "To fix it: run bowerbird backup FILE every day." in page


async def test_slow_checks_run_only_when_they_are_asked_for(house: House) -> None:
    owner = await house.owner()

    plain, complete = await owner.open("/operator"), await owner.open("/operator?checks=all")

    health = [each.text.partition("<h3>")[0] for each in (plain, complete)]
    for name in ("Permissions", "Files", "Fonts", "Model", "Database"):
        assert f'scope="row">{name}<' not in health[0]
        assert f'scope="row">{name}<' in health[1]


async def test_the_progress_of_vectors_is_shown_per_account(house: House) -> None:
    owner = await house.owner()
    await VectorStore(house.database).create(await house.account_id(), b"\x01", "tiny", 1)

    page = (await owner.open("/operator")).text

    stores = page.partition('id="stores"')[2]
    assert ">tiny<" in stores
    assert "0 of 0" in stores


async def test_a_remembered_value_is_computed_once_for_callers_at_the_same_time() -> None:
    clock, count, may_end = SetClock(), 0, asyncio.Event()

    async def compute() -> int:
        nonlocal count
        count += 1
        await may_end.wait()
        return count

    value = Remembered(compute, clock)
    callers = [asyncio.create_task(value.get()) for _ in range(3)]
    await asyncio.sleep(0)
    callers[0].cancel()
    may_end.set()
    assert await asyncio.gather(*callers[1:]) == [1, 1]

    clock.now += 59 * MICROSECONDS
    assert await value.get() == 1
    clock.now += 2 * MICROSECONDS
    assert await value.get() == 2


async def test_a_failure_is_not_remembered() -> None:
    attempts = iter([ValueError("no"), None])

    async def compute() -> str:
        if error := next(attempts):
            raise error
        return "done"

    value = Remembered(compute, SetClock())
    with pytest.raises(ValueError, match="no"):
        await value.get()
    assert await value.get() == "done"


@pytest.fixture
def sqlite_house(sqlite: Database, tmp_path: Path) -> House:
    (tmp_path / "bowerbird.db").touch()
    return build(sqlite, tmp_path)
