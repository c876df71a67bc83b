"""A file that no job offers does not stay, whatever became of its job or account."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.worker import Worker
from bowerbird.library.accounts import Accounts
from bowerbird.model.exports import KEPT_S
from bowerbird.settings import Settings
from bowerbird.storage.database import Transaction
from bowerbird.storage.files import Files
from bowerbird.storage.jobs import JobStore
from tests.support import working
from tests.support.exporting import begin, export
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

Moment = Callable[[], Awaitable[object]]


async def nothing() -> None: ...


class WatchedFiles(Files):
    """Lets something happen before or after a file is put."""

    def __init__(self, folder: Path, *, before: Moment = nothing, after: Moment = nothing) -> None:
        super().__init__(Settings(data_dir=folder))
        self._before = before
        self._after = after
        self.begin = asyncio.Event()
        self.is_over = asyncio.Event()

    async def put(self, name: str, source: Path | bytes) -> None:
        self.begin.set()
        try:
            await self._before()
            await super().put(name, source)
            await self._after()
        finally:
            self.is_over.set()


def left(folder: Path) -> list[Path]:
    return [path for path in (folder / "files").rglob("*") if path.is_file()]


def worker(cast: Service, files: Files, folder: Path) -> Worker:
    kind = ExportJobs(cast.database, files, cast.clock, folder).kind
    return working.worker(cast.database, kind.run, kinds=[kind], heartbeat_s=60.0, lease_s=60.0)


async def until_none_is_left(folder: Path) -> None:
    async def is_empty() -> bool:
        return not left(folder)

    await until(is_empty, patience_s=5)


async def test_a_deleted_account_s_export_leaves_no_file(cast: Service, tmp_path: Path) -> None:
    await cast.alice.save()
    await begin(cast.alice)

    async def delete() -> None:
        await Accounts(cast.database, cast.clock).delete("alice@example.com", files)

    files = WatchedFiles(tmp_path, before=delete)
    async with working.at_work(worker(cast, files, tmp_path)):
        await asyncio.wait_for(files.is_over.wait(), 10)
        assert len(left(tmp_path)) <= 1
        await until_none_is_left(tmp_path)


async def test_an_export_cancelled_once_its_file_stands_leaves_none(
    cast: Service, tmp_path: Path
) -> None:
    job = await begin(cast.alice)

    async def cancel() -> None:
        assert left(tmp_path)
        await JobStore(cast.database).cancel(cast.alice.account_id, job["job_id"], now=1)

    files = WatchedFiles(tmp_path, after=cancel)
    async with working.at_work(worker(cast, files, tmp_path)):
        await asyncio.wait_for(files.is_over.wait(), 10)
        await until_none_is_left(tmp_path)

    shown = await working.shown(cast.database, cast.alice.account_id, job["job_id"])
    assert (shown.state, shown.error) == ("failed", "It was cancelled.")


async def test_a_worker_that_stops_while_it_puts_a_file_leaves_none(
    cast: Service, tmp_path: Path
) -> None:
    job = await begin(cast.alice)

    async def is_stopping() -> bool:
        return any(task.cancelling() for task in asyncio.all_tasks())

    files = WatchedFiles(tmp_path, before=lambda: until(is_stopping))
    async with working.at_work(worker(cast, files, tmp_path)):
        await asyncio.wait_for(files.begin.wait(), 10)

    assert files.is_over.is_set()
    assert left(tmp_path) == []
    shown = await working.shown(cast.database, cast.alice.account_id, job["job_id"])
    assert (shown.state, shown.tries) == ("pending", 0)


async def test_what_a_completed_job_offers_stays(cast: Service, tmp_path: Path) -> None:
    job = await begin(cast.alice)
    files = WatchedFiles(tmp_path)

    async with working.at_work(worker(cast, files, tmp_path)):
        await working.until(cast.database, cast.alice.account_id, job["job_id"], "completed")

    assert len(left(tmp_path)) == 1


async def test_a_result_that_cannot_be_read_stops_no_other_from_expiring(
    cast: Service, tmp_path: Path
) -> None:
    bent = await export(cast, cast.alice)
    good = await export(cast, cast.alice)

    async def bend(transaction: Transaction) -> None:
        sql = "UPDATE job SET result = :bent WHERE job_id = :job_id"
        await transaction.run(sql, {"bent": b"{}", "job_id": bent["job_id"]})

    await cast.database.write(bend)
    cast.clock.now += (KEPT_S + 1) * MICROSECONDS
    files = Files(Settings(data_dir=tmp_path))
    await ExportJobs(cast.database, files, cast.clock, tmp_path).expire()

    for job in (bent, good):
        shown = await working.shown(cast.database, cast.alice.account_id, job["job_id"])
        assert shown.state == "expired"
    assert len(left(tmp_path)) == 1
