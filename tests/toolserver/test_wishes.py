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


async def test_how_many_posts_do_i_have(library: tuple[Server, str]) -> None:
    async with agent(library) as client:
        counted = await answer(client, "count_bookmarks")

        assert (counted["count"], counted["total"]) == (14, 20)
        assert counted["advice"] == (
            "6 read or archived posts are left out. Send is_unread_only false and hide_archived "
            "false to include them."
        )
        assert (await answer(client, "count_bookmarks", **ALL))["count"] == 20


async def test_which_posts_did_i_save_since_new_year_about_owls(
    library: tuple[Server, str],
) -> None:
    asked = {"query": "owls", "bookmarked_since": "2025-01-01", "bookmarked_before": "2025-06-01"}
    async with agent(library) as client:
        found = await answer(client, "search_bookmarks", mode="keyword", limit=50, **asked)

    assert {post["post_id"] for post in found["bookmarks"]} == {"4", "8", "14", "18"}
    assert found["filters"]["bookmarked_from"] == "2025-01-01"
    assert found["filters"]["bookmarked_to"] == "2025-05-31"


async def test_a_wrong_word_for_a_bound_is_never_turned_around(library: tuple[Server, str]) -> None:
    async with agent(library) as client:
        for name in ("bookmarked_prior_to", "saved_before", "bookmarked_earlier_than"):
            refused = await client.call_tool("count_bookmarks", {name: "2025-01-01"})
            assert refused.is_error
            assert "Did you mean bookmarked_from" not in str(refused.content)
        both = {"bookmarked_before": "2025-01-01", "bookmarked_to": "2025-01-01"}
        refused = await client.call_tool("list_bookmarks", both)
        assert "bookmarked_before: is the same bound as bookmarked_to" in str(refused.content)
        empty = await client.call_tool("list_bookmarks", {"bookmarked_before": " "})
        assert "bookmarked_before: is empty; leave it out" in str(empty.content)
