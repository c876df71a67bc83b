"""Files that a device sends to be imported."""

import json
from typing import Any

import httpx

from tests.support import make
from tests.support.ingesting import Sender, data
from tests.support.service import Service


def own(*post_ids: str) -> bytes:
    return json.dumps([make.post(post_id=post_id) for post_id in post_ids]).encode()


async def upload(sender: Sender, content: bytes, query: str = "", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await sender.client.post(f"/ingest/v1/files{query}", content=content, headers=named)


async def imported(cast: Service, sender: Sender, response: httpx.Response) -> dict[str, Any]:
    """The job after the file was imported."""
    assert response.status_code == 202, response.text
    await cast.app.file_imports.finished()
    done = await sender.client.get(response.headers["location"])
    assert done.status_code == 200
    assert "retry-after" not in done.headers
    job: dict[str, Any] = data(done)
    return job


def counts(job: dict[str, Any]) -> tuple[int, int, int]:
    (file,) = job["report"]["files"]
    return file["new"], file["changed"], file["unchanged"]
