"""Short functions for saving posts through the API."""

from typing import Any

import httpx

from tests.support import writing
from tests.support.service import Member

X = "https://x.com/nestcam/status/1945000111222333444"
X_ID = "1945000111222333444"


async def save(member: Member, key: str | None = None, **body: Any) -> httpx.Response:
    return await writing.send(member, "POST", "/v1/bookmarks", body, key)


async def results(member: Member, **body: Any) -> list[dict[str, Any]]:
    response = await save(member, **body)
    assert response.status_code in (200, 207), response.text
    found: list[dict[str, Any]] = response.json()["data"]["results"]
    return found


async def everything(member: Member) -> list[dict[str, Any]]:
    listed = await member.listed(is_unread_only="false", hide_archived="false")
    data: list[dict[str, Any]] = listed["data"]
    return data


async def stored(member: Member, post_id: str) -> dict[str, Any]:
    response = await member.get(f"/v1/bookmarks/{post_id}")
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data
