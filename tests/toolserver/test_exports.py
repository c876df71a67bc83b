"""`create_export` and `get_export`: a file created in the background, returned as a link."""

import asyncio
import json
from typing import Any

import pytest

from bowerbird.model.jobs import EXPORTS, KIND
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import make
from tests.support.service import Member, Service
from tests.support.toolcalls import call, result_of
from tests.support.working import at_work

pytestmark = pytest.mark.anyio


async def finished(cast: Service, **arguments: Any) -> dict[str, Any]:
    """Creates an export with these arguments and returns the final result of get_export."""
    async with at_work(cast.app.worker):
        begun = await call(cast.alice, "create_export", **arguments)
        return await result_of(cast.alice, "get_export", job_id=begun["job_id"], wait_s=20)


async def fetched(cast: Service, link: str) -> list[dict[str, Any]]:
    response = await cast.nobody.get(link.removeprefix("http://localhost:8080"))
    assert response.status_code == 200
    posts: list[dict[str, Any]] = json.loads(response.content)
    return posts


async def test_a_completed_export_returns_a_link_to_its_file(cast: Service) -> None:
    await cast.alice.save_all([make.post(is_read=True), make.post(is_archived=True)])

    result = await finished(cast, format="json")

    job = result["structuredContent"]
    assert (job["status"], job["done"], job["total"]) == ("completed", 2, 2)
    assert "advice" not in job
    link = result["content"][1]
    assert link["type"] == "resource_link"
    assert link["uri"] == job["download_url"]
    assert (link["mimeType"], link["size"]) == ("application/json", job["file_size"])
    assert len(await fetched(cast, link["uri"])) == 2


async def test_other_calls_are_answered_while_get_export_waits(alice: Member) -> None:
    await alice.save()
    begun = await call(alice, "create_export", format="json")
    waiting = asyncio.create_task(call(alice, "get_export", job_id=begun["job_id"], wait_s=25))

    await call(alice, "list_labels")

    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_export_without_a_worker_says_since_when_it_waits(cast: Service) -> None:
    await cast.alice.save()
    begun = await call(cast.alice, "create_export", format="json")
    cast.clock.now += 90 * 1_000_000

    soon = await call(cast.alice, "get_export", job_id=begun["job_id"])
    cast.clock.now += 3_600 * 1_000_000
    late = await call(cast.alice, "get_export", job_id=begun["job_id"])

    assert soon["advice"].startswith("No worker has started it since it was requested 90 seconds")
    assert "wait_s" in soon["advice"]
    assert "total" not in soon, "no worker has counted the posts"
    assert late["advice"].endswith(
        "Tell the user that this takes unusually long, and stop waiting."
    )


async def test_an_export_that_a_worker_started_says_what_happened(cast: Service) -> None:
    await cast.alice.save()
    begun = await call(cast.alice, "create_export", format="json")
    jobs = JobStore(cast.database)
    claimed = await jobs.claim((KIND,), EXPORTS, lease_s=60, now=cast.clock())
    assert claimed is not None

    working = await call(cast.alice, "get_export", job_id=begun["job_id"])
    await jobs.postpone(claimed, "The disk is full.", pause_s=60)
    waiting = await call(cast.alice, "get_export", job_id=begun["job_id"])
    shown = (await cast.alice.get(f"/v1/exports/{begun['job_id']}")).json()["data"]

    assert working["advice"].startswith("A worker has been writing it since 2")
    assert waiting["advice"].startswith("Attempt 1 failed: The disk is full. It will be tried")
    assert (shown["attempts"], shown["last_error"]) == (1, "The disk is full.")
    assert shown["started_at"] is not None
