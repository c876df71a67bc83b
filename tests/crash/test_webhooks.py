"""kill -9 while messages are sent: the next worker sends the rest in order, and none is lost."""

import asyncio
import signal
from typing import Any

import pytest

from tests.crash import killing
from tests.support import hooks, serving, waiting
from tests.support.hooks import Receiver
from tests.support.links import x_link

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
POSTS = 60
KILLS = 3


async def test_a_killed_worker_loses_no_message(settings: dict[str, Any]) -> None:
    async with hooks.receiving() as receiver:
        settings["webhooks_private_hosts"] = receiver.host
        environment = serving.environment_of(**settings)
        links = [x_link(number) for number in range(POSTS)]
        for command in (
            ("account", "create", EMAIL),
            ("webhook", "add", EMAIL, receiver.url(), "--event", "post.created"),
            *(("save", EMAIL, *links[start : start + 20]) for start in range(0, POSTS, 20)),
        ):
            await asyncio.to_thread(serving.command, *command, environment=environment)
        for life in range(1, KILLS + 1):
            child = await killing.started("hook_sender", EMAIL, environment=environment)
            await waiting.until(lambda n=life: has_received(receiver, n * POSTS // (KILLS + 2)))  # type: ignore[misc]
            child.kill()
            assert await child.wait() == -signal.SIGKILL
        child = await killing.started("hook_sender", EMAIL, environment=environment)
        async with asyncio.timeout(120):
            assert await child.wait() == 0

    # In order, and what was sent twice has the same id.
    numbers = [int(one.message["data"]["id"]) for one in receiver.received]
    assert numbers == sorted(numbers)
    ids = [one.headers["webhook-id"] for one in receiver.received]
    assert len(set(ids)) == len(set(numbers)) == POSTS
    assert len(ids) <= POSTS + KILLS


async def has_received(receiver: Receiver, count: int) -> bool:
    return len(receiver.received) >= count
