"""A tool that writes is not cancelled when its client disconnects."""

import asyncio
import json

import pytest
from starlette.types import Message

from bowerbird.library.access import turns
from tests.support import make, writing
from tests.support.service import Member, Service
from tests.support.toolcalls import headers_of, message
from tests.support.waiting import until
from tests.support.watched_writes import WatchedWrites

pytestmark = pytest.mark.anyio


class Client:
    """A client that sends a tool call and disconnects when a test says so."""

    def __init__(self, service: Service, member: Member, tool: str, **arguments: object) -> None:
        sent = message("tools/call", {"name": tool, "arguments": arguments})
        self._received: list[Message] = [
            {"type": "http.request", "body": json.dumps(sent).encode(), "more_body": False}
        ]
        self._leaving = asyncio.Event()
        self.is_noticed = asyncio.Event()
        headers = {**headers_of(sent), "Authorization": f"Bearer {member.key}"}
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
        }
        self.request = asyncio.ensure_future(service.app.asgi(scope, self._receive, self._send))

    def leave(self) -> None:
        self._leaving.set()

    async def _receive(self) -> Message:
        if self._received:
            return self._received.pop(0)
        await self._leaving.wait()
        self.is_noticed.set()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        pass


async def test_a_write_in_several_turns_is_finished_for_a_client_that_left(
    cast: Service, alice: Member
) -> None:
    # Each turn takes a few long posts.
    article = {"title": "t", "html": "x" * (turns.BYTES_PER_TURN // 8)}
    posts = [make.post(article=article) for _ in range(20)]
    await alice.save_all(posts)
    await writing.add(alice, "y", *(post["post_id"] for post in posts))
    watched = WatchedWrites(alice.database)
    pause = watched.pause_after(1)

    client = Client(cast, alice, "update_label", label="y", new_name="x")
    await pause.reached.wait()
    client.leave()
    await client.is_noticed.wait()
    pause.over.set()
    await client.request

    assert await writing.labels(alice) == {"x": len(posts)}
    assert len(watched.rows) >= 3
    assert await writing.recount(alice) == []


async def test_a_read_ends_when_its_client_leaves(cast: Service, alice: Member) -> None:
    job = (await writing.send(alice, "POST", "/v1/exports/json", {})).json()["data"]
    client = Client(cast, alice, "get_export", job_id=job["job_id"], wait_s=25)
    client.leave()

    async def is_over() -> bool:
        return client.request.done()

    await until(is_over)
