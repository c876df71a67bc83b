"""A tool that writes is not cancelled when its client disconnects."""

import json

import pytest

from bowerbird.library.access import turns
from tests.support import make, writing
from tests.support.engines.watched_writes import WatchedWrites
from tests.support.posts.leaving import Client
from tests.support.service import Member, Service
from tests.support.toolcalls import headers_of, message

pytestmark = pytest.mark.anyio


def calling(service: Service, member: Member, tool: str, **arguments: object) -> Client:
    sent = message("tools/call", {"name": tool, "arguments": arguments})
    body, headers = json.dumps(sent).encode(), headers_of(sent)
    return Client(service, member, "/mcp", method="POST", headers=headers, body=body)


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

    client = calling(cast, alice, "update_label", label="y", new_name="x")
    await pause.reached.wait()
    await client.disconnect()
    pause.over.set()
    await client.request

    assert await writing.labels(alice) == {"x": len(posts)}
    assert len(watched.rows) >= 3
    assert await writing.recount(alice) == []


async def test_a_read_ends_when_its_client_leaves(cast: Service, alice: Member) -> None:
    job = (await writing.send(alice, "POST", "/v1/exports/json", {})).json()["data"]
    client = calling(cast, alice, "get_export", job_id=job["job_id"], wait_s=25)
    await client.leave()
