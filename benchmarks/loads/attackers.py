"""Strangers and one account that take all they can of a server, as its own process.

    python -m benchmarks.loads.attackers PORT KEY POSTS SECONDS

Opens silent and slow connections, and sends the most expensive calls that an account may make.
Prints a line when all of them are running, and at the end the number of calls by status.
"""

import asyncio
import itertools
import secrets
import sys
from collections import Counter
from contextlib import suppress
from typing import Final

import msgspec
import uvloop

from benchmarks.loads.client import post_text, request_text

SILENT: Final = 2_000
SLOW: Final = 200
CALLERS: Final = 12
_SLOW_PAUSE_S: Final = 0.5
_WARM_UP_S: Final = 3.0
# A function word is in a third of the posts, so each of these reads much of the library.
_PATHS: Final = (
    "/v1/views",
    "/v1/bookmarks?q=the&limit=100&highlight=true&is_unread_only=false",
    "/v1/bookmarks?q=a*&limit=100&sort_by=relevance",
    "/v1/bookmarks?limit=100&sort_by=favorite_count&is_unread_only=false",
    "/v1/bookmarks/count?q=of&media_type=image",
    "/v1/labels",
)


async def stay_silent(port: int) -> None:
    """Opens a connection, again when the server closes it."""
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await reader.read()
            writer.close()
        await asyncio.sleep(1)


async def send_slowly(port: int) -> None:
    """Sends a request byte by byte, headers or body."""
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /v1/labels/add HTTP/1.1\r\nContent-Length: 1000\r\n")
            for byte in itertools.cycle(b"A: b\r\n"):
                writer.write(bytes((byte,)))
                await writer.drain()
                await asyncio.sleep(_SLOW_PAUSE_S)


async def call(port: int, requests: "itertools.cycle[bytes]", statuses: Counter[int]) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
            while True:
                writer.write(next(requests))
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
                statuses[int(head.split()[1])] += 1
        except (OSError, asyncio.IncompleteReadError):
            statuses[0] += 1


def expensive(port: int, key: str, posts: list[str]) -> "itertools.cycle[bytes]":
    run = secrets.token_hex(4)
    operations = [
        {"op": action, "label_name": f"{run} {number}", "tweet_ids": posts}
        for number in range(2)
        for action in ("add", "remove")
    ]
    body = msgspec.json.encode({"operations": operations})
    batch = post_text(port, "/v1/labels/batch", key, body, "").replace(
        b"Idempotency-Key: \r\n", b""
    )
    reads = [request_text(port, path, key) for path in _PATHS]
    return itertools.cycle([*reads, batch])


async def attack(port: int, key: str, posts: list[str], seconds: float) -> None:
    statuses: Counter[int] = Counter()
    requests = expensive(port, key, posts)
    tasks = [asyncio.create_task(stay_silent(port)) for _ in range(SILENT)]
    tasks += [asyncio.create_task(send_slowly(port)) for _ in range(SLOW)]
    tasks += [asyncio.create_task(call(port, requests, statuses)) for _ in range(CALLERS)]
    await asyncio.sleep(_WARM_UP_S)
    print("attacking", flush=True)
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(dict(statuses), flush=True)


if __name__ == "__main__":
    port, key, posts, seconds = sys.argv[1:]
    uvloop.run(attack(int(port), key, posts.split(","), float(seconds)))
