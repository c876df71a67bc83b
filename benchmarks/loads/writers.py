"""Adds labels with idempotency keys over many connections for some seconds, as its own process.

    python -m benchmarks.loads.writers PORT KEY POSTS SECONDS RATE

Prints the number of successful writes and the elapsed seconds. A RATE of 0 means no rate limit.
"""

import asyncio
import secrets
import sys
import time
from collections.abc import Iterator
from itertools import count
from typing import Final

import msgspec
import uvloop

from benchmarks.loads.client import post_text

CONNECTIONS: Final = 16
_PATH: Final = "/v1/labels/add"


class Writes:
    """Generates the requests. No two of them add the same label to the same post."""

    def __init__(self, port: int, key: str, posts: list[str]) -> None:
        self._port, self._key, self._posts = port, key, posts
        self._run = secrets.token_hex(4)
        self._numbers = count()

    def next(self) -> bytes:
        number = next(self._numbers)
        round_, index = divmod(number, len(self._posts))
        body = msgspec.json.encode(
            {"tweet_ids": [self._posts[index]], "label_name": f"{self._run} {round_}"}
        )
        return post_text(self._port, _PATH, self._key, body, f"{self._run}-{number}")


async def send(writes: Writes, port: int, seconds: float, rate: float) -> tuple[int, float]:
    started = time.perf_counter()
    connections = [
        _write_until(writes, port, started + seconds, CONNECTIONS / rate if rate else 0)
        for _ in range(CONNECTIONS)
    ]
    counts = await asyncio.gather(*connections)
    return sum(counts), time.perf_counter() - started


async def _write_until(writes: Writes, port: int, end: float, pause_s: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    done = 0
    for due in _due_times(pause_s):
        if (wait_s := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait_s)
        if time.perf_counter() >= end:
            break
        writer.write(writes.next())
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        body = await reader.readexactly(int(length))
        if b" 200 " not in head.partition(b"\r\n")[0] + b" ":
            raise RuntimeError(f"A write failed: {body[:300]!r}")
        done += 1
    writer.close()
    return done


def _due_times(pause_s: float) -> Iterator[float]:
    """The time at which each request is due."""
    started = time.perf_counter()
    return (started + number * pause_s for number in count())


def main() -> None:
    port, key, posts, seconds, rate = sys.argv[1:]
    writes = Writes(int(port), key, posts.split(","))
    done, seconds_taken = uvloop.run(send(writes, int(port), float(seconds), float(rate)))
    print(f"{done} {seconds_taken}")


if __name__ == "__main__":
    main()
