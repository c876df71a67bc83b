"""What people wish for, played through the official client as an agent would send it."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support import make, serving
from tests.support.serving import Server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """20 posts saved on five days around a new year, four of them read and two archived."""
    folder = tmp_path_factory.mktemp("wishes")
    days = ("2024-12-30", "2024-12-31", "2025-01-01", "2025-01-02", "2025-06-01")
    posts = [
        make.post(
            post_id=str(number + 1),
            text=f"post {number} about {'owls' if number % 2 else 'sourdough bread'}",
            bookmarked_at=f"{days[number % 5]}T12:00:00+00:00",
            is_read=number in (2, 7, 12, 17),
            is_archived=number in (3, 8),
        )
        for number in range(20)
    ]
    with serving.serving(folder) as server:
        key = server.new_key()
        file = folder / "posts.json"
        file.write_text(json.dumps(posts), encoding="utf-8")
        server.run("import", "you@example.com", str(file))
        yield server, key


@asynccontextmanager
async def agent(library: tuple[Server, str]) -> AsyncIterator[Client]:
    server, key = library
    address = f"http://localhost:{server.port}/mcp"
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode="auto") as client,
    ):
        yield client


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    content: dict[str, Any] | None = result.structured_content
    assert content is not None
    return content


async def test_archive_everything_i_saved_before_2025(library: tuple[Server, str]) -> None:
    wish: dict[str, Any] = {"filter": {"bookmarked_before": "2025-01-01"}, "is_archived": True}
    async with agent(library) as client:
        dry = await answer(client, "update_bookmarks", **wish, dry_run=True)
        assert dry["count"] == 8, "the posts of the two days before, not those since"
        done = await answer(client, "update_bookmarks", **wish, expected_count=8)
        kept = {"is_unread_only": False, "limit": 100, "response_format": "ids"}
        left = await answer(client, "list_bookmarks", **kept)
        old = await answer(client, "count_bookmarks", bookmarked_until="2024-12-31", **ALL)
        archived = await answer(client, "count_bookmarks", is_archived_only=True, **READ)
        undone = await answer(client, "undo_change", change_id=done["change_id"])

    assert done["affected"] == 8
    assert all(int(post_id) % 5 not in (1, 2) for post_id in left["post_ids"])
    assert (old["count"], archived["count"], undone["affected"]) == (8, 10, 8)


READ = {"is_unread_only": False}
ALL = {"is_unread_only": False, "hide_archived": False}
