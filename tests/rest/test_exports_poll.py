"""GET /v1/exports/{job_id}: the status of an export from creation to deletion."""

from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.jobs.exports import ExportJobs
from bowerbird.model.jobs import EXPORTS
from bowerbird.settings import Settings
from bowerbird.storage.files.files import Files
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support.exporting import begin, export, fetch, poll
from tests.support.service import Member, Service
from tests.support.working import add

pytestmark = pytest.mark.anyio

DAY = 24 * 3_600 * MICROSECONDS


async def claimed(service: Service) -> Any:
    store = JobStore(service.database)
    job = await store.claim(["export"], EXPORTS, lease_s=60, now=system_clock())
    assert job is not None
    return job


async def test_a_completed_export_has_a_link_valid_for_five_minutes(cast: Service) -> None:
    await cast.alice.save()

    job = await export(cast, cast.alice)

    assert job["progress"] == {"done": 1, "total": 1}
    assert job["completed_at"] == "2026-07-18T08:21:13.841838+00:00"
    assert job["expires_at"] == "2026-07-18T08:26:13.841838+00:00"
    assert job["download_url"].startswith(f"{job['poll_url']}/file?token=")
    assert job["file_size"] == len((await fetch(cast, job)).content)


async def test_each_poll_creates_a_new_link(cast: Service) -> None:
    first = await export(cast, cast.alice)
    cast.clock.now += 301 * MICROSECONDS

    second = await poll(cast.alice, first)

    assert (await fetch(cast, first)).status_code == 403
    assert (await fetch(cast, second)).status_code == 200


async def test_a_running_export_shows_its_progress(cast: Service) -> None:
    job = await begin(cast.alice, "pdf")
    store = JobStore(cast.database)
    await store.renew_lease(await claimed(cast), 3, 9, lease_s=60)

    response = await cast.alice.client.get(f"/v1/exports/{job['job_id']}")

    shown = response.json()["data"]
    assert (shown["status"], shown["progress"]) == ("processing", {"done": 3, "total": 9})
    assert response.headers["retry-after"] == "2"
    assert "download_url" not in shown
    assert "expires_at" not in shown


async def test_a_failed_export_reports_its_error(cast: Service) -> None:
    job = await begin(cast.alice)
    await JobStore(cast.database).fail(await claimed(cast), "Too many posts.", now=cast.clock())

    response = await cast.alice.client.get(f"/v1/exports/{job['job_id']}")

    shown = response.json()["data"]
    assert (shown["status"], shown["error"]) == ("failed", "Too many posts.")
    assert "retry-after" not in response.headers


async def test_an_export_waiting_for_a_retry_is_pending_not_failed(cast: Service) -> None:
    job = await begin(cast.alice)
    await JobStore(cast.database).postpone(await claimed(cast), "Not now.", pause_s=60)

    shown = await poll(cast.alice, job)

    assert (shown["status"], shown["error"]) == ("pending", None)


async def test_an_export_expires_after_a_day_with_its_file(cast: Service, tmp_path: Any) -> None:
    job = await export(cast, cast.alice)
    cast.clock.now += DAY - MICROSECONDS
    late = await poll(cast.alice, job)
    assert late["expires_at"] == "2026-07-19T08:21:13.841838+00:00"
    cast.clock.now += MICROSECONDS
    files = Files(Settings(data_dir=tmp_path))

    assert (await poll(cast.alice, job))["status"] == "expired"
    assert len(list((tmp_path / "files").rglob("*.json"))) == 1
    await ExportJobs(cast.database, files, cast.clock, tmp_path).expire()

    expired = await poll(cast.alice, job)
    assert expired["status"] == "expired"
    assert "download_url" not in expired
    assert list((tmp_path / "files").rglob("*.json")) == []


async def test_an_export_that_ended_a_month_ago_is_deleted(cast: Service, tmp_path: Any) -> None:
    job = await export(cast, cast.alice)
    cast.clock.now += 31 * DAY
    jobs = ExportJobs(cast.database, Files(Settings(data_dir=tmp_path)), cast.clock, tmp_path)

    await jobs.expire()
    await jobs.delete_old_jobs()

    gone = await cast.alice.client.get(f"/v1/exports/{job['job_id']}")
    assert gone.status_code == 404


async def test_a_job_of_another_kind_is_not_found(alice: Member) -> None:
    job_id = await add(alice.database, alice.account_id, "embed")

    assert (await alice.client.get(f"/v1/exports/{job_id}")).status_code == 404
