"""Requests of at most 4 kB that make a server work, one line each.

    python -m benchmarks.loads.hostile_requests PORT FILE SECONDS

As a process it sends the requests of a file over six connections, and prints how many were answered
by status.
"""

import asyncio
import gzip
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import uvloop

from benchmarks.loads.attackers import call

CONNECTIONS: Final = 6
MAX_SENT_BYTES: Final = 4_096
_MIB: Final = 1024 * 1024
_SANDBOX_BYTES: Final = 64 * 1024
_PAGE_BYTES: Final = 8 * _MIB
_NESTED: Final = b"[" * 58 + b"]" * 58
_OBJECTS: Final = b'{"a":' * 58 + b"1" + b"}" * 58
# What is repeated in an array: more of it than a body may have, and just as much as it may have.
_SHAPES: Final = {
    "nested": _NESTED,
    "nested objects": _OBJECTS,
    "texts in arrays": b'[""]',
    "texts": b'""',
    "texts with commas": b'","',
    "escaped quotes": rb'"\"\"\"\"\"\"\"\""',
    "escapes of U+0041": rb'"\u0041\u0041\u0041\u0041"',
    "halves of pairs": rb'"\ud800\ud800\ud800\ud800"',
    "numbers": b"1e5",
    "long numbers": b"1" * 40_000,
    "empty objects": b"{}",
    "objects": b'{"a":1}',
}
# The bound of 100,000 values, less what encloses them.
_VALUES: Final = 99_000


class Sent(NamedTuple):
    name: str
    text: bytes
    has_key: bool

    @property
    def is_small(self) -> bool:
        return len(self.text) <= MAX_SENT_BYTES


def requests(port: int, key: str, run_id: str) -> list[Sent]:
    """A new target of an attack is one more line here."""
    rows = [*_bodies(run_id), *_work()]
    return [
        Sent(
            f"{path.partition('?')[0]}, {name}",
            _text(port, path, body, key if _has_key(path) else ""),
            _has_key(path),
        )
        for path, name, body in rows
    ]


def _has_key(path: str) -> bool:
    return not path.startswith(("/v1/sandbox", "/connect"))


def _bodies(run_id: str) -> Iterator[tuple[str, str, bytes]]:
    """Bodies that are large and small when compressed, for every endpoint that takes JSON."""
    page = b'{"seq":0,"format":"x.graphql","payload":%b}'
    message = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%b","arguments":%b}}'
    )
    for name, item in _SHAPES.items():
        for size in ("largest", "most values"):
            called = f"{size}: {name}"
            for most, path, form in (
                (_SANDBOX_BYTES, "/v1/sandbox/labels/batch", b"%b"),
                (_SANDBOX_BYTES, "/v1/sandbox/labels/batch", b'{"operations":[{"op":%b}]}'),
                (_MIB, "/v1/sandbox/labels/batch", b"%b"),
                (_MIB, "/connect/redeem", b"%b"),
                (_MIB, "/v1/labels/batch", b"%b"),
                (_MIB, "/v1/labels/batch", b'{"operations":[{"op":%b}]}'),
                (_MIB, "/v1/bookmarks", b'{"posts":[{"post_id":"1","tweet_details":%b}]}'),
                (_MIB, "/mcp", b"%b"),
                (_MIB, "/mcp", message % (b"list_bookmarks", b'{"x":%b}')),
                (_PAGE_BYTES, f"/ingest/v1/runs/{run_id}/pages", page),
                (_MIB, f"/ingest/v1/runs/{run_id}/pages", page),
                (_MIB, "/ingest/v1/events", b"%b"),
            ):
                yield (
                    path,
                    called,
                    form % _array(item, most - len(form), is_bounded=size == "most values"),
                )
    for end in (b'"\\u0000"', b'"\\\\u0000"'):
        texts = b"[" + b'[""],' * 49_000 + end + b"]"
        for path, form in (
            ("/v1/labels/batch", b"%b"),
            ("/v1/labels/add", b'{"tweet_ids":["1"],"label_name":"x","extra":%b}'),
            ("/mcp", message % (b"list_bookmarks", b'{"x":%b}')),
        ):
            yield path, f"texts and {end.decode()}", form % texts
    yield "/connect/redeem", "not compressed", b"[" * 4_000


def _work() -> Iterator[tuple[str, str, bytes]]:
    """Small requests that ask for much work."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    excluded = "%20".join(f"-{letter}{vowel}*" for letter in letters for vowel in "aeiou")
    yield f"/v1/bookmarks?q=thea%20{excluded}", "excluded prefixes", b""
    words = " OR ".join(f"{letter}{vowel}*" for letter in letters[:10] for vowel in "ae")
    searches = [_called(number, "search_bookmarks", {"q": words}) for number in range(20)]
    yield "/mcp", "batch of searches", msgspec.json.encode(searches)
    unknown: dict[str, object] = {f"k{number}": 1 for number in range(60_000)}
    yield "/mcp", "unknown arguments", msgspec.json.encode(_called(1, "list_bookmarks", unknown))
    posts = [
        {"post_id": str(10**15 + number), "tweet_details": {"text": "nest building " * 640}}
        for number in range(100)
    ]
    yield "/v1/bookmarks", "100 posts of 9 kB", msgspec.json.encode({"posts": posts})


def _called(number: int, name: str, arguments: dict[str, object]) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _array(item: bytes, most: int, *, is_bounded: bool) -> bytes:
    count = most // (len(item) + 1) - 1
    if is_bounded:
        count = min(
            count, _VALUES // (1 + 2 * item.count(b"[]") + item.count(b"[") + item.count(b"{"))
        )
    return b"[" + (item + b",") * count + b"1]"


def _packed(path: str, body: bytes) -> bytes:
    return (
        body
        if not body or (path == "/connect/redeem" and len(body) <= 4_000)
        else gzip.compress(body)
    )


def _text(port: int, path: str, body: bytes, key: str) -> bytes:
    packed = _packed(path, body)
    lines = [
        f"{'POST' if body else 'GET'} {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        *([f"Authorization: Bearer {key}"] if key else []),
        *(["Content-Encoding: gzip"] if packed != body else []),
        *(["Content-Type: application/json", f"Content-Length: {len(packed)}"] if body else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + packed


async def send(port: int, texts: list[bytes], seconds: float) -> None:
    statuses: Counter[int] = Counter()
    cycle = itertools.cycle(texts)
    tasks = [asyncio.create_task(call(port, cycle, statuses)) for _ in range(CONNECTIONS)]
    print("sending", flush=True)
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(dict(statuses), flush=True)


if __name__ == "__main__":
    port, file, seconds = sys.argv[1:]
    texts = msgspec.msgpack.decode(Path(file).read_bytes(), type=list[bytes])
    uvloop.run(send(int(port), texts, float(seconds)))
