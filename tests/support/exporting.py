"""Exports in tests: requested over HTTP, run by the service's worker, downloaded by link."""

from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.support import waiting
from tests.support.service import Member, Service
from tests.support.working import at_work


async def begin(member: Member, format: str = "json", **body: Any) -> dict[str, Any]:
    """The job as it was returned when it was created."""
    response = await member.client.post(f"/v1/exports/{format}", json=body)
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()["data"]
    return job


async def poll(member: Member, job: dict[str, Any]) -> dict[str, Any]:
    response = await member.client.get(urlsplit(job["poll_url"]).path)
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()["data"]
    return shown


async def finished(service: Service, member: Member, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    """The jobs after the worker has finished them."""
    async with at_work(service.app.worker):
        return [await _ended(member, job) for job in jobs]


async def _ended(member: Member, job: dict[str, Any]) -> dict[str, Any]:
    async def has_ended() -> dict[str, Any]:
        shown = await poll(member, job)
        return {} if shown["status"] in ("pending", "processing") else shown

    return await waiting.until(has_ended)


async def export(
    service: Service, member: Member, format: str = "json", **body: Any
) -> dict[str, Any]:
    """A completed export."""
    (job,) = await finished(service, member, await begin(member, format, **body))
    assert job["status"] == "completed", job
    return job


async def fetch(service: Service, job: dict[str, Any], **headers: str) -> httpx.Response:
    """The file, downloaded without an API key."""
    parts = urlsplit(job["download_url"])
    return await service.nobody.get(f"{parts.path}?{parts.query}", headers=headers)


async def exported(service: Service, member: Member, **body: Any) -> Any:
    """The posts of a JSON export."""
    response = await fetch(service, await export(service, member, **body))
    assert response.status_code == 200, response.text
    return response.json()
