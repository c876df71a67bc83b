"""A file that no job offers is deleted, whatever happened to its job or account."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.worker import Worker
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.jobs import RETENTION_S
from bowerbird.settings import Settings
from bowerbird.storage.database import Transaction
from bowerbird.storage.files import Files
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import working
from tests.support.exporting import begin, export
from tests.support.service import Service
from tests.support.waiting import PATIENCE_S, until

pytestmark = pytest.mark.anyio

Moment = Callable[[], Awaitable[object]]


async def nothing() -> None: ...


class WatchedFiles(Files):
    """Runs an action before or after a file is stored."""

    def __init__(self, folder: Path, *, before: Moment = nothing, after: Moment = nothing) -> None:
        super().__init__(Settings(data_dir=folder))
        self._before = before
        self._after = after
        self.begin = asyncio.Event()
        self.is_over = asyncio.Event()

    async def move(self, name: str, source: Path) -> None:
        self.begin.set()
        try:
            await self._before()
            await super().move(name, source)
            await self._after()
        finally:
            self.is_over.set()


def remaining_files(folder: Path) -> list[Path]:
    return [path for path in (folder / "files").rglob("*") if path.is_file()]


def worker(cast: Service, files: Files, folder: Path) -> Worker:
    kind = ExportJobs(cast.database, files, cast.clock, folder).kind
    return working.worker(cast.database, kind.run, kinds=[kind], heartbeat_s=60.0, lease_s=60.0)


async def until_no_file_is_left(folder: Path) -> None:
    async def is_empty() -> bool:
        return not remaining_files(folder)

    await until(is_empty)


@pytest.mark.both
async def test_an_export_of_a_deleted_account_leaves_no_file(cast: Service, tmp_path: Path) -> None:
    await cast.alice.save()
    await begin(cast.alice)

    async def delete() -> None:
        await Accounts(cast.database, cast.clock).delete("alice@example.com", files)

    files = WatchedFiles(tmp_path, before=delete)
    async with working.at_work(worker(cast, files, tmp_path)):
        await asyncio.wait_for(files.is_over.wait(), PATIENCE_S)
        assert len(remaining_files(tmp_path)) <= 1
        await until_no_file_is_left(tmp_path)


async def test_an_export_cancelled_after_its_file_is_stored_leaves_no_file(
    cast: Service, tmp_path: Path
) -> None:
    job = await begin(cast.alice)

    async def cancel() -> None:
        assert remaining_files(tmp_path)
        await JobStore(cast.database).cancel(cast.alice.account_id, job["job_id"], now=1)

    files = WatchedFiles(tmp_path, after=cancel)
    async with working.at_work(worker(cast, files, tmp_path)):
        await asyncio.wait_for(files.is_over.wait(), PATIENCE_S)
        await until_no_file_is_left(tmp_path)

    stored = await working.shown(cast.database, cast.alice.account_id, job["job_id"])
    assert (stored.state, stored.error) == ("failed", "The job was cancelled.")


async def test_a_worker_that_stops_while_it_stores_a_file_leaves_no_file(
    cast: Service, tmp_path: Path
) -> None:
    job = await begin(cast.alice)

    async def is_stopping() -> bool:
        return any(task.cancelling() for task in asyncio.all_tasks())

    files = WatchedFiles(tmp_path, before=lambda: until(is_stopping))
    async with working.at_work(worker(cast, files, tmp_path)):
        await asyncio.wait_for(files.begin.wait(), PATIENCE_S)

    assert files.is_over.is_set()
    assert remaining_files(tmp_path) == []
    stored = await working.shown(cast.database, cast.alice.account_id, job["job_id"])
    assert (stored.state, stored.tries) == ("pending", 0)


async def test_an_undecodable_result_does_not_stop_other_exports_from_expiring(
    cast: Service, tmp_path: Path
) -> None:
    damaged = await export(cast, cast.alice)
    good = await export(cast, cast.alice)

    async def damage(transaction: Transaction) -> None:
        sql = "UPDATE job SET result = :damaged WHERE job_id = :job_id"
        await transaction.run(sql, {"damaged": b"{}", "job_id": damaged["job_id"]})

    await cast.database.write(damage)
    cast.clock.now += (RETENTION_S + 1) * MICROSECONDS
    files = Files(Settings(data_dir=tmp_path))
    await ExportJobs(cast.database, files, cast.clock, tmp_path).expire()

    for job in (damaged, good):
        stored = await working.shown(cast.database, cast.alice.account_id, job["job_id"])
        assert stored.state == "expired"
    assert len(remaining_files(tmp_path)) == 1
