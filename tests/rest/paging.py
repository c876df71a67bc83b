"""Reads lists to their end, as a client does."""

from typing import Any

from tests.support.service import Member


async def pages(member: Member, path: str, **asked: Any) -> list[dict[str, Any]]:
    """The answers of a list, page by page."""
    read: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        response = await member.get(path, **asked, cursor=cursor)
        assert response.status_code == 200, response.text
        read.append(response.json())
        cursor = read[-1]["meta"]["next_cursor"]
    return read


async def items(member: Member, path: str, **asked: Any) -> list[Any]:
    return [item for page in await pages(member, path, **asked) for item in page["data"]]
